/* SPDX-License-Identifier: ISC
 *
 * Moves of the view: animations, the history of views, and rows that slide to new positions.
 */
#ifndef WEFT_VIEWER_MOTION_H
#define WEFT_VIEWER_MOTION_H

#include <weft/view.h>
#include <weft/viewer.h>

#include "view/time.h"

struct weft_viewer;

#define WEFT__GLIDE_MS 120.0
#define WEFT__THROW_MS 300.0

struct weft__motion {
	bool is_running;
	bool is_thrown; /* the view goes on after a drag; else it moves from `from` to `to` */
	double begin_ms, end_ms;
	struct weft_view from, to;
	/* If is_thrown: the point that was held, where it was released and how fast. */
	double held_ns, held_row, x, y, speed_x, speed_y; /* px, px a ms */
};

#define WEFT__SLIDE_MS 200.0

struct weft__slide {
	bool is_running;
	double begin_ms, share; /* share: the part of the slide that is left, 1 to 0 */
	double *shifts;         /* px, by row: from the new position to the old one */
	uint32_t count;
};

#define WEFT__HISTORY_MAX 64

struct weft__history {
	struct weft_view views[WEFT__HISTORY_MAX];
	unsigned count, at;
	double moved_ms; /* time of the last move: quick successive moves are one step */
};

/* Idle time that is drawn narrow: see squeeze.c. */
struct weft__squeezing {
	bool is_on;
	struct weft_squeeze *squeeze; /* views borrow it; NULL if nothing is squeezed */
	unsigned idle_percent;        /* of a trace that would become much shorter; else 0 */
};

/* The heights of rows: see heights.c. */
struct weft__heights {
	double *edges;
	uint32_t *before; /* rows with tasks in the view before each row, and before the end */
	size_t capacity;
	struct weft_view of;            /* the view that they were made for … */
	const struct weft_scene *scene; /* … and its scene; NULL if they are stale */
};

/* squeeze.c: squeezes the idle time of the scene's trace in a view, or not. */
void weft__viewer_squeeze(struct weft_viewer *viewer, struct weft_view *view, bool is_on);
/* Makes the squeeze of the scene's trace, for the caller to destroy; NULL if nothing is squeezed.
 */
struct weft_squeeze *weft__viewer_make_squeeze(const struct weft_viewer *viewer);
/* How idle the scene's trace is, in percent, if that is most of it and a squeeze shows less; else
 * 0. */
unsigned weft__viewer_find_idle(const struct weft_viewer *viewer);

/* heights.c: gives the rows of a view the heights for its times. Views that share the heights have
 * those of another view from then on. */
void weft__viewer_follow_view(struct weft_viewer *viewer, struct weft_view *view);
/* Called before the scene is destroyed. */
void weft__viewer_forget_heights(struct weft_viewer *viewer);

void weft__viewer_free_heights(struct weft_viewer *viewer);

/* outside.c: the rows above and below the visible ones that have tasks at the visible time. Rows
 * that the lens has merged are not visible. */
struct weft__outside {
	uint32_t above, below;
	uint32_t last_above, first_below; /* the nearest of them; valid if there are any */
};

struct weft__outside weft__viewer_outside(
	const struct weft_viewer *viewer, const struct weft_view *view);
/* Moves the focus to the nearest of them. */
void weft__viewer_go_outside(struct weft_viewer *viewer, bool is_below);

/* motion.c: the target of the current glide, or the view itself. */
const struct weft_view *weft__viewer_wanted(const struct weft_viewer *viewer);
/* Moves the view in 120 ms, or at once. */
void weft__viewer_glide(struct weft_viewer *viewer, const struct weft_view *to);
void weft__viewer_jump(struct weft_viewer *viewer, const struct weft_view *to);
/* Stops the view where it is. */
void weft__viewer_halt(struct weft_viewer *viewer);
/* Lets the view go on for 300 ms and slow down. */
void weft__viewer_throw(struct weft_viewer *viewer);
/* Advances the animation. True if it goes on. */
bool weft__viewer_move_on(struct weft_viewer *viewer);
/* Moves the view so that the held point is at (x, y) of the canvas. */
void weft__viewer_hold_point(struct weft_viewer *viewer, struct weft_view *view, double held_ns,
	double held_row, double x, double y);

/* slide.c: before the viewer takes a new layout and scene, and afterwards. */
void weft__viewer_slide_prepare(
	struct weft_viewer *viewer, const struct weft_layout *layout, const struct weft_scene *scene);
void weft__viewer_slide_begin(struct weft_viewer *viewer);
void weft__viewer_slide_move_on(struct weft_viewer *viewer);
void weft__viewer_slide_stop(struct weft_viewer *viewer);

/* history.c: called before a move. Moves within a second are one step, unless `is_jump`. */
void weft__viewer_remember(struct weft_viewer *viewer, bool is_jump);
/* Whether that is what the viewer shows, or is on its way to; and goes there. */
bool weft__viewer_is_at(const struct weft_viewer *viewer, const struct weft_view *view);
void weft__viewer_return_to(struct weft_viewer *viewer, const struct weft_view *view);
/* Goes back (-1) or forward (1) in the history. False at its end. */
bool weft__viewer_recall(struct weft_viewer *viewer, int step);

/* moves.c: moves in steps. */
void weft__viewer_zoom(struct weft_viewer *viewer, double x, double factor);
void weft__viewer_pan(struct weft_viewer *viewer, double dx, double dy);
void weft__viewer_fit(struct weft_viewer *viewer);
void weft__viewer_show_range(struct weft_viewer *viewer, uint64_t start, double duration);
/* The time at the left margin. */
uint64_t weft__viewer_start(const struct weft_view *view);

#endif
