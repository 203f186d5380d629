/* SPDX-License-Identifier: ISC
 *
 * weft stats --diff: a table of two traces or ranges, the worst change first.
 */
#include "stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/duration.h>

#define DIGITS 3
#define MEAN   STATS_FIGURES /* the column of the mean lifetime's change */

/* "3 → 5"; one number if both are equal; "–" for a row that is not there. */
static void format_numbers(const struct weft_stats_pair *pair, uint64_t a, uint64_t b, bool is_rare,
	char cell[STATS_CELL_BYTES])
{
	char left[24], right[24];
	if (is_rare && !a && !b)
		return;
	snprintf(left, sizeof(left), "%" PRIu64, a);
	snprintf(right, sizeof(right), "%" PRIu64, b);
	if (pair->a && pair->b && a == b)
		snprintf(cell, STATS_CELL_BYTES, "%s", left);
	else
		snprintf(cell, STATS_CELL_BYTES, "%s → %s", pair->a ? left : "–", pair->b ? right : "–");
}

static void format_length(const struct weft_stats_row *row, uint64_t ns, char text[32])
{
	if (row && row->ended)
		weft_format_duration(ns, DIGITS, text);
	else
		strcpy(text, "–");
}

static void format_lengths(
	const struct weft_stats_pair *pair, uint64_t a, uint64_t b, char cell[STATS_CELL_BYTES])
{
	char left[32], right[32];
	format_length(pair->a, a, left);
	format_length(pair->b, b, right);
	if (strcmp(left, right) != 0)
		snprintf(cell, STATS_CELL_BYTES, "%s → %s", left, right);
	else if (strcmp(left, "–") != 0)
		snprintf(cell, STATS_CELL_BYTES, "%s", left);
}

/* The change of the mean lifetime. */
static void format_change(const struct weft_stats_pair *pair, char cell[STATS_CELL_BYTES])
{
	if (!pair->a || !pair->b || !pair->a->ended || !pair->b->ended || !pair->a->lifetime_ns)
		return;
	double before = (double)pair->a->lifetime_ns / pair->a->ended;
	double percent = 100 * ((double)pair->b->lifetime_ns / pair->b->ended / before - 1);
	if (percent >= 1000)
		snprintf(cell, STATS_CELL_BYTES, "× %.3g", percent / 100 + 1);
	else if (fabs(percent) >= 0.05)
		snprintf(cell, STATS_CELL_BYTES, "%+.1f %%", percent);
	else
		snprintf(cell, STATS_CELL_BYTES, "0 %%");
}

static void format_pair(const void *diff, uint32_t row, unsigned what, char cell[STATS_CELL_BYTES])
{
	const struct weft_stats_pair *pair = &((const struct weft_stats_diff *)diff)->pairs[row];
	if (what == MEAN) {
		format_change(pair, cell);
		return;
	}
	uint64_t a = pair->a ? stats_value(pair->a, what) : 0;
	uint64_t b = pair->b ? stats_value(pair->b, what) : 0;
	if (stats_figures[what].type == STATS_TYPE_LIFE)
		format_lengths(pair, a, b, cell);
	else
		format_numbers(pair, a, b, stats_figures[what].type == STATS_TYPE_RARE, cell);
}

static void add_pair_name(const void *context, uint32_t row, struct weft_text *text)
{
	const struct weft_stats_diff *diff = context;
	const struct weft_stats_pair *pair = &diff->pairs[row];
	stats_add_name(text, pair->b ? diff->b : diff->a, pair->b ? pair->b : pair->a);
	weft_text_add_string(text, !pair->a ? ", only in B" : !pair->b ? ", only in A" : "");
}

static const struct stats_column columns[] = {
	{"mean", 9, true, MEAN},
	{"count", 6, false, STATS_COUNT},
	{"failed", 7, true, STATS_FAILED},
	{"unfinished", 3, true, STATS_UNFINISHED},
	{"p50", 4, true, STATS_P50},
	{"p99", 5, true, STATS_P99},
	{"max", 2, true, STATS_MAX},
};

void stats_write_diff_table(struct stats_output *output, const struct weft_stats_diff *diff,
	const struct stats_side sides[2])
{
	struct weft_text *text = &output->text;
	uint32_t shown = diff->count < output->limit ? diff->count : output->limit;
	const struct stats_table table = {.columns = columns,
		.column_count = sizeof(columns) / sizeof(*columns),
		.rows = diff,
		.row_count = shown,
		.name_title = stats_unit(diff->a),
		.format = format_pair,
		.add_name = add_pair_name};
	for (unsigned i = 0; i < 2; i++) {
		weft_text_add_string(text, i ? "B  " : "A  ");
		stats_add_head(text, &sides[i]);
	}
	weft_text_add_string(text, "\n");
	if (shown)
		stats_add_table(text, &table, stats_find_width());
	stats_add_left_out(text, shown, diff->count, "--limit 0 prints all");
}
