/* SPDX-License-Identifier: ISC
 *
 * A chosen range of time.
 */
#ifndef WEFT_VIEWER_RANGE_H
#define WEFT_VIEWER_RANGE_H

#include <weft/viewer.h>

struct weft_viewer;

struct weft__range {
	bool is_set;
	uint64_t from, to; /* the times at which the drag began and is now, in either order */
	bool is_armed;     /* the next drag chooses a range */
};

/* A time near the pointer that a range or bookmark snaps to. */
struct weft__snap {
	bool is_set;
	uint64_t time;
};

/* range.c */
void weft__viewer_begin_range(struct weft_viewer *viewer, uint64_t time);
void weft__viewer_choose_range(struct weft_viewer *viewer, uint64_t from, uint64_t to);
void weft__viewer_order_range(
	const struct weft_viewer *viewer, uint64_t *ret_start, uint64_t *ret_end);
/* Moves the end of the range by a step: -1 or 1. */
void weft__viewer_stretch_range(struct weft_viewer *viewer, int step);
/* The time at x, or the time of an event or task end within 6 px unless `is_free`. */
uint64_t weft__viewer_snap(struct weft_viewer *viewer, double x, double y, bool is_free);

#endif
