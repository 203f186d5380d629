/* SPDX-License-Identifier: ISC
 *
 * The whole tree as text.
 */
#include <string.h>

#include "cli/cli.h"
#include "top.h"

enum {
	COLUMN = 12, /* of a value, and of a rate */
	INDENT = 2
};

/* Adds a cell to a line, at the right of a column. */
static void add_cell(struct weft_text *text, const char *cell)
{
	for (size_t i = strlen(cell); i < COLUMN; i++)
		weft_text_add_string(text, " ");
	weft_text_add_string(text, cell);
}

static void add_node(
	struct weft_text *text, const struct top_forest *forest, uint32_t number, bool has_rates)
{
	const struct top_node *node = &forest->nodes[number];
	char cell[TOP_CELL_BYTES];
	top_format_value(forest, node, cell);
	add_cell(text, cell);
	if (has_rates) {
		top_format_rate(node, cell);
		add_cell(text, cell);
	}
	weft_text_add_string(text, "  ");
	for (unsigned i = 0; i < node->depth * INDENT; i++)
		weft_text_add_string(text, " ");
	weft_text_add_string(text, node->text);
	weft_text_add_string(text, "\n");
}

void top_print(const struct top_forest *forest, bool has_rates)
{
	struct weft_text text = {0};
	if (!forest->counter_count)
		return;
	add_cell(&text, "value");
	if (has_rates)
		add_cell(&text, "rate");
	weft_text_add_string(&text, "  counter\n");
	for (uint32_t i = 0; i < forest->count; i++)
		add_node(&text, forest, i, has_rates);
	cli_write(&text);
	weft_text_finish(&text);
}
