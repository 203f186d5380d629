/* SPDX-License-Identifier: ISC
 *
 * The pointer or the fingers, and what they drag.
 */
#ifndef WEFT_VIEWER_POINTER_H
#define WEFT_VIEWER_POINTER_H

#include <weft/viewer.h>

#include "render/strip.h"

struct weft_viewer;

enum weft__drag {
	WEFT__DRAG_NONE,
	WEFT__DRAG_PRESSED, /* may still become a click */
	WEFT__DRAG_GRAB,
	WEFT__DRAG_RANGE,
	WEFT__DRAG_ROWS,   /* the scroll bar of plain rows */
	WEFT__DRAG_LANE,   /* the lower edge of a counter's lane */
	WEFT__DRAG_WINDOW, /* the view's window in the overview */
	WEFT__DRAG_WINDOW_START,
	WEFT__DRAG_WINDOW_END,
	WEFT__DRAG_STRIP_RANGE,
	WEFT__DRAG_FLAME, /* a click, or scrolls the flame graph */
	WEFT__DRAG_BUTTON,
	WEFT__DRAG_STATUS,
	WEFT__DRAG_PINCH,
	WEFT__DRAG_HOVER, /* after a long press */
	WEFT__DRAG_OVER,  /* until the last finger is lifted */
};

struct weft__finger {
	uint32_t id;
	double x, y;
};

struct weft__pointer {
	bool is_inside, is_touch;
	double x, y;
	unsigned modifiers;
	enum weft__drag drag;
	struct weft__finger fingers[2];
	unsigned finger_count;
	double press_x, press_y, long_ms; /* long_ms: when the press becomes a long one */
	double held_ns, held_row;         /* the grabbed point; ns from the trace's start */
	double held_x;                    /* px from the left edge of the grabbed window */
	double speed_x, speed_y, moved_ms;
	double click_x, click_y, click_ms; /* the last click */
	bool click_folded;                 /* the last click folded or unfolded something */
	unsigned button;                   /* the pressed button of the toolbar */
	unsigned lane;                     /* the lane whose edge is dragged, from 1 on */
};

/* pointer.c, overview.c */
void weft__viewer_advance_pointer(struct weft_viewer *viewer);
double weft__viewer_pointer_due(const struct weft_viewer *viewer);
void weft__viewer_press_strip(struct weft_viewer *viewer, double x);
void weft__viewer_drag_strip(struct weft_viewer *viewer, double x);
void weft__viewer_cancel_drag(struct weft_viewer *viewer);
enum weft__drag weft__viewer_strip_part(const struct weft_viewer *viewer, double x);
struct weft__strip weft__viewer_strip(const struct weft_viewer *viewer);
struct weft_box weft__viewer_rows_bar(const struct weft_viewer *viewer);

#endif
