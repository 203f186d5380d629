/* SPDX-License-Identifier: ISC
 *
 * Prompts for a line of text. Mistakes are reported while the user types.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/export.h"
#include "base/ns.h"
#include "viewer/state.h"

static void set_text(struct weft_viewer *viewer, const char *text)
{
	snprintf(viewer->prompt.text, sizeof(viewer->prompt.text), "%s", text);
}

void weft__viewer_ask(struct weft_viewer *viewer, enum weft__asked asked)
{
	static const char *const labels[] = {
		[WEFT__ASK_START] = "Start",
		[WEFT__ASK_DURATION] = "Duration",
		[WEFT__ASK_SEARCH] = "Search",
		[WEFT__ASK_NOTE] = "Note",
		[WEFT__ASK_FILTER] = "Filter",
	};
	static const char *const hints[] = {
		[WEFT__ASK_START] = "from the trace's start, like 12.5ms; or @N on its clock",
		[WEFT__ASK_DURATION] = "like 300us",
		[WEFT__ASK_SEARCH] =
			"a part of a label, note, kind, message or process; /\xe2\x80\xa6 is an expression",
		[WEFT__ASK_NOTE] = "a remark on this time; Enter saves it",
		[WEFT__ASK_FILTER] =
			"part of a label, kind:bind, bytes > 4096; -\xe2\x80\xa6 hides; commas between",
	};
	const struct weft_view *view = weft__viewer_wanted(viewer);
	char time[32];
	viewer->prompt.asked = asked;
	set_text(viewer, "");
	if (asked == WEFT__ASK_START) {
		weft__viewer_write_duration(weft__viewer_start(view) - view->start, time);
		set_text(viewer, time);
	} else if (asked == WEFT__ASK_DURATION) {
		weft__viewer_write_duration(
			weft__ns_between(weft__view_duration(view) + 0.5, UINT64_MAX), time);
		set_text(viewer, time);
	} else if (asked == WEFT__ASK_SEARCH && viewer->search.text) {
		set_text(viewer, viewer->search.text);
	} else if (asked == WEFT__ASK_FILTER) {
		set_text(viewer, weft__viewer_wanted_rows(viewer)->filter);
	} else if (asked == WEFT__ASK_NOTE && viewer->marks.current < viewer->marks.count) {
		set_text(viewer, viewer->marks.list[viewer->marks.current].text);
	}
	snprintf(viewer->prompt.message, sizeof(viewer->prompt.message), "%s", hints[asked]);
	viewer->prompt.shown = (struct weft_viewer_prompt){
		true, labels[asked], viewer->prompt.text, viewer->prompt.message, false};
	viewer->changes |= WEFT_VIEWER_PROMPT;
}

void weft__viewer_close_prompt(struct weft_viewer *viewer)
{
	if (viewer->prompt.asked == WEFT__ASK_NOTHING)
		return;
	viewer->prompt.asked = WEFT__ASK_NOTHING;
	viewer->prompt.shown = (struct weft_viewer_prompt){false, "", "", "", false};
	viewer->changes |= WEFT_VIEWER_PROMPT;
}

static void show_problem(struct weft_viewer *viewer, const char *problem)
{
	snprintf(viewer->prompt.message, sizeof(viewer->prompt.message), "%s", problem ? problem : "");
	viewer->prompt.shown.is_error = problem != NULL;
	viewer->changes |= WEFT_VIEWER_PROMPT;
}

static const char *take_start(struct weft_viewer *viewer, const char *text, bool is_done)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	uint64_t time;
	const char *problem = weft__viewer_parse_time(text, view.start, &time);
	if (!problem && (time < view.start || time > view.end))
		problem = "that is outside the trace";
	if (!problem && is_done) /* less of the trace may be left than the view's length */
		weft__viewer_show_range(
			viewer, time, fmin(weft__view_duration(&view), fmax((double)(view.end - time), 1)));
	return problem;
}

static const char *take_duration(struct weft_viewer *viewer, const char *text, bool is_done)
{
	const struct weft_view *view = weft__viewer_wanted(viewer);
	uint64_t ns;
	const char *problem = weft__viewer_parse_duration(text, &ns);
	if (!problem && ns == 0)
		problem = "the duration must be more than 0";
	if (!problem && is_done)
		weft__viewer_show_range(viewer, weft__viewer_start(view), (double)ns);
	return problem;
}

static void take_text(struct weft_viewer *viewer, const char *text, bool is_done)
{
	const char *problem = NULL;
	switch (viewer->prompt.asked) {
	case WEFT__ASK_START:
		show_problem(viewer, problem = take_start(viewer, text, is_done));
		break;
	case WEFT__ASK_DURATION:
		show_problem(viewer, problem = take_duration(viewer, text, is_done));
		break;
	case WEFT__ASK_SEARCH:
		weft__viewer_search(viewer, text);
		problem = viewer->prompt.shown.is_error ? viewer->prompt.message : NULL;
		if (is_done && !problem && text[0]) {
			weft__viewer_open_panel(viewer, WEFT__PANEL_SEARCH);
			weft__viewer_step_match(viewer, 1);
		}
		break;
	case WEFT__ASK_FILTER:
		if (is_done && weft__viewer_set_filter(viewer, text) == WEFT__FILTER_TOO_LONG)
			show_problem(viewer, problem = "that is too long");
		break;
	case WEFT__ASK_NOTE:
		if (is_done)
			weft__viewer_name_mark(viewer, text);
		break;
	case WEFT__ASK_NOTHING:
		return;
	}
	if (is_done && !problem)
		weft__viewer_close_prompt(viewer);
}

WEFT__EXPORT void weft_viewer_prompt_text(
	struct weft_viewer *viewer, const char *text, bool is_done, double now_ms)
{
	weft__viewer_begin(viewer, now_ms);
	if (viewer->model && viewer->prompt.asked != WEFT__ASK_NOTHING)
		take_text(viewer, text, is_done);
	weft__viewer_settle(viewer);
}

WEFT__EXPORT const struct weft_viewer_prompt *weft_viewer_prompt(const struct weft_viewer *viewer)
{
	return &viewer->prompt.shown;
}
