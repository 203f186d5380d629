/* SPDX-License-Identifier: ISC
 *
 * Animated moves of the view: each move glides for 120 ms, and a picture that is released while it
 * is dragged goes on for 300 ms. Input never waits for them: steps start from the target of the
 * current glide, and a touch stops the view where it is.
 */
#include "viewer/state.h"

#include <math.h>

#define SAME  1e-6 /* scales that differ by less are the same */
#define STEPS 48   /* of a bisection */

const struct weft_view *weft__viewer_wanted(const struct weft_viewer *viewer)
{
	const struct weft__motion *motion = &viewer->motion;
	return motion->is_running && !motion->is_thrown ? &motion->to : &viewer->view;
}

static bool is_same_view(const struct weft_view *a, const struct weft_view *b)
{
	return a->left == b->left && a->scale == b->scale && a->focus == b->focus &&
		   a->is_plain == b->is_plain && a->squeeze == b->squeeze;
}

void weft__viewer_jump(struct weft_viewer *viewer, const struct weft_view *to)
{
	viewer->motion.is_running = false;
	viewer->view = *to;
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

void weft__viewer_glide(struct weft_viewer *viewer, const struct weft_view *to)
{
	if (is_same_view(weft__viewer_wanted(viewer), to))
		return;
	if (viewer->reduced_motion || to->is_plain != viewer->view.is_plain ||
		to->squeeze != viewer->view.squeeze) {
		weft__viewer_jump(viewer, to);
		return;
	}
	viewer->motion = (struct weft__motion){
		.is_running = true,
		.begin_ms = viewer->now_ms,
		.end_ms = viewer->now_ms + WEFT__GLIDE_MS,
		.from = viewer->view,
		.to = *to,
	};
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

void weft__viewer_halt(struct weft_viewer *viewer)
{
	viewer->motion.is_running = false;
}

void weft__viewer_hold_point(struct weft_viewer *viewer, struct weft_view *view, double held_ns,
	double held_row, double x, double y)
{
	weft_view_pan(view, x - viewer->frame.picture.x - weft__view_x_of(view, held_ns));
	weft__viewer_follow_view(viewer, view);
	weft_view_drag_row(view, held_row, y - viewer->frame.picture.y);
}

void weft__viewer_throw(struct weft_viewer *viewer)
{
	const struct weft__pointer *pointer = &viewer->pointer;
	if (viewer->reduced_motion || hypot(pointer->speed_x, pointer->speed_y) < 0.1)
		return;
	viewer->motion = (struct weft__motion){
		.is_running = true,
		.is_thrown = true,
		.begin_ms = viewer->now_ms,
		.end_ms = viewer->now_ms + WEFT__THROW_MS,
		.held_ns = pointer->held_ns,
		.held_row = pointer->held_row,
		.x = pointer->x,
		.y = pointer->y,
		.speed_x = pointer->speed_x,
		.speed_y = pointer->speed_y,
	};
}

/* Ease-out: the integral of a speed that falls with the square of the time. */
static void fly(struct weft_viewer *viewer, double done)
{
	const struct weft__motion *m = &viewer->motion;
	double left = 1 - done, ms = WEFT__THROW_MS / 3 * (1 - left * left * left);
	weft__viewer_hold_point(viewer, &viewer->view, m->held_ns, m->held_row, m->x + m->speed_x * ms,
		m->y + m->speed_y * ms);
}

/* The x that has the same time in two views of a squeezed trace; an edge if there is none. */
static double fixed_x(const struct weft_view *from, const struct weft_view *to)
{
	double low = 0, high = from->width;
	bool is_later = weft__view_ns(to, low) > weft__view_ns(from, low);
	for (unsigned i = 0; i < STEPS; i++) {
		double x = (low + high) / 2;
		if ((weft__view_ns(to, x) > weft__view_ns(from, x)) == is_later)
			low = x;
		else
			high = x;
	}
	return low;
}

/* The left edge of a squeezed view on its way. */
static double squeezed_left(const struct weft__motion *m, double scale, double share)
{
	struct weft_view view = m->from;
	if (fabs(m->to.scale / m->from.scale - 1) < SAME) {
		weft_view_pan(&view, -share * weft__view_x_of(&view, m->to.left));
		return view.left;
	}
	double x = fixed_x(&m->from, &m->to);
	double from = weft__view_ns(&m->from, x), to = weft__view_ns(&m->to, x);
	weft_view_zoom(&view, x, scale / view.scale);
	weft_view_pan(&view, x - weft__view_x_of(&view, from + (to - from) * share));
	return view.left;
}

/* The scale changes by equal factors in equal times, and the time that both views show at the same
 * x stays there. */
static void glide(struct weft_viewer *viewer, double done)
{
	const struct weft__motion *m = &viewer->motion;
	double eased = 1 - pow(1 - done, 3), share = eased;
	double from = 1 / m->from.scale, to = 1 / m->to.scale;
	double width = from * pow(to / from, eased);
	if (fabs(to / from - 1) > SAME)
		share = (width - from) / (to - from);
	struct weft_view view = m->to;
	view.scale = 1 / width;
	if (view.squeeze)
		view.left = squeezed_left(m, 1 / width, share);
	else
		view.left = m->from.left + (m->to.left - m->from.left) * share;
	view.focus = m->from.focus + (m->to.focus - m->from.focus) * eased;
	weft_view_resize(&view, view.width, view.height); /* clamps the view to the trace */
	viewer->view = view;
}

bool weft__viewer_move_on(struct weft_viewer *viewer)
{
	struct weft__motion *motion = &viewer->motion;
	if (!motion->is_running)
		return false;
	double done = (viewer->now_ms - motion->begin_ms) / (motion->end_ms - motion->begin_ms);
	viewer->changes |= WEFT_VIEWER_CANVAS;
	done = fmin(fmax(done, 0), 1);
	if (motion->is_thrown)
		fly(viewer, done);
	else if (done < 1)
		glide(viewer, done);
	else
		viewer->view = motion->to;
	motion->is_running = done < 1;
	return motion->is_running;
}
