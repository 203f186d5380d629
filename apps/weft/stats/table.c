/* SPDX-License-Identifier: ISC
 *
 * Aligned tables. On a narrow terminal the less important columns are left out, and long names end
 * in "…".
 */
#include "stats.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <weft/parse.h>

#define GAP      2  /* spaces between columns */
#define NAME_MIN 16 /* characters that a name has, if the terminal is wide enough */

size_t stats_find_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t number;
	if (columns && weft_parse_number(columns, strlen(columns), &number) == WEFT_PARSE_OK && number)
		return number;
	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return SIZE_MAX;
}

static bool is_character_start(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

static size_t count_characters(const char *bytes, size_t size)
{
	size_t count = 0;
	for (size_t i = 0; i < size; i++)
		count += is_character_start(bytes[i]);
	return count;
}

/* Shortens the end of the text, from `start` on, to `width` characters. */
static void shorten(struct weft_text *text, size_t start, size_t width)
{
	size_t count = 0;
	if (width == SIZE_MAX || count_characters(text->bytes + start, text->size - start) <= width)
		return;
	for (size_t i = start; i < text->size; i++) {
		count += is_character_start(text->bytes[i]);
		if (count < width)
			continue;
		text->size = i;
		weft_text_add_string(text, "\xe2\x80\xa6");
		return;
	}
}

static size_t width_of_column(const struct stats_table *table, const struct stats_column *column)
{
	size_t width = strlen(column->title);
	bool is_empty = true;
	char cell[STATS_CELL_BYTES];
	for (uint32_t row = 0; row < table->row_count; row++) {
		cell[0] = '\0';
		table->format(table->rows, row, column->what, cell);
		size_t characters = count_characters(cell, strlen(cell));
		width = characters > width ? characters : width;
		is_empty = is_empty && !cell[0];
	}
	return is_empty && column->may_hide ? 0 : width;
}

/* Finds the widths of the columns, 0 for those left out; returns the width before the names. */
static size_t find_widths(const struct stats_table *table, size_t room, size_t *widths)
{
	size_t sum = 0;
	for (unsigned i = 0; i < table->column_count; i++) {
		widths[i] = width_of_column(table, &table->columns[i]);
		sum += widths[i] ? widths[i] + GAP : 0;
	}
	while (room != SIZE_MAX && sum + NAME_MIN > room) {
		unsigned least = table->column_count;
		for (unsigned i = 0; i < table->column_count; i++)
			if (widths[i] && (least == table->column_count ||
								 table->columns[i].keep < table->columns[least].keep))
				least = i;
		if (least == table->column_count)
			break;
		sum -= widths[least] + GAP;
		widths[least] = 0;
	}
	return sum;
}

static void add_cell(struct weft_text *text, const char *cell, size_t width)
{
	for (size_t i = count_characters(cell, strlen(cell)); i < width; i++)
		weft_text_add(text, " ", 1);
	weft_text_add_string(text, cell);
	weft_text_add(text, "  ", GAP);
}

void stats_add_table(struct weft_text *text, const struct stats_table *table, size_t width)
{
	size_t widths[STATS_COLUMNS_MAX];
	size_t before = find_widths(table, width, widths);
	size_t room = width == SIZE_MAX ? SIZE_MAX : width > before ? width - before : 1;
	char cell[STATS_CELL_BYTES];
	for (unsigned i = 0; i < table->column_count; i++)
		if (widths[i])
			add_cell(text, table->columns[i].title, widths[i]);
	weft_text_add_string(text, table->name_title);
	weft_text_add_string(text, "\n");
	for (uint32_t row = 0; row < table->row_count; row++) {
		for (unsigned i = 0; i < table->column_count; i++) {
			if (!widths[i])
				continue;
			cell[0] = '\0';
			table->format(table->rows, row, table->columns[i].what, cell);
			add_cell(text, cell, widths[i]);
		}
		size_t start = text->size;
		table->add_name(table->rows, row, text);
		if (!text->error)
			shorten(text, start, room);
		weft_text_add_string(text, "\n");
	}
}
