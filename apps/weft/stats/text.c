/* SPDX-License-Identifier: ISC
 *
 * weft stats: tables of tasks or spans, and of counters.
 */
#include "stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <weft/duration.h>

#define DIGITS       3
#define NAME_BYTES   WEFT_STATS_NAME_BYTES
#define COUNTERS_MAX 20 /* that are printed; --json has all */

static void add_kind(struct weft_text *text, const struct weft_stats *stats, uint16_t kind)
{
	const char *known = weft_model_kind_name(stats->story->model, kind);
	if (known)
		weft_text_add_shown(text, known, strlen(known));
	else
		weft_text_add_u64(text, kind);
}

/* "lock, in say_hello (hello.c:12) ← main (hello.c:20)" */
static void add_wait_name(struct weft_text *text, const struct weft_stats *stats,
	const struct weft_stats_row *row, const char *calls)
{
	uint16_t kind;
	if (weft_stats_kind(stats, row, &kind))
		add_kind(text, stats, kind);
	else
		weft_text_add_string(text, "unknown");
	weft_text_add_string(text, calls[0] ? ", in " : ", calls not noted");
	weft_text_add_shown(text, calls, strlen(calls));
}

const char *stats_unit(const struct weft_stats *stats)
{
	return stats->by == WEFT_STATS_BY_SPAN    ? "span"
		   : stats->by == WEFT_STATS_BY_STACK ? "waits for"
											  : "tasks";
}

void stats_add_name(
	struct weft_text *text, const struct weft_stats *stats, const struct weft_stats_row *row)
{
	char name[NAME_BYTES];
	uint16_t kind;
	bool has_kind = weft_stats_kind(stats, row, &kind);
	weft_stats_format_name(stats, row, name, sizeof(name));
	if (stats->by == WEFT_STATS_BY_PARENT)
		weft_text_add_string(text, has_kind ? "below " : "no parent");
	if (stats->by == WEFT_STATS_BY_STACK) {
		add_wait_name(text, stats, row, name);
		return;
	}
	if (stats->by == WEFT_STATS_BY_CATEGORY && !name[0])
		weft_text_add_string(text, "no category");
	if (stats->by != WEFT_STATS_BY_KIND && has_kind) {
		add_kind(text, stats, kind);
		weft_text_add_string(text, name[0] ? " '" : ", unnamed");
	}
	weft_text_add_shown(text, name, strlen(name));
	if (stats->by != WEFT_STATS_BY_KIND && has_kind && name[0])
		weft_text_add_string(text, "'");
	if (row->at_most)
		weft_text_add_string(text, " (at most)");
}

/* ---- Tasks or spans ---- */

const struct stats_figures stats_figures[STATS_FIGURES] = {
#define FIGURE(id, title, keep, key, type, value) {key, STATS_TYPE_##type},
#include "figures.def"
#undef FIGURE
};

uint64_t stats_value(const struct weft_stats_row *row, enum stats_figure figure)
{
	switch (figure) {
#define FIGURE(id, title, keep, key, type, value) \
	case STATS_##id:                              \
		return value;
#include "figures.def"
#undef FIGURE
	case STATS_FIGURES:
		break;
	}
	return 0;
}

static const struct weft_stats_row *row_of(const void *stats, uint32_t row)
{
	return &((const struct weft_stats *)stats)->rows[row];
}

static void format_number(uint64_t number, char cell[STATS_CELL_BYTES])
{
	snprintf(cell, STATS_CELL_BYTES, "%" PRIu64, number);
}

/* Leaves cells empty so that others stand out. */
static void format_figure(
	const void *stats, uint32_t number, unsigned what, char cell[STATS_CELL_BYTES])
{
	const struct weft_stats_row *row = row_of(stats, number);
	uint64_t value = stats_value(row, what);
	switch (stats_figures[what].type) {
	case STATS_TYPE_COUNT:
		format_number(value, cell);
		break;
	case STATS_TYPE_RARE:
		if (value)
			format_number(value, cell);
		break;
	case STATS_TYPE_LIFE:
		if (row->ended && (what != STATS_QUICKEST || row->at_most))
			weft_format_duration(value, DIGITS, cell);
		break;
	case STATS_TYPE_TIME:
		if (value || what != STATS_RUNNING ||
			((const struct weft_stats *)stats)->by != WEFT_STATS_BY_STACK)
			weft_format_duration(value, DIGITS, cell);
		break;
	case STATS_TYPE_DELAY:
		if (row->delay_ns)
			weft_format_duration(value, DIGITS, cell);
	}
}

static void add_row_name(const void *stats, uint32_t row, struct weft_text *text)
{
	stats_add_name(text, stats, row_of(stats, row));
}

static const struct stats_column columns[] = {
#define FIGURE(id, title, keep, key, type, value) \
	{title, keep, STATS_TYPE_##type != STATS_TYPE_COUNT, STATS_##id},
#include "figures.def"
#undef FIGURE
};

void stats_add_head(struct weft_text *text, const struct stats_side *side)
{
	const struct weft_stats *stats = side->stats;
	uint64_t length = stats->end_ns - stats->start_ns;
	char duration[32], share[64];
	weft_text_add_shown(text, side->trace.name, strlen(side->trace.name));
	weft_format_duration(length, DIGITS, duration);
	weft_text_add_string(text, ": ");
	weft_text_add_string(text, duration);
	weft_format_duration(stats->start_ns - side->model->summary.start, DIGITS, duration);
	if (stats->start_ns != side->model->summary.start) {
		weft_text_add_string(text, " from ");
		weft_text_add_string(text, duration);
	}
	if (length && stats->idle_ns != UINT64_MAX) {
		snprintf(share, sizeof(share), ", idle for %.3g %% of it",
			100 * (double)stats->idle_ns / (double)length);
		weft_text_add_string(text, share);
	}
	weft_text_add_string(text, "\n");
}

void stats_add_left_out(struct weft_text *text, uint32_t shown, uint32_t all, const char *where)
{
	char line[96];
	if (shown == all)
		return;
	snprintf(line, sizeof(line), "and %" PRIu32 " more; %s\n", all - shown, where);
	weft_text_add_string(text, line);
}

/* ---- Counters ---- */

/* Those that change in the range. */
struct changed_counters {
	const struct weft_model *model;
	struct weft_stats_counter list[COUNTERS_MAX];
	uint32_t numbers[COUNTERS_MAX];
	uint32_t count, all;
};

enum counter_column {
	BEFORE,
	AFTER,
	CHANGE,
	LEAST,
	MOST,
	CHANGES,
};

static void format_change(const struct weft_stats_counter *counter, char cell[STATS_CELL_BYTES])
{
	struct weft_number change = weft_stats_change(counter);
	bool is_up = change.is_real ? change.real > 0 : change.integer > 0;
	cell[0] = '+';
	weft_number_format(change, cell + is_up, STATS_CELL_BYTES - 1);
}

static void format_counter(
	const void *counters, uint32_t row, unsigned what, char cell[STATS_CELL_BYTES])
{
	const struct changed_counters *all = counters;
	const struct weft_stats_counter *counter = &all->list[row];
	const struct weft_number values[] = {[BEFORE] = counter->before,
		[AFTER] = counter->after,
		[LEAST] = counter->min,
		[MOST] = counter->max};
	if (what == CHANGES)
		format_number(counter->changes, cell);
	else if (counter->has_no_before && (what == CHANGE || what == BEFORE))
		cell[0] = '\0';
	else if (what == CHANGE)
		format_change(counter, cell);
	else
		weft_counter_format(
			&all->model->counters[all->numbers[row]], values[what], cell, STATS_CELL_BYTES);
}

static void add_counter_name(const void *context, uint32_t row, struct weft_text *text)
{
	const struct changed_counters *counters = context;
	char room[NAME_BYTES];
	struct weft_slice name =
		weft_story_counter_name(counters->model, counters->numbers[row], room, sizeof(room));
	weft_text_add_shown(text, name.bytes, name.size);
}

static const struct stats_column counter_columns[] = {
	{"before", 3, false, BEFORE},
	{"after", 4, false, AFTER},
	{"change", 6, false, CHANGE},
	{"min", 2, false, LEAST},
	{"max", 5, false, MOST},
	{"changes", 1, false, CHANGES},
};

static void add_counters(struct weft_text *text, const struct stats_side *side, size_t width)
{
	struct changed_counters counters = {.model = side->model};
	for (uint32_t i = 0; i < side->model->counter_count; i++) {
		struct weft_stats_counter counter = weft_stats_counter_of(side->stats, i);
		if (!counter.changes || counters.all++ >= COUNTERS_MAX)
			continue;
		counters.numbers[counters.count] = i;
		counters.list[counters.count++] = counter;
	}
	if (!counters.count)
		return;
	weft_text_add_string(text, "\n");
	const struct stats_table table = {.columns = counter_columns,
		.column_count = sizeof(counter_columns) / sizeof(*counter_columns),
		.rows = &counters,
		.row_count = counters.count,
		.name_title = "counter",
		.format = format_counter,
		.add_name = add_counter_name};
	stats_add_table(text, &table, width);
	stats_add_left_out(text, counters.count, counters.all, "--json lists all counters");
}

void stats_write_table(struct stats_output *output, const struct stats_side *side)
{
	const struct weft_stats *stats = side->stats;
	size_t width = stats_find_width();
	uint32_t shown = stats->row_count < output->limit ? stats->row_count : output->limit;
	const struct stats_table table = {.columns = columns,
		.column_count = sizeof(columns) / sizeof(*columns),
		.rows = stats,
		.row_count = shown,
		.name_title = stats_unit(stats),
		.format = format_figure,
		.add_name = add_row_name};
	stats_add_head(&output->text, side);
	weft_text_add_string(&output->text, "\n");
	if (shown)
		stats_add_table(&output->text, &table, width);
	else if (!stats->row_count)
		weft_text_add_string(&output->text, stats->by == WEFT_STATS_BY_SPAN ? "no spans\n"
											: stats->by == WEFT_STATS_BY_STACK
												? "no waits whose calls were noted\n"
												: "no tasks\n");
	stats_add_left_out(&output->text, shown, stats->row_count, "--limit 0 prints all");
	add_counters(&output->text, side, width);
	stats_add_histograms(&output->text, side);
}
