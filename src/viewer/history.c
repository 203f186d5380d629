/* SPDX-License-Identifier: ISC
 *
 * The history of views. Its newest entry is the current view, and is filled in when the user leaves
 * it. Moves that follow each other within a second, as the notches of a wheel, are one step.
 */
#include "viewer/state.h"

#include <math.h>
#include <string.h>

#define STEP_PAUSE_MS 1000.0 /* a move after a longer pause is a new step */

/* The squeeze of the old view may have been destroyed, so only its numbers are used. */
static bool is_alike(const struct weft_view *view, const struct weft_view *old)
{
	double px = fabs(weft__view_x_of(view, old->left));
	return px < 1 && fabs(view->scale / old->scale - 1) < 1e-3 &&
		   fabs(view->focus - old->focus) < 0.5;
}

void weft__viewer_remember(struct weft_viewer *viewer, bool is_jump)
{
	struct weft__history *history = &viewer->history;
	const struct weft_view *view = weft__viewer_wanted(viewer);
	bool goes_on = viewer->now_ms - history->moved_ms < STEP_PAUSE_MS;
	history->moved_ms = viewer->now_ms;
	if ((goes_on && !is_jump) ||
		(history->at > 0 && is_alike(view, &history->views[history->at - 1])))
		return;
	if (history->at + 1 == WEFT__HISTORY_MAX) {
		memmove(history->views, history->views + 1,
			(WEFT__HISTORY_MAX - 1) * sizeof(history->views[0]));
		history->at--;
	}
	history->views[history->at++] = *view;
	history->count = history->at + 1;
}

bool weft__viewer_is_at(const struct weft_viewer *viewer, const struct weft_view *view)
{
	return is_alike(weft__viewer_wanted(viewer), view);
}

void weft__viewer_return_to(struct weft_viewer *viewer, const struct weft_view *old)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	view.left = old->left;
	view.scale = old->scale;
	view.focus = old->focus;
	weft_view_resize(&view, view.width, view.height);
	weft__viewer_glide(viewer, &view);
}

bool weft__viewer_recall(struct weft_viewer *viewer, int step)
{
	struct weft__history *history = &viewer->history;
	unsigned to = history->at + (unsigned)step;
	if (step < 0 ? history->at == 0 : to >= history->count)
		return false;
	history->views[history->at] = *weft__viewer_wanted(viewer);
	history->at = to;
	weft__viewer_return_to(viewer, &history->views[to]);
	history->moved_ms = -INFINITY; /* the next move is a new step */
	return true;
}
