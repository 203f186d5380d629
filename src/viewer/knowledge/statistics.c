/* SPDX-License-Identifier: ISC
 *
 * Makes statistics when they are needed, and goes to the slowest tasks of a row. A pass over the
 * whole trace takes some hundred milliseconds for 10⁷ events, so they are made only for an open
 * panel or a command: of a large trace in steps between inputs, of one that grows at most once a
 * second.
 */
#include <stdio.h>

#include <weft/chain.h>

#include "stats/maker.h"
#include "viewer/state.h"

#define LIVE_EVERY_MS 1000.0
#define NAME_LETTERS  40
#define FRAME_STEPS   8 /* of some milliseconds each */

/* The chosen range; 0 and 0: the whole trace. */
static void find_range(const struct weft_viewer *viewer, uint64_t *ret_from, uint64_t *ret_to)
{
	*ret_from = *ret_to = 0;
	if (viewer->range.is_set && viewer->range.from != viewer->range.to)
		weft__viewer_order_range(viewer, ret_from, ret_to);
}

static bool are_of_range(const struct weft_viewer *viewer)
{
	uint64_t from, to;
	find_range(viewer, &from, &to);
	return viewer->statistics.from == from && viewer->statistics.to == to;
}

bool weft__viewer_statistics_are_stale(const struct weft_viewer *viewer)
{
	return viewer->model && viewer->panel.kind == WEFT__PANEL_STATISTICS &&
		   viewer->pointer.drag != WEFT__DRAG_RANGE && !are_of_range(viewer);
}

bool weft__viewer_statistics_may_wait(const struct weft_viewer *viewer)
{
	return viewer->panel.kind == WEFT__PANEL_STATISTICS && viewer->is_live &&
		   !viewer->statistics.found && are_of_range(viewer) &&
		   viewer->now_ms < viewer->statistics.made_ms + LIVE_EVERY_MS;
}

static void renew_panel(struct weft_viewer *viewer)
{
	if (viewer->panel.kind == WEFT__PANEL_STATISTICS)
		viewer->panel.is_stale = true;
}

/* Gives up statistics that are being made. */
static void give_up(struct weft_viewer *viewer)
{
	weft__stats_maker_destroy(viewer->statistics.maker);
	viewer->statistics.maker = NULL;
	viewer->statistics.is_making = viewer->statistics.wants_alike = false;
}

void weft__viewer_forget_statistics(struct weft_viewer *viewer)
{
	give_up(viewer);
	weft_stats_destroy(viewer->statistics.found);
	viewer->statistics.found = NULL;
}

static void begin_statistics(struct weft_viewer *viewer)
{
	struct weft__statistics *s = &viewer->statistics;
	weft__viewer_forget_statistics(viewer);
	find_range(viewer, &s->from, &s->to);
	s->made_by = s->by;
	s->made_ms = viewer->now_ms;
	s->is_ended = false;
	s->is_making = true;
}

/* Makes some more of the story index, then of the statistics. */
static int step(struct weft_viewer *viewer)
{
	struct weft__statistics *s = &viewer->statistics;
	int status;
	if (!viewer->story.index) {
		status = weft__viewer_step_story(viewer);
	} else if (!s->maker) {
		const struct weft_stats_options options = {
			.by = s->by, .start_ns = s->from, .end_ns = s->to};
		status = weft__stats_maker_create(&viewer->story, &options, &s->maker);
	} else {
		return weft__stats_maker_step(s->maker, &s->found);
	}
	return status ? status : WEFT_AGAIN;
}

/* Does some steps; all of them for a small trace, and for one that grows, as the next state would
 * come before the statistics of this one. */
static int do_steps(struct weft_viewer *viewer)
{
	bool is_whole = weft__viewer_is_small(viewer) || viewer->is_live;
	int status = WEFT_AGAIN;
	for (unsigned i = 0; status == WEFT_AGAIN && (is_whole || i < FRAME_STEPS); i++)
		status = step(viewer);
	if (status != WEFT_AGAIN)
		give_up(viewer);
	return status;
}

bool weft__viewer_know_statistics(struct weft_viewer *viewer)
{
	struct weft__statistics *s = &viewer->statistics;
	bool is_wanted = s->made_by == s->by && are_of_range(viewer);
	if (!viewer->model)
		return false;
	if (is_wanted && (s->found || s->is_making || s->is_ended))
		return s->found != NULL;
	begin_statistics(viewer);
	return do_steps(viewer) == 0;
}

bool weft__viewer_learn_statistics(struct weft_viewer *viewer)
{
	struct weft__statistics *s = &viewer->statistics;
	bool wants_alike = s->wants_alike && viewer->selection.task != WEFT_NONE;
	if (!s->is_making)
		return false;
	int status = do_steps(viewer);
	if (status == WEFT_AGAIN)
		return true;
	s->is_ended = status != 0; /* memory ran out: it would again */
	if (status)
		weft__viewer_show_message(viewer, "Memory ran out: the statistics were not made.");
	else if (viewer->panel.kind != WEFT__PANEL_STATISTICS)
		weft__viewer_show_message(viewer, "The statistics are made.");
	if (wants_alike && !status)
		weft__viewer_statistics_show_alike(viewer);
	renew_panel(viewer);
	return false;
}

bool weft__viewer_end_statistics(struct weft_viewer *viewer)
{
	if (!viewer->statistics.is_making)
		return false;
	give_up(viewer);
	viewer->statistics.is_ended = true;
	renew_panel(viewer);
	weft__viewer_show_message(viewer, "Ended: the statistics were not made.");
	return true;
}

void weft__viewer_statistics_want(struct weft_viewer *viewer)
{
	viewer->statistics.is_ended = false;
}

const struct weft_stats_row *weft__viewer_statistics_row(const struct weft_viewer *viewer)
{
	const struct weft__statistics *s = &viewer->statistics;
	for (uint32_t i = 0; s->has_row && i < s->found->row_count; i++)
		if (s->found->rows[i].key == s->key)
			return &s->found->rows[i];
	return NULL;
}

const struct weft_stats_member *weft__viewer_statistics_slowest(
	const struct weft_viewer *viewer, const struct weft_stats_row *row, uint32_t nth)
{
	return &viewer->statistics.found->members[row->first + row->ended - 1 - nth];
}

/* "lock, in say_hello (hello.c:12) ← main (hello.c:20)": the innermost calls, as far as there is
 * room. */
static void name_wait(
	const struct weft_viewer *viewer, const struct weft_stats_row *row, char name[256])
{
	char calls[WEFT_STATS_NAME_BYTES];
	char number[16];
	const char *known = "unknown";
	uint16_t kind;
	if (weft_stats_kind(viewer->statistics.found, row, &kind)) {
		snprintf(number, sizeof(number), "%u", kind);
		known = weft_model_kind_name(viewer->model, kind);
		known = known ? known : number;
	}
	weft_stats_format_name(viewer->statistics.found, row, calls, sizeof(calls));
	int size =
		snprintf(name, 200, "%.60s%s%s", known, calls[0] ? ", in " : ", calls not noted", calls);
	if (size < 200)
		return;
	for (size = 199; size && (name[size - 1] & 0xc0) == 0x80;)
		size--;
	strcpy(name + size - (size > 0), "\xe2\x80\xa6");
}

void weft__viewer_statistics_name(
	const struct weft_viewer *viewer, const struct weft_stats_row *row, char name[256])
{
	const struct weft_stats *stats = viewer->statistics.found;
	bool by_parent = stats->by == WEFT_STATS_BY_PARENT;
	const char *prefix = by_parent ? "below " : "", *known = NULL;
	const char *none = by_parent ? "no parent" : "no category"; /* others have names */
	char text[160], number[16];
	uint16_t kind;
	if (stats->by == WEFT_STATS_BY_STACK) {
		name_wait(viewer, row, name);
		return;
	}
	weft_stats_format_name(stats, row, text, sizeof(text));
	if (!weft_stats_kind(stats, row, &kind) || stats->by == WEFT_STATS_BY_KIND) {
		bool may_lack = by_parent || stats->by == WEFT_STATS_BY_CATEGORY;
		snprintf(name, 256, "%s", text[0] || !may_lack ? text : none);
		return;
	}
	snprintf(number, sizeof(number), "%u", kind);
	known = weft_model_kind_name(viewer->model, kind);
	if (text[0])
		snprintf(name, 256, "%s%.60s '%s'", prefix, known ? known : number, text);
	else
		snprintf(name, 256, "%s%.60s, unnamed", prefix, known ? known : number);
}

static bool is_of_row(const struct weft_stats *stats, const struct weft_stats_row *row,
	uint32_t task, uint32_t *ret_nth)
{
	for (uint32_t i = 0; i < row->ended; i++)
		if (stats->members[row->first + i].task == task) {
			*ret_nth = row->ended - 1 - i;
			return true;
		}
	return false;
}

void weft__viewer_statistics_show_alike(struct weft_viewer *viewer)
{
	struct weft__statistics *s = &viewer->statistics;
	uint32_t task = viewer->selection.task;
	s->by = WEFT_STATS_BY_LABEL;
	s->has_row = false;
	s->nth = WEFT_NONE;
	s->wants_alike = !weft__viewer_know_statistics(viewer) && s->is_making;
	if (!s->found)
		return;
	const struct weft_stats_row *row = weft_stats_find_alike(s->found, task);
	s->has_row = row != NULL;
	s->key = row ? row->key : 0;
	if (row)
		(void)is_of_row(s->found, row, task, &s->nth);
}

/* The shown row; if there is none, that of the tasks that are alike the selected one. */
static const struct weft_stats_row *wanted_row(struct weft_viewer *viewer)
{
	if (!weft__viewer_know_statistics(viewer))
		return NULL;
	if (!weft__viewer_statistics_row(viewer) && viewer->selection.task != WEFT_NONE)
		weft__viewer_statistics_show_alike(viewer);
	return viewer->statistics.found ? weft__viewer_statistics_row(viewer) : NULL;
}

void weft__viewer_statistics_go(struct weft_viewer *viewer, uint32_t nth)
{
	const struct weft_stats_row *row = wanted_row(viewer);
	char name[128] = "", length[32];
	if (!row || nth >= row->ended) {
		weft__viewer_show_message(viewer, viewer->statistics.is_making
											  ? "Making the statistics \xe2\x80\xa6 Escape ends it."
										  : row ? "No more of them have ended."
												: "Select a task, or a row of the statistics.");
		return;
	}
	const struct weft_stats_member member = *weft__viewer_statistics_slowest(viewer, row, nth);
	uint64_t at = member.start;
	if (member.task != WEFT_NONE) {
		(void)weft_chain_time(&viewer->story, member.task, member.start, member.end, &at);
		weft_story_name(viewer->model, member.task, NAME_LETTERS, name, sizeof(name));
	}
	weft__viewer_select(viewer, member.task, at);
	weft__viewer_reveal(viewer,
		member.task == WEFT_NONE ? WEFT_NONE : viewer->layout->row[member.task], member.start,
		member.end, true);
	viewer->statistics.nth = nth;
	renew_panel(viewer);
	weft_format_duration(member.end - member.start, 4, length);
	weft__viewer_show_message(viewer, "%u of %u, the slowest first: %s%s%s.", (unsigned)nth + 1,
		(unsigned)row->ended, name, name[0] ? ", " : "", length);
}

void weft__viewer_statistics_step(struct weft_viewer *viewer, int step)
{
	const struct weft_stats_row *row = wanted_row(viewer);
	uint32_t nth = viewer->statistics.nth;
	if (!row || !row->ended) {
		weft__viewer_statistics_go(viewer, 0);
		return;
	}
	bool is_current = nth < row->ended && weft__viewer_statistics_slowest(viewer, row, nth)->task ==
											  viewer->selection.task;
	if (!is_current && !is_of_row(viewer->statistics.found, row, viewer->selection.task, &nth))
		nth = WEFT_NONE;
	if (nth == WEFT_NONE)
		nth = step > 0 ? 0 : row->ended - 1;
	else if (step > 0)
		nth = nth + 1 < row->ended ? nth + 1 : 0;
	else
		nth = nth > 0 ? nth - 1 : row->ended - 1;
	weft__viewer_statistics_go(viewer, nth);
}
