/* SPDX-License-Identifier: ISC
 *
 * Draws the view. A title, the rows, a sentence about the selected one, and the keys; what does not
 * fit is left out: first the pictures, then the rates, then the lines around the rows.
 */
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "view.h"

/* Columns of the parts of a line. */
enum {
	NAME_LEAST = 13,
	CELL = 11, /* of a value and of a rate, with a blank before it */
	PICTURE = TOP_SAMPLES,
	TEXT_MOST = 512, /* characters of a line */
};

/* ---- Text ---- */

/* The next character of a text that is harmless to terminals: its columns, and its bytes. */
static int take_character(const char **text, wchar_t *ret_character)
{
	mbstate_t state = {0};
	size_t size = mbrtowc(ret_character, *text, MB_CUR_MAX, &state);
	int columns = size && size <= MB_CUR_MAX ? wcwidth(*ret_character) : -1;
	if (columns >= 0) {
		*text += size;
		return columns;
	}
	/* The terminal has no such character. */
	*ret_character = L'?';
	do
		++*text;
	while (((unsigned char)**text & 0xc0) == 0x80);
	return 1;
}

/* Writes a text, cut off or filled up to so many columns. */
static void put(WINDOW *window, int columns, const char *text)
{
	wchar_t line[TEXT_MOST];
	int size = 0, used = 0;
	while (*text && used < columns && size < TEXT_MOST - 1) {
		wchar_t character;
		int more = take_character(&text, &character);
		if (used + more > columns)
			break;
		used += more;
		line[size++] = character;
	}
	if (size)
		waddnwstr(window, line, size);
	for (; used < columns; used++)
		waddnwstr(window, L" ", 1);
}

/* The same at the right of the columns, after a blank. */
static void put_right(WINDOW *window, int columns, const char *text)
{
	int size = (int)strlen(text); /* of ASCII */
	put(window, columns > size ? columns - size : 1, "");
	put(window, columns > size ? size : columns - 1, text);
}

static void set_look(WINDOW *window, attr_t look)
{
	wattr_set(window, look, 0, NULL);
}

/* Writes a whole line. The last column of the last line stays free: a terminal scrolls there. */
static void put_line(WINDOW *window, int y, int columns, attr_t look, const char *text)
{
	wmove(window, y, 0);
	set_look(window, look);
	put(window, columns, text);
	set_look(window, A_NORMAL);
}

/* ---- Rows ---- */

/* How the columns of a row are divided. */
struct division {
	int name, value, rate, picture;
};

static struct division divide(int columns)
{
	struct division it = {.value = columns >= NAME_LEAST + CELL ? CELL : 0};
	it.rate = columns >= 2 * NAME_LEAST + 2 * CELL ? CELL : 0;
	int rest = columns - it.value - it.rate - 2 * NAME_LEAST;
	/* Its columns all have the same number of samples. */
	for (int part = 1; part <= 6 && it.rate && !it.picture; part++)
		if (TOP_SAMPLES % part == 0 && rest >= PICTURE / part + 1 &&
			(part > 1 || rest >= 2 * PICTURE))
			it.picture = PICTURE / part + 1;
	it.name = columns - it.value - it.rate - it.picture;
	return it;
}

static void add_name(
	struct weft_text *text, const struct top_view *view, uint32_t number, int width)
{
	const struct top_node *node = &view->forest.nodes[number];
	const char *const signs[] = {view->has_utf8 ? "▸ " : "+ ", view->has_utf8 ? "▾ " : "- "};
	const bool has_below = top_forest_has_below(&view->forest, number);
	/* A deep row shows the end of its indentation. */
	unsigned indent = 2 * node->depth, most = (unsigned)(width > 0 ? width : 0) / 2;
	for (unsigned i = 0; i < indent && i < most; i++)
		weft_text_add_string(text, " ");
	weft_text_add_string(text, has_below ? signs[node->is_open] : "  ");
	weft_text_add_string(text, node->text);
}

static attr_t look_of(const struct top_view *view, uint32_t number)
{
	const struct top_node *node = &view->forest.nodes[number];
	attr_t look = node->kind == TOP_PROGRAM ? A_BOLD : A_NORMAL;
	if (view->forest.programs[node->program].ended)
		look = A_DIM;
	return number == view->selected ? look | A_REVERSE : look;
}

static void put_row(
	WINDOW *window, const struct top_view *view, uint32_t number, const struct division *division)
{
	const struct top_node *node = &view->forest.nodes[number];
	struct weft_text text = {0};
	char cell[TOP_CELL_BYTES];
	set_look(window, look_of(view, number));
	add_name(&text, view, number, division->name);
	weft_text_add(&text, "", 1);
	put(window, division->name, text.error ? "" : text.bytes);
	top_format_value(&view->forest, node, cell);
	if (division->value)
		put_right(window, division->value, cell);
	top_format_rate(node, cell);
	if (division->rate)
		put_right(window, division->rate, cell);
	text.size = 0;
	weft_text_add_string(&text, " ");
	if (division->picture)
		top_add_picture(
			&text, &view->forest, node, (unsigned)division->picture - 1, view->has_utf8);
	weft_text_add(&text, "", 1);
	put(window, division->picture, text.error ? "" : text.bytes);
	set_look(window, A_NORMAL);
	weft_text_finish(&text);
}

/* ---- Lines around the rows ---- */

static void put_title(WINDOW *window, const struct top_view *view, int columns)
{
	static const char *const orders[] = {
		[TOP_BY_NAME] = "name", [TOP_BY_VALUE] = "value", [TOP_BY_RATE] = "rate"};
	char line[160];
	snprintf(line, sizeof(line), "weft top: %u %s, %u %s%s, by %s%s, every %g s",
		view->forest.running, view->forest.running == 1 ? "program" : "programs",
		view->forest.counter_count, view->forest.counter_count == 1 ? "counter" : "counters",
		view->forest.has_children ? " with children" : "", orders[view->rows.sort],
		view->rows.is_reversed ? " reversed" : "", view->interval_s);
	put_line(window, 0, columns, A_BOLD, line);
}

static void put_head(
	WINDOW *window, const struct top_view *view, int y, const struct division *division)
{
	char picture[64];
	wmove(window, y, 0);
	set_look(window, A_UNDERLINE);
	put(window, division->name, "counter");
	if (division->value)
		put_right(window, division->value, "value");
	if (division->rate)
		put_right(window, division->rate, "rate");
	snprintf(picture, sizeof(picture), " the last %g s", TOP_SAMPLES * view->interval_s);
	put(window, division->picture, picture);
	set_look(window, A_NORMAL);
}

static void put_details(WINDOW *window, const struct top_view *view, int y, int columns)
{
	struct weft_text text = {0};
	if (view->selected != TOP_NONE)
		top_add_details(&text, &view->forest, &view->forest.nodes[view->selected]);
	weft_text_add(&text, "", 1);
	put_line(window, y, columns, A_NORMAL, text.error ? "" : text.bytes);
	weft_text_finish(&text);
}

static void put_search(WINDOW *window, const struct top_search *search, int y, int columns)
{
	wmove(window, y, 0);
	put(window, 1, "/");
	waddnwstr(
		window, search->text, search->size < (size_t)columns ? (int)search->size : columns - 1);
	if (search->has_failed)
		waddnwstr(window, L"  (not found)", -1);
	wclrtoeol(window);
}

static void put_keys(WINDOW *window, const struct top_view *view, int y, int columns)
{
	put_line(window, y, columns, A_REVERSE,
		view->has_utf8
			? "q quit  ↑↓ move  ←→ fold  / search  n v r sort by name, value, rate  c children  * - unfold, fold all"
			: "q quit  arrows move, fold  / search  n v r sort by name, value, rate  c children  * - unfold, fold all");
}

/* ---- All ---- */

/* Scrolls so that the selected row is shown. */
static void scroll_to_selected(struct top_view *view)
{
	uint32_t row = top_rows_find(&view->rows, &view->forest, view->selected);
	if (row < view->first)
		view->first = row;
	if (row >= view->first + view->height)
		view->first = row - view->height + 1;
	/* No blank rows at the end while others are hidden. */
	if (view->first + view->height > view->rows.count)
		view->first = view->rows.count > view->height ? view->rows.count - view->height : 0;
}

static void put_rows(WINDOW *window, struct top_view *view, int y, const struct division *division)
{
	scroll_to_selected(view);
	for (uint32_t i = 0; i < view->height && view->first + i < view->rows.count; i++) {
		wmove(window, y + (int)i, 0);
		put_row(window, view, view->rows.list[view->first + i], division);
	}
	if (!view->rows.count) {
		wmove(window, y, 0);
		put(window, division->name, "no running program has a counter yet");
	}
}

void top_view_draw(struct top_view *view, WINDOW *window)
{
	const int lines = getmaxy(window), columns = getmaxx(window);
	const struct division division = divide(columns);
	const int above = lines >= 5 ? 2 : lines >= 3, below = lines >= 6 ? 2 : lines >= 2;
	werase(window);
	view->height = (uint32_t)(lines - above - below > 0 ? lines - above - below : 1);
	put_rows(window, view, above, &division);
	if (above)
		put_title(window, view, columns);
	if (above > 1)
		put_head(window, view, 1, &division);
	if (below > 1)
		put_details(window, view, lines - 2, columns);
	/* A terminal may scroll when its last column is written. */
	if (view->search.is_typing)
		put_search(window, &view->search, lines - 1, columns - 1);
	else if (below)
		put_keys(window, view, lines - 1, columns - 1);
	curs_set(view->search.is_typing);
	wrefresh(window);
}
