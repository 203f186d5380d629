/* SPDX-License-Identifier: ISC
 *
 * The part of a trace that is shown: the arithmetic between time and x, and between row and y.
 *
 * A view is a plain value: copy it, compare it, keep a history of it. Every function leaves the
 * view within the trace, whatever arguments it gets. The rules are those of docs/model.md, *Time
 * axis* and *Row axis*. Nothing here allocates.
 */
#ifndef WEFT_VIEW_H
#define WEFT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Margins at both ends of the time axis, and above the first and below the last row, in px. */
#define WEFT_VIEW_MARGIN     20.0
#define WEFT_VIEW_ROW_MARGIN 34.0

/* The height of a row under the lens, and the largest height. */
#define WEFT_VIEW_ROW_HEIGHT     28.0
#define WEFT_VIEW_ROW_HEIGHT_MAX 56.0

/* The width of a squeezed stripe, px. */
#define WEFT_STRIPE_WIDTH 24.0

/* A stretch of time, on the trace's clock. */
struct weft_stripe {
	uint64_t start, end; /* ns */
};

/* The idle times of a trace that a view draws narrow. Read-only once created. */
struct weft_squeeze;

/* Stripes have one of this many sizes; see src/view/squeeze.c. */
#define WEFT_STRIPE_SIZES 16

/* A squeezed time: the time and the stripes between it and the trace's start. */
struct weft_view_squeezed {
	double between_ns;                 /* outside of the stripes */
	double stripes[WEFT_STRIPE_SIZES]; /* of each size; a fraction is part of a stripe */
};

struct weft_view {
	/* The trace: set by init. */
	uint64_t start, end; /* ns */
	uint32_t row_count;
	/* The picture's size: set by resize. */
	double width, height;
	/* The part that is shown. Times are ns from `start`. */
	double left;   /* the time at x = 0; negative in the margin */
	double scale;  /* px per ns, outside of squeezed stripes */
	double focus;  /* the row at the lens's centre; of plain rows, the one in the middle */
	bool is_plain; /* rows that do not fit are scrolled instead of compressed */
	/* The squeezed idle times, see weft_view_set_squeeze(). Borrowed. */
	const struct weft_squeeze *squeeze;
	struct weft_view_squeezed left_squeezed; /* of `left`, if there is a squeeze */
	/* Rows of unequal height under the lens, see weft_view_set_edges(). Borrowed. */
	const double *edges;
	uint32_t edge_rows; /* the rows that it was made for; others make it invalid */
	/* The row axis, derived from the other members. */
	struct weft_view_rows {
		bool are_uneven;    /* `edges` counts; depths are then not row numbers */
		double spacing;     /* px a row, where rows have full size */
		double top, bottom; /* the depths of the first and last row of full size */
		double top_y;       /* y at depth `top` */
		double above,
			below; /* how strongly rows above and below are compressed; INFINITY: not at all */
	} rows;
};

/* Shows a whole trace from `start` to `end` ns, from the first row on. */
void weft_view_init(struct weft_view *view, uint64_t start, uint64_t end, uint32_t row_count,
	double width, double height);

/* Changes the size; keeps the time at the left edge, and the focus. */
void weft_view_resize(struct weft_view *view, double width, double height);

/* Shows `duration` ns from `start` (on the trace's clock) between the margins. */
void weft_view_set_range(struct weft_view *view, uint64_t start, double duration);

/* Shows everything. */
void weft_view_fit(struct weft_view *view);

/* Chooses from idle times, in their order, those to be squeezed: those longer than five times the
 * median of them; and where only few and long ones are, those longer than five times all that is
 * not idle. `trace` is the whole trace. Idle times that touch count as one, and what is outside the
 * trace does not count. `*ret_squeeze` is NULL if none is that long. 0 or WEFT_ERROR_MEMORY. */
int weft_squeeze_create(const struct weft_stripe *idle, uint32_t count,
	const struct weft_stripe *trace, struct weft_squeeze **ret_squeeze);
void weft_squeeze_destroy(struct weft_squeeze *squeeze);

/* The number of stripes and the time in all of them. `squeeze` may be NULL. */
uint32_t weft_squeeze_count(const struct weft_squeeze *squeeze, uint64_t *ret_ns);

/* Draws the squeezed times as stripes of WEFT_STRIPE_WIDTH; narrower where their length takes less,
 * or while all stripes would take more room than what is between them. `squeeze` is of this trace,
 * is borrowed, and must outlive the view and its copies; NULL: time is linear. Keeps the time at
 * the left edge, or a view of everything. */
void weft_view_set_squeeze(struct weft_view *view, const struct weft_squeeze *squeeze);

/* Makes everything `factor` times as wide; the time at x stays at x. */
void weft_view_zoom(struct weft_view *view, double x, double factor);

/* Moves the picture by dx px to the right. */
void weft_view_pan(struct weft_view *view, double dx);

void weft_view_set_focus(struct weft_view *view, double row);

/* Moves the focus by a number of full rows. */
void weft_view_pan_rows(struct weft_view *view, double rows);

/* Chooses what happens to rows that do not all fit: false compresses them towards the edges, true
 * gives them equal height and lets them scroll. */
void weft_view_set_plain(struct weft_view *view, bool is_plain);

/* Gives rows unequal heights: row r lies between the depths edges[r] and edges[r + 1], in full
 * rows; the first row's middle is at 0. `edges` has row_count + 1 ascending values, is borrowed,
 * and must outlive the view and its copies. NULL: equal heights. Rows are also of equal height if
 * all of them fit that way, and in plain rows. */
void weft_view_set_edges(struct weft_view *view, const double *edges);

/* The rows that are visible, from first to last, with fractions. */
void weft_view_rows_seen(const struct weft_view *view, double *ret_first, double *ret_last);

/* The visible rows that are not compressed until a full row takes less than `px`; with
 * fractions. */
void weft_view_rows_spaced(
	const struct weft_view *view, double px, double *ret_first, double *ret_last);

/* Moves the focus so that `row` comes as near to y as possible. */
void weft_view_drag_row(struct weft_view *view, double row, double y);

/* The x of a time on the trace's clock; exact to a fraction of a pixel at any zoom. */
double weft_view_x(const struct weft_view *view, uint64_t time);

/* The time at x, on the trace's clock, limited to the trace. */
uint64_t weft_view_time(const struct weft_view *view, double x);

/* The y of a row, which may be a fraction. */
double weft_view_y(const struct weft_view *view, double row);

/* The row at y, as a fraction, limited to the rows that exist. */
double weft_view_row(const struct weft_view *view, double y);

/* The px from a row to the next. */
double weft_view_row_spacing(const struct weft_view *view, double row);

#ifdef __cplusplus
}
#endif
#endif
