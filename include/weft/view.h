/* SPDX-License-Identifier: ISC
 *
 * Which part of a trace is looked at: the arithmetic between time and x, and between row and y.
 *
 * A view is a plain value: copy it, compare it, keep a history of it. Every function leaves it
 * within the trace, whatever it was asked for. The rules are docs/model.md's, *Time axis* and *Row
 * axis*. Nothing here allocates.
 */
#ifndef WEFT_VIEW_H
#define WEFT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room at both ends of the time axis, and above the first and below the last row, in px. */
#define WEFT_VIEW_MARGIN     20.0
#define WEFT_VIEW_ROW_MARGIN 34.0

/* A row at full size, and at most. */
#define WEFT_VIEW_ROW_HEIGHT     28.0
#define WEFT_VIEW_ROW_HEIGHT_MAX 56.0

struct weft_view {
	/* What there is: set by init. */
	uint64_t start, end; /* of the trace, ns */
	uint32_t row_count;
	/* Where it is shown: set by resize. */
	double width, height;
	/* What is shown. Times are ns from `start`. */
	double left;   /* the time at x = 0; negative in the margin */
	double scale;  /* px per ns */
	double focus;  /* the row that a lens is centred on; of plain rows, the one in the middle */
	bool is_plain; /* rows that do not fit are scrolled instead of compressed */
	/* The row axis, as the rest makes it. */
	struct weft_view_rows {
		double spacing;      /* px a row, where rows have their full size */
		double top, bottom;  /* the first and last row that have it */
		double top_y;        /* y of row `top` */
		double above, below; /* how strongly the rest is compressed; INFINITY: not at all */
	} rows;
};

/* Shows all of a trace that lies from `start` to `end` ns, from the first row on. */
void weft_view_init(struct weft_view *view, uint64_t start, uint64_t end, uint32_t row_count,
	double width, double height);

/* Keeps the time at the left edge, and the focus. */
void weft_view_resize(struct weft_view *view, double width, double height);

/* Shows `duration` ns from `start` (on the trace's clock) between the margins. */
void weft_view_set_range(struct weft_view *view, uint64_t start, double duration);

/* Shows everything. */
void weft_view_fit(struct weft_view *view);

/* Makes everything `factor` times as wide; the time at x stays there. */
void weft_view_zoom(struct weft_view *view, double x, double factor);

/* Moves the picture by dx px to the right. */
void weft_view_pan(struct weft_view *view, double dx);

void weft_view_set_focus(struct weft_view *view, double row);

/* Rows that do not all fit: compressed towards the edges, or of equal height and scrolled. */
void weft_view_set_plain(struct weft_view *view, bool is_plain);

/* Which rows are seen, from the first to the last: fractions of them count. */
void weft_view_rows_seen(const struct weft_view *view, double *ret_first, double *ret_last);

/* Moves the focus so that `row` comes to y, as far as rows go. */
void weft_view_drag_row(struct weft_view *view, double row, double y);

/* x of a time on the trace's clock; exact to a fraction of a pixel at any zoom. */
double weft_view_x(const struct weft_view *view, uint64_t time);

/* The time at x, on the trace's clock, between the trace's start and end. */
uint64_t weft_view_time(const struct weft_view *view, double x);

/* y of a row; rows between two rows are allowed. */
double weft_view_y(const struct weft_view *view, double row);

/* The row at y, between the first and the last. */
double weft_view_row(const struct weft_view *view, double y);

/* px from a row to the next one. */
double weft_view_row_spacing(const struct weft_view *view, double row);

#ifdef __cplusplus
}
#endif
#endif
