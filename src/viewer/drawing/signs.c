/* SPDX-License-Identifier: ISC
 *
 * Finds the sign under the pointer by its time: signs have no size of their own. In the overview,
 * failures and long tasks are marked at the upper edge, problems and matches at the lower one.
 */
#include "viewer/drawing/signs.h"

#include <math.h>
#include <stdio.h>

#include "base/search.h"
#include "render/failures.h"
#include "render/strip.h"
#include "viewer/state.h"

#define REACH   4.0  /* px beside a sign */
#define TOUCHED 12.0 /* the same for a finger */
#define BAND    12.0 /* px: the height of the edges that have signs */
#define FLAG    6.0  /* px: the width of a bookmark's flag, right of its time */

static const struct weft__sign none = {WEFT__SIGN_NONE, WEFT_NONE, 0};

static double reach_of(const struct weft_viewer *viewer)
{
	return viewer->pointer.is_touch ? TOUCHED : REACH;
}

static struct weft__sign failure_between(
	const struct weft_viewer *viewer, uint64_t first, uint64_t at, uint64_t last)
{
	struct weft__sign sign = {.type = WEFT__SIGN_FAILURE};
	sign.number = weft__render_failure_near(viewer->scene, first, at, last, &sign.count);
	return sign.number != WEFT_NONE ? sign : none;
}

/* ---- The ruler ---- */

static uint64_t ruler_time(const struct weft_viewer *viewer, double x)
{
	return weft_view_time(&viewer->view, x - viewer->frame.picture.x);
}

static struct weft__sign sign_of_ruler(const struct weft_viewer *viewer, double x, double y)
{
	const struct weft_box *box = &viewer->frame.ruler;
	double reach = reach_of(viewer);
	size_t mark = weft__viewer_mark_at(viewer, x);
	if (mark != WEFT__NO_MARK)
		return (struct weft__sign){WEFT__SIGN_MARK, (uint32_t)mark, 0};
	if (y < box->y + box->height - BAND)
		return none;
	return failure_between(viewer, ruler_time(viewer, x - reach), ruler_time(viewer, x),
		ruler_time(viewer, x + reach));
}

/* ---- The overview ---- */

static struct weft__sign mark_in_strip(
	const struct weft_viewer *viewer, const struct weft__strip *strip, double x)
{
	double best = reach_of(viewer);
	struct weft__sign sign = none;
	for (size_t i = 0; i < viewer->marks.count; i++) {
		double right_of = x - weft__render_strip_x(strip, viewer->marks.list[i].time);
		double away = fmax(fmax(-right_of, right_of - FLAG), 0);
		if (away > best)
			continue;
		best = away;
		sign = (struct weft__sign){WEFT__SIGN_MARK, (uint32_t)i, 0};
	}
	return sign;
}

/* Only the problems that the overview marks: see draw_wrong() in draw.c. */
static struct weft__sign problem_in_strip(
	const struct weft_viewer *viewer, const struct weft__strip *strip, double x)
{
	const struct weft_problems *problems = viewer->problems.found;
	double reach = reach_of(viewer);
	for (uint32_t i = 0; problems && i < problems->count; i++) {
		const struct weft_problem *problem = &problems->list[problems->by_gravity[i]];
		if (i > 0 && problem->severity == WEFT_SEVERITY_HINT)
			continue;
		if (weft__render_strip_x(strip, problem->start) - reach <= x &&
			weft__render_strip_x(strip, problem->end) + reach >= x)
			return (struct weft__sign){WEFT__SIGN_PROBLEM, i, 0};
	}
	return none;
}

static struct weft__sign match_in_strip(
	const struct weft_viewer *viewer, const struct weft__strip *strip, double x)
{
	const struct weft_search *found = viewer->search.found;
	uint64_t from = weft__render_strip_time(strip, x - reach_of(viewer));
	if (!found || found->match_count == 0)
		return none;
	uint32_t match = from ? weft_search_after(found, from - 1) : 0;
	bool is_near =
		match != WEFT_NONE &&
		fabs(weft__render_strip_x(strip, found->matches[match].time) - x) <= reach_of(viewer);
	return is_near ? (struct weft__sign){WEFT__SIGN_MATCH, match, 0} : none;
}

static struct weft__sign sign_of_upper_edge(
	const struct weft_viewer *viewer, const struct weft__strip *strip, double x)
{
	double reach = reach_of(viewer);
	struct weft__sign sign = failure_between(viewer, weft__render_strip_time(strip, x - reach),
		weft__render_strip_time(strip, x), weft__render_strip_time(strip, x + reach));
	uint32_t longest = weft__render_strip_longest(strip, viewer->scene, x, reach);
	if (sign.type != WEFT__SIGN_NONE || longest == WEFT_NONE)
		return sign;
	return (struct weft__sign){WEFT__SIGN_LONGEST, longest, 1};
}

static struct weft__sign sign_of_strip(const struct weft_viewer *viewer, double x, double y)
{
	const struct weft_box *box = &viewer->frame.strip;
	const struct weft__strip strip = weft__viewer_strip(viewer);
	struct weft__sign sign = mark_in_strip(viewer, &strip, x);
	if (sign.type != WEFT__SIGN_NONE)
		return sign;
	if (y < box->y + BAND)
		return sign_of_upper_edge(viewer, &strip, x);
	if (y < box->y + box->height - BAND)
		return none;
	sign = match_in_strip(viewer, &strip, x);
	return sign.type != WEFT__SIGN_NONE ? sign : problem_in_strip(viewer, &strip, x);
}

struct weft__sign weft__viewer_sign_at(const struct weft_viewer *viewer, double x, double y)
{
	if (!viewer->scene)
		return none;
	if (weft__viewer_inside(&viewer->frame.strip, x, y))
		return sign_of_strip(viewer, x, y);
	if (weft__viewer_inside(&viewer->frame.ruler, x, y))
		return sign_of_ruler(viewer, x, y);
	return none;
}

/* ---- What a sign stands for ---- */

static void write_task(
	const struct weft_viewer *viewer, const struct weft__sign *sign, char *text, size_t size)
{
	uint64_t end = viewer->model->tasks.end[sign->number];
	size_t used = weft_story_sentence(&viewer->story, sign->number, end, text, size);
	if (used < size && sign->count > 1)
		snprintf(
			text + used, size - used, " One of %u here. Click: go to it.", (unsigned)sign->count);
	else if (used < size)
		snprintf(text + used, size - used, " Click: go to it.");
}

static void write_match(const struct weft_viewer *viewer, uint32_t number, char *text, size_t size)
{
	const struct weft_search_match *match = &viewer->search.found->matches[number];
	char name[WEFT_SENTENCE_BYTES] = "", time[32];
	if (match->task != WEFT_NONE)
		weft_story_name(viewer->model, match->task, 40, name, sizeof(name));
	weft_format_duration(match->time - viewer->view.start, 5, time);
	snprintf(text, size, "Found in a %s%s%s at %s. Click: go to it.",
		weft_search_field_name((enum weft_search_field)match->field), name[0] ? " of " : "", name,
		time);
}

static void write_mark(const struct weft_viewer *viewer, uint32_t number, char *text, size_t size)
{
	const struct weft__bookmark *mark = &viewer->marks.list[number];
	char time[32];
	weft_format_duration(
		mark->time > viewer->view.start ? mark->time - viewer->view.start : 0, 5, time);
	snprintf(text, size, "Bookmark at %s%s%s. Click: go to it.", time, mark->text[0] ? ": " : "",
		mark->text);
}

void weft__viewer_write_sign(const struct weft_viewer *viewer, char *text, size_t size)
{
	const struct weft__sign *sign = &viewer->hover.sign;
	const struct weft_problems *problems = viewer->problems.found;
	if (sign->type == WEFT__SIGN_FAILURE || sign->type == WEFT__SIGN_LONGEST)
		write_task(viewer, sign, text, size);
	else if (sign->type == WEFT__SIGN_PROBLEM && problems && sign->number < problems->count)
		snprintf(text, size, "%s Click: go to it.",
			problems->list[problems->by_gravity[sign->number]].sentence);
	else if (sign->type == WEFT__SIGN_MATCH && viewer->search.found &&
			 sign->number < viewer->search.found->match_count)
		write_match(viewer, sign->number, text, size);
	else if (sign->type == WEFT__SIGN_MARK && sign->number < viewer->marks.count)
		write_mark(viewer, sign->number, text, size);
}

static void go_task(struct weft_viewer *viewer, uint32_t task)
{
	uint64_t end = viewer->model->tasks.end[task];
	weft__viewer_select(viewer, task, end);
	weft__viewer_open_panel(viewer, WEFT__PANEL_STORY);
	weft__viewer_reveal_task(viewer, task, end);
}

void weft__viewer_go_sign(struct weft_viewer *viewer, const struct weft__sign *sign)
{
	if (sign->type == WEFT__SIGN_FAILURE || sign->type == WEFT__SIGN_LONGEST)
		go_task(viewer, sign->number);
	else if (sign->type == WEFT__SIGN_PROBLEM)
		weft__viewer_go_problem(viewer, sign->number);
	else if (sign->type == WEFT__SIGN_MATCH)
		weft__viewer_go_match(viewer, sign->number);
	else if (sign->type == WEFT__SIGN_MARK)
		weft__viewer_go_mark(viewer, sign->number);
}
