/* SPDX-License-Identifier: ISC
 *
 * weft stats --json and --csv. Times are ns, as in the library.
 */
#include "stats.h"

#include <string.h>

#define NAME_BYTES WEFT_STATS_NAME_BYTES

static void add_value(
	struct weft_text *text, const char *key, struct weft_number value, bool is_absent)
{
	weft_text_add_string(text, key);
	if (is_absent)
		weft_text_add_string(text, "null");
	else if (value.is_real)
		weft_text_add_f64(text, value.real);
	else
		weft_text_add_i64(text, value.integer);
}

/* Appends a task's id, and its buffer if there are several; null without a task. */
static void add_task(
	struct weft_text *text, const struct weft_model *model, const char *key, uint32_t task)
{
	cli_add_task(text, key, model, task);
	if (model->buffer_count <= 1)
		return;
	weft_text_add(text, key, strlen(key) - 2); /* without '":' */
	weft_text_add_string(text, "_buffer\":");
	if (task == WEFT_NONE)
		weft_text_add_string(text, "null");
	else
		weft_text_add_u64(text, model->tasks.buffer[task]);
}

static void add_kind(
	struct weft_text *text, const struct weft_stats *stats, const struct weft_stats_row *row)
{
	uint16_t kind;
	if (!weft_stats_kind(stats, row, &kind))
		return;
	const char *name = weft_model_kind_name(stats->story->model, kind);
	weft_text_add_string(text, ",\"kind\":");
	if (name)
		weft_text_add_json(text, name, strlen(name));
	else
		weft_text_add_u64(text, kind);
}

static void add_name(
	struct weft_text *text, const struct weft_stats *stats, const struct weft_stats_row *row)
{
	char name[NAME_BYTES];
	size_t size = weft_stats_format_name(stats, row, name, sizeof(name));
	weft_text_add_string(text, "{\"name\":");
	if (size || stats->by == WEFT_STATS_BY_SPAN)
		weft_text_add_json(text, name, size < sizeof(name) ? size : sizeof(name) - 1);
	else
		weft_text_add_string(text, "null");
	add_kind(text, stats, row);
}

/* Appends the figures of that type. */
static void add_times(
	struct weft_text *text, const struct weft_stats_row *row, enum stats_type type)
{
	for (unsigned i = 0; i < STATS_FIGURES; i++) {
		if (stats_figures[i].type != type)
			continue;
		weft_text_add_string(text, ",\"");
		weft_text_add_string(text, stats_figures[i].key);
		weft_text_add_string(text, "\":");
		if (type == STATS_TYPE_LIFE && !row->ended)
			weft_text_add_string(text, "null");
		else
			weft_text_add_u64(text, stats_value(row, i));
	}
}

static bool has_outcomes(const struct weft_stats *stats)
{
	return stats->by != WEFT_STATS_BY_SPAN && stats->by != WEFT_STATS_BY_STACK;
}

static void add_figures(
	struct weft_text *text, const struct weft_stats *stats, const struct weft_stats_row *row)
{
	cli_add_number(text, "\"count\":", row->count);
	cli_add_number(text, ",\"ended\":", row->ended);
	if (stats->by == WEFT_STATS_BY_SPAN)
		cli_add_number(text, ",\"at_most\":", row->at_most);
	for (unsigned i = 0; i < WEFT_OUTCOMES && has_outcomes(stats); i++) {
		weft_text_add_string(text, ",\"");
		weft_text_add_string(text, weft_outcome_key((enum weft_outcome)i));
		cli_add_number(text, "\":", row->by_outcome[i]);
	}
	add_times(text, row, STATS_TYPE_LIFE);
	add_task(text, stats->story->model,
		",\"longest\":", row->ended ? stats->members[row->first + row->ended - 1].task : WEFT_NONE);
	add_times(text, row, STATS_TYPE_TIME);
	if (stats->by != WEFT_STATS_BY_SPAN) {
		add_times(text, row, STATS_TYPE_DELAY);
		add_task(text, stats->story->model, ",\"most_delayed\":", row->most_delayed);
	}
}

static void add_counter(struct weft_text *text, const struct stats_side *side, uint32_t number)
{
	const struct weft_model *model = side->model;
	struct weft_slice name = weft_model_string(model, model->counters[number].name);
	struct weft_stats_counter counter = weft_stats_counter_of(side->stats, number);
	weft_text_add_string(text, number ? ",{\"name\":" : "{\"name\":");
	weft_text_add_json(text, name.bytes, name.size);
	if (model->buffer_count > 1)
		cli_add_number(text, ",\"buffer\":", model->counters[number].buffer);
	cli_add_number(text, ",\"changes\":", counter.changes);
	add_value(text, ",\"before\":", counter.before, counter.has_no_before);
	add_value(text, ",\"after\":", counter.after, counter.has_no_value);
	add_value(text, ",\"change\":", weft_stats_change(&counter), counter.has_no_before);
	add_value(text, ",\"min\":", counter.min, counter.has_no_value);
	add_value(text, ",\"max\":", counter.max, counter.has_no_value);
	if (model->counters[number].is_relative)
		weft_text_add_string(text, ",\"relative\":true");
	weft_text_add_string(text, "}");
}

static void add_grouping(struct weft_text *text, const struct weft_stats *stats)
{
	weft_text_add_string(text, "{\"by\":\"");
	weft_text_add_string(text, weft_stats_by_name(stats->by));
	weft_text_add_string(text, "\",");
}

static void add_range(struct weft_text *text, const struct weft_stats *stats)
{
	cli_add_number(text, "\"start\":", stats->start_ns);
	cli_add_number(text, ",\"end\":", stats->end_ns);
	if (stats->idle_ns == UINT64_MAX)
		weft_text_add_string(text, ",\"idle\":null");
	else
		cli_add_number(text, ",\"idle\":", stats->idle_ns);
}

void stats_write_json(struct stats_output *output, const struct stats_side *side)
{
	const struct weft_stats *stats = side->stats;
	struct weft_text *text = &output->text;
	add_grouping(text, stats);
	add_range(text, stats);
	weft_text_add_string(text, ",\"rows\":[");
	for (uint32_t i = 0; i < stats->row_count && i < output->limit; i++) {
		weft_text_add_string(text, i ? "," : "");
		add_name(text, stats, &stats->rows[i]);
		weft_text_add_string(text, ",");
		add_figures(text, stats, &stats->rows[i]);
		weft_text_add_string(text, "}");
	}
	weft_text_add_string(text, "],\"counters\":[");
	for (uint32_t i = 0; i < side->model->counter_count; i++)
		add_counter(text, side, i);
	weft_text_add_string(text, "]");
	stats_add_histograms_json(text, side);
	weft_text_add_string(text, "}\n");
}

/* Appends the row of one of two statistics; null if it lacks the row. */
static void add_side(struct weft_text *text, const char *key, const struct weft_stats *stats,
	const struct weft_stats_row *row)
{
	weft_text_add_string(text, key);
	weft_text_add_string(text, row ? "{" : "null");
	if (row)
		add_figures(text, stats, row);
	weft_text_add_string(text, row ? "}" : "");
}

void stats_write_diff_json(struct stats_output *output, const struct weft_stats_diff *diff)
{
	struct weft_text *text = &output->text;
	add_grouping(text, diff->a);
	weft_text_add_string(text, "\"a\":{");
	add_range(text, diff->a);
	weft_text_add_string(text, "},\"b\":{");
	add_range(text, diff->b);
	weft_text_add_string(text, "},\"rows\":[");
	for (uint32_t i = 0; i < diff->count && i < output->limit; i++) {
		const struct weft_stats_pair *pair = &diff->pairs[i];
		weft_text_add_string(text, i ? "," : "");
		add_name(text, pair->b ? diff->b : diff->a, pair->b ? pair->b : pair->a);
		weft_text_add_string(text, ",\"score\":");
		weft_text_add_f64(text, pair->score);
		add_side(text, ",\"a\":", diff->a, pair->a);
		add_side(text, ",\"b\":", diff->b, pair->b);
		weft_text_add_string(text, "}");
	}
	weft_text_add_string(text, "]}\n");
}

/* ---- CSV ---- */

/* Appends a text in quotes, with quotes doubled (RFC 4180); control characters are escaped. */
static void add_quoted(struct weft_text *text, const char *bytes, size_t size)
{
	weft_text_add_string(text, "\"");
	for (size_t at = 0; at < size;) {
		const char *quote = memchr(bytes + at, '"', size - at);
		size_t part = quote ? (size_t)(quote - bytes) - at : size - at;
		weft_text_add_shown(text, bytes + at, part);
		if (quote)
			weft_text_add_string(text, "\"\"");
		at += part + (quote != NULL);
	}
	weft_text_add_string(text, "\"");
}

static void add_csv_name(
	struct weft_text *text, const struct weft_stats *stats, const struct weft_stats_row *row)
{
	char name[NAME_BYTES];
	uint16_t kind;
	size_t size = weft_stats_format_name(stats, row, name, sizeof(name));
	add_quoted(text, name, size < sizeof(name) ? size : sizeof(name) - 1);
	weft_text_add_string(text, ",");
	if (!weft_stats_kind(stats, row, &kind))
		return;
	const char *known = weft_model_kind_name(stats->story->model, kind);
	if (known)
		add_quoted(text, known, strlen(known));
	else
		weft_text_add_u64(text, kind);
}

static void add_csv_title(
	struct weft_text *text, const char *title, const char *unit, const char *suffix)
{
	weft_text_add_string(text, ",");
	weft_text_add_string(text, title);
	weft_text_add_string(text, unit);
	weft_text_add_string(text, suffix);
}

static void add_csv_head(struct weft_text *text, const char *suffix)
{
	add_csv_title(text, "count", "", suffix);
	add_csv_title(text, "ended", "", suffix);
	for (unsigned i = 0; i < WEFT_OUTCOMES; i++)
		add_csv_title(text, weft_outcome_key((enum weft_outcome)i), "", suffix);
	for (unsigned i = 0; i < STATS_FIGURES; i++)
		if (stats_figures[i].key)
			add_csv_title(text, stats_figures[i].key, "_ns", suffix);
	add_csv_title(text, "at_most", "", suffix);
}

static void add_csv_number(struct weft_text *text, bool is_known, uint64_t number)
{
	weft_text_add_string(text, ",");
	if (is_known)
		weft_text_add_u64(text, number);
}

/* Without a row all columns are empty. */
static void add_csv_figures(struct weft_text *text, const struct weft_stats_row *known)
{
	static const struct weft_stats_row none;
	const struct weft_stats_row *row = known ? known : &none;
	add_csv_number(text, known, row->count);
	add_csv_number(text, known, row->ended);
	for (unsigned i = 0; i < WEFT_OUTCOMES; i++)
		add_csv_number(text, known, row->by_outcome[i]);
	for (unsigned i = 0; i < STATS_FIGURES; i++)
		if (stats_figures[i].key)
			add_csv_number(text, known && (row->ended || stats_figures[i].type != STATS_TYPE_LIFE),
				stats_value(row, i));
	add_csv_number(text, known, row->at_most);
}

void stats_write_csv(struct stats_output *output, const struct stats_side *side)
{
	struct weft_text *text = &output->text;
	weft_text_add_string(text, "name,kind");
	add_csv_head(text, "");
	weft_text_add_string(text, "\n");
	for (uint32_t i = 0; i < side->stats->row_count && i < output->limit; i++) {
		add_csv_name(text, side->stats, &side->stats->rows[i]);
		add_csv_figures(text, &side->stats->rows[i]);
		weft_text_add_string(text, "\n");
	}
}

void stats_write_diff_csv(struct stats_output *output, const struct weft_stats_diff *diff)
{
	struct weft_text *text = &output->text;
	weft_text_add_string(text, "name,kind");
	add_csv_head(text, "_a");
	add_csv_head(text, "_b");
	weft_text_add_string(text, "\n");
	for (uint32_t i = 0; i < diff->count && i < output->limit; i++) {
		const struct weft_stats_pair *pair = &diff->pairs[i];
		add_csv_name(text, pair->b ? diff->b : diff->a, pair->b ? pair->b : pair->a);
		add_csv_figures(text, pair->a);
		add_csv_figures(text, pair->b);
		weft_text_add_string(text, "\n");
	}
}
