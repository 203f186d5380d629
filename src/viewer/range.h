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
	uint64_t from, to; /* where it began and where the pointer is: in any order */
	bool is_armed;     /* the next drag chooses one */
};

/* A time near the pointer that a range or mark keeps to. */
struct weft__snap {
	bool is_set;
	uint64_t time;
};

/* range.c */
void weft__viewer_begin_range(struct weft_viewer *viewer, uint64_t time);
void weft__viewer_order_range(
	const struct weft_viewer *viewer, uint64_t *ret_start, uint64_t *ret_end);
/* Moves its end: -1 or 1. */
void weft__viewer_stretch_range(struct weft_viewer *viewer, int step);
/* The time at x, or one within 6 px that means something. */
uint64_t weft__viewer_snap(struct weft_viewer *viewer, double x, double y, bool is_free);

#endif
