/* SPDX-License-Identifier: ISC
 *
 * The panel of statistics: all rows, or one with its histogram and its slowest tasks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "viewer/state.h"

#define ROWS_SHOWN     100u
#define COUNTERS_SHOWN 20u
#define SLOWEST_SHOWN  20u
#define BAR_LETTERS    12u

static void add_text(struct weft_viewer *viewer, const char *text)
{
	weft__viewer_panel_add(viewer, WEFT_VIEWER_TEXT, text, "", "");
}

static void add_heading(struct weft_viewer *viewer, const char *text)
{
	weft__viewer_panel_add(viewer, WEFT_VIEWER_HEADING, text, "", "");
}

/* "15 ms, from 10 ms to 25 ms; nothing runs for 41 % of it." */
static void add_range(struct weft_viewer *viewer)
{
	const struct weft_stats *stats = viewer->statistics.found;
	uint64_t ns = stats->end_ns - stats->start_ns;
	char length[32], from[32], to[32], range[96] = "The whole trace", text[256];
	char idle[WEFT__NUMBER_BYTES];
	weft_format_duration(ns, 4, length);
	weft_format_duration(stats->start_ns - viewer->model->summary.start, 6, from);
	weft_format_duration(stats->end_ns - viewer->model->summary.start, 6, to);
	if (viewer->statistics.to)
		snprintf(range, sizeof(range), "From %s to %s", from, to);
	weft__number_general(ns ? 100 * (double)stats->idle_ns / (double)ns : 0, 3, idle);
	add_text(viewer, weft__viewer_panel_format(text,
						 "%s, %s: nothing runs for %s %% of it. Shift + drag chooses %s.", range,
						 length, idle, viewer->statistics.to ? "another range" : "a range"));
}

static void add_groupings(struct weft_viewer *viewer)
{
	char command[256];
	for (unsigned by = 0; by < WEFT_STATS_BYS; by++) {
		const char *name = weft_stats_by_name((enum weft_stats_by)by);
		weft__viewer_panel_add_command(
			viewer, weft__viewer_panel_format(command, "stats by %s", name), NULL);
	}
}

static void add_row(struct weft_viewer *viewer, const struct weft_stats_row *row, uint32_t number)
{
	char text[256], detail[256], command[256], name[256], p50[32], most[32], failures[32] = "";
	unsigned failed = row->by_outcome[WEFT_OUTCOME_FAILED];
	weft__viewer_statistics_name(viewer, row, name);
	weft__viewer_panel_format(
		text, "%u \xc3\x97 %.200s%s", (unsigned)row->count, name, row->at_most ? " (at most)" : "");
	weft_format_duration(row->p50_ns, 3, p50);
	weft_format_duration(row->max_ns, 3, most);
	if (failed)
		snprintf(failures, sizeof(failures), ", %u failed", failed);
	if (!row->ended)
		weft__viewer_panel_format(detail, "none has ended");
	else if (row->ended == 1)
		weft__viewer_panel_format(detail, "%s%s", most, failures);
	else
		weft__viewer_panel_format(detail, "%s to %s%s", p50, most, failures);
	weft__viewer_panel_add(viewer, WEFT_VIEWER_LINK, text, detail,
		weft__viewer_panel_format(command, "stats row %u", (unsigned)number + 1));
	weft__viewer_panel_last(viewer)->role =
		failed ? WEFT_VIEWER_ROLE_FAILED : WEFT_VIEWER_ROLE_NONE;
}

static void add_counter(struct weft_viewer *viewer, uint32_t number)
{
	struct weft_stats_counter counter = weft_stats_counter_of(viewer->statistics.found, number);
	const struct weft_counter *c = &viewer->model->counters[number];
	struct weft_number change = weft_stats_change(&counter);
	char room[256], text[256], detail[256], before[40], after[40], difference[40];
	struct weft_slice name = weft_story_counter_name(viewer->model, number, room, sizeof(room));
	bool is_up = change.is_real ? change.real > 0 : change.integer > 0;
	weft_counter_format(c, counter.before, before, sizeof(before));
	weft_counter_format(c, counter.after, after, sizeof(after));
	weft_number_format(change, difference, sizeof(difference));
	weft__viewer_panel_format(text, "%.*s", name.size < 200 ? (int)name.size : 200, name.bytes);
	if (counter.has_no_before)
		weft__viewer_panel_format(detail, "set: %s", after);
	else
		weft__viewer_panel_format(
			detail, "%s%s: %s to %s", is_up ? "+" : "", difference, before, after);
	weft__viewer_panel_add(viewer, WEFT_VIEWER_FACT, text, detail, "");
}

static void add_counters(struct weft_viewer *viewer)
{
	uint32_t shown = 0;
	for (uint32_t i = 0; i < viewer->model->counter_count && shown < COUNTERS_SHOWN; i++) {
		if (!weft_stats_counter_of(viewer->statistics.found, i).changes)
			continue;
		if (!shown++)
			add_heading(viewer, "Counters");
		add_counter(viewer, i);
	}
}

static void fill_rows(struct weft_viewer *viewer)
{
	const struct weft_stats *stats = viewer->statistics.found;
	char text[256];
	add_range(viewer);
	add_groupings(viewer);
	add_heading(viewer, stats->by == WEFT_STATS_BY_SPAN    ? "Spans, p50 to max"
						: stats->by == WEFT_STATS_BY_STACK ? "Waits, p50 to max"
														   : "Tasks, p50 to max");
	if (!stats->row_count)
		add_text(viewer, "None in this range.");
	for (uint32_t i = 0; i < stats->row_count && i < ROWS_SHOWN; i++)
		add_row(viewer, &stats->rows[i], i);
	if (stats->row_count > ROWS_SHOWN)
		add_text(viewer, weft__viewer_panel_format(text, "%u more are not listed.",
							 (unsigned)(stats->row_count - ROWS_SHOWN)));
	add_counters(viewer);
}

/* ---- One row ---- */

static void add_fact(struct weft_viewer *viewer, const char *name, const char *value)
{
	weft__viewer_panel_add(viewer, WEFT_VIEWER_FACT, name, value, "");
}

static void add_length(struct weft_viewer *viewer, const char *name, uint64_t ns)
{
	char length[32];
	weft_format_duration(ns, 4, length);
	add_fact(viewer, name, length);
}

static void add_outcomes(struct weft_viewer *viewer, const struct weft_stats_row *row)
{
	char number[32];
	snprintf(number, sizeof(number), "%" PRIu32, row->count);
	add_fact(viewer, "count", number);
	snprintf(number, sizeof(number), "%" PRIu32, row->at_most);
	if (row->at_most)
		add_fact(viewer, "without an end", number);
	for (unsigned i = 0; i < WEFT_OUTCOMES && viewer->statistics.by != WEFT_STATS_BY_SPAN; i++) {
		if (!row->by_outcome[i] || i == WEFT_OUTCOME_FULFILLED)
			continue;
		snprintf(number, sizeof(number), "%" PRIu32, row->by_outcome[i]);
		add_fact(viewer, weft_outcome_name((enum weft_outcome)i), number);
	}
}

/* The longest is a link to its task. */
static void add_lives(struct weft_viewer *viewer, const struct weft_stats_row *row)
{
	if (!row->ended)
		return;
	if (row->at_most)
		add_length(viewer, "quickest", row->quickest_ns);
	add_length(viewer, "p50", row->p50_ns);
	add_length(viewer, "p90", row->p90_ns);
	add_length(viewer, "p99", row->p99_ns);
	add_length(viewer, "max", row->max_ns);
	weft__viewer_panel_set_command(viewer, "slow first");
}

/* The longest delay is a link to its task. */
static void add_times(struct weft_viewer *viewer, const struct weft_stats_row *row)
{
	char name[64], command[256];
	if (viewer->statistics.by != WEFT_STATS_BY_STACK)
		add_length(viewer, "running", row->running_ns);
	add_length(viewer, "waiting", row->waiting_ns);
	if (!row->delay_ns)
		return;
	add_length(viewer, "delay", row->delay_ns);
	add_length(viewer, "max delay", row->max_delay_ns);
	weft__viewer_write_task(viewer->model, row->most_delayed, name);
	weft__viewer_panel_set_command(viewer, weft__viewer_panel_format(command, "select %s", name));
}

static void write_bar(char bar[3 * BAR_LETTERS + 1], uint32_t count, uint32_t most)
{
	uint32_t letters = (uint32_t)(((uint64_t)count * BAR_LETTERS + most - 1) / most);
	bar[0] = '\0';
	for (uint32_t i = 0; i < letters; i++)
		strcat(bar, "\xe2\x96\x88");
}

/* Each bucket is a link to the slowest in it. */
static void add_histogram(struct weft_viewer *viewer, const struct weft_stats_row *row)
{
	struct weft_stats_bucket buckets[WEFT_STATS_BUCKETS];
	uint32_t count = weft_stats_histogram(viewer->statistics.found, row, buckets), most = 1;
	char text[256], detail[32], command[256], from[32], bar[3 * BAR_LETTERS + 1];
	if (count)
		add_heading(viewer, viewer->statistics.by == WEFT_STATS_BY_STACK ? "How long they lasted"
																		 : "How long they lived");
	for (uint32_t i = 0; i < count; i++)
		most = buckets[i].count > most ? buckets[i].count : most;
	for (uint32_t i = 0; i < count; i++) {
		const struct weft_stats_bucket *bucket = &buckets[i];
		weft_format_duration(bucket->from_ns, 3, from);
		write_bar(bar, bucket->count, most);
		snprintf(detail, sizeof(detail), "%" PRIu32, bucket->count);
		weft__viewer_panel_format(text, "\xe2\x89\xa5 %s %s", from, bar);
		weft__viewer_panel_format(
			command, "slow %u", (unsigned)(row->ended - bucket->first - bucket->count + 1));
		weft__viewer_panel_add(viewer, bucket->count ? WEFT_VIEWER_LINK : WEFT_VIEWER_TEXT, text,
			detail, bucket->count ? command : "");
	}
}

static void add_slowest(struct weft_viewer *viewer, const struct weft_stats_row *row)
{
	uint32_t nth = viewer->statistics.nth, first = 0;
	char name[200], command[256], length[32];
	if (nth != WEFT_NONE && nth > SLOWEST_SHOWN / 2)
		first = nth - SLOWEST_SHOWN / 2;
	if (row->ended)
		add_heading(viewer, first ? "Around this one" : "The slowest");
	for (uint32_t i = first; i < row->ended && i < first + SLOWEST_SHOWN; i++) {
		const struct weft_stats_member *member = weft__viewer_statistics_slowest(viewer, row, i);
		if (member->task == WEFT_NONE)
			snprintf(name, sizeof(name), "of a thread");
		else
			weft_story_name(viewer->model, member->task, 40, name, sizeof(name));
		weft_format_duration(member->end - member->start, 4, length);
		weft__viewer_panel_add(viewer, WEFT_VIEWER_LINK, name, length,
			weft__viewer_panel_format(command, "slow %u", (unsigned)i + 1));
		if (i != nth)
			continue;
		weft__viewer_panel_last(viewer)->is_selected = true;
		viewer->panel.shown.selected = viewer->panel.shown.item_count - 1;
	}
}

static void fill_row(struct weft_viewer *viewer, const struct weft_stats_row *row)
{
	char name[256];
	weft__viewer_statistics_name(viewer, row, name);
	weft__viewer_panel_add(viewer, WEFT_VIEWER_BUTTON, "All rows", "", "stats all");
	add_heading(viewer, name);
	add_range(viewer);
	add_outcomes(viewer, row);
	add_lives(viewer, row);
	add_times(viewer, row);
	if (row->ended) {
		weft__viewer_panel_add(viewer, WEFT_VIEWER_BUTTON, "Go to the slowest", "", "slow first");
		weft__viewer_panel_add(viewer, WEFT_VIEWER_BUTTON, "The next slowest", ".", "slow next");
		weft__viewer_panel_add(viewer, WEFT_VIEWER_BUTTON, "The next slower", ",", "slow previous");
	}
	add_histogram(viewer, row);
	add_slowest(viewer, row);
}

/* They are being made, or that was ended. */
static void fill_without(struct weft_viewer *viewer)
{
	if (viewer->statistics.is_making)
		add_text(viewer, "Making the statistics \xe2\x80\xa6 Escape ends it.");
	if (viewer->statistics.is_ended)
		weft__viewer_panel_add(viewer, WEFT_VIEWER_BUTTON, "Make the statistics", "", "stats all");
}

void weft__viewer_fill_statistics(struct weft_viewer *viewer)
{
	if (!weft__viewer_know_statistics(viewer)) {
		fill_without(viewer);
		return;
	}
	const struct weft_stats_row *row = weft__viewer_statistics_row(viewer);
	if (row)
		fill_row(viewer, row);
	else
		fill_rows(viewer);
}
