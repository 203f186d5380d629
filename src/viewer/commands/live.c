/* SPDX-License-Identifier: ISC
 *
 * Following a trace that is being recorded, and the window of a fixed length that stays at its
 * newest events. Zooming ends that window: the view then keeps its new length.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viewer/commands/commands.h"
#include "viewer/state.h"

#define LAST_NS      5000000000
#define LENGTH_SLACK 0.01 /* share by which the view's length may differ from the window's */

void weft__run_follow(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	if (!viewer->is_live) {
		weft__viewer_show_message(
			viewer, "This trace is not being recorded: there is nothing to follow.");
		return;
	}
	viewer->is_following = !viewer->is_following;
	weft__viewer_request(viewer, WEFT_VIEWER_FOLLOW, "", viewer->is_following, 0);
	weft__viewer_show_message(viewer, viewer->is_following ? "Following." : "Paused.");
	weft__viewer_place_buttons(viewer);
}

void weft__viewer_pause(struct weft_viewer *viewer)
{
	if (viewer->is_live && viewer->is_following)
		weft__run_follow(viewer, "");
}

bool weft__viewer_keeps_last(const struct weft_viewer *viewer)
{
	const struct weft_view *view = weft__viewer_wanted(viewer);
	double whole = (double)(view->end - view->start), last = (double)viewer->last_ns;
	double length = fmin(last, whole);
	return last > 0 && fabs(weft__view_duration(view) - length) <= length * LENGTH_SLACK;
}

void weft__viewer_show_last(const struct weft_viewer *viewer, struct weft_view *view)
{
	const uint64_t last_ns = viewer->last_ns, whole_ns = view->end - view->start;
	if (last_ns >= whole_ns)
		weft_view_fit(view);
	else
		weft_view_set_range(view, view->end - last_ns, (double)last_ns);
}

/* The length that a command names; 0 if it is invalid. */
static uint64_t length_of(const char *text)
{
	uint64_t length;
	return weft__viewer_parse_duration(text, &length) ? 0 : length;
}

static void show_length(struct weft_viewer *viewer)
{
	char length[32];
	weft_format_duration(viewer->last_ns, 6, length);
	weft__viewer_show_message(
		viewer, viewer->is_live ? "The view keeps to the newest %s." : "The newest %s.", length);
}

void weft__run_last(struct weft_viewer *viewer, const char *arguments)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	uint64_t length = arguments[0] ? length_of(arguments) : LAST_NS;
	bool is_off = strcmp(arguments, "off") == 0 || (!arguments[0] && weft__is_lasting(viewer, ""));
	viewer->panel.is_stale = true;
	if (is_off) {
		viewer->last_ns = 0;
		weft__viewer_show_message(viewer, "The view no longer keeps to the newest events.");
		return;
	}
	if (length == 0) {
		weft__viewer_show_message(viewer, "This needs a length of time such as 5s.");
		return;
	}
	viewer->last_ns = length;
	if (viewer->is_live && !viewer->is_following)
		weft__run_follow(viewer, "");
	weft__viewer_remember(viewer, true);
	weft__viewer_show_last(viewer, &view);
	weft__viewer_glide(viewer, &view);
	show_length(viewer);
}

bool weft__is_lasting(const struct weft_viewer *viewer, const char *arguments)
{
	bool is_on = viewer->is_following && weft__viewer_keeps_last(viewer);
	return is_on && (!arguments[0] || length_of(arguments) == viewer->last_ns);
}
