/* SPDX-License-Identifier: ISC
 *
 * What lies in each pixel column of the lanes that hold several rows: counted, not sampled.
 */
#ifndef WEFT_RENDER_CROWD_H
#define WEFT_RENDER_CROWD_H

#include <stdint.h>

struct painter;

struct weft__crowd_cell {
	uint32_t starts, lasts; /* tasks that begin, and that are there for the last time */
	uint32_t failed;        /* of the latter */
	float running_ns;
};

struct weft__crowd {
	uint32_t columns;
	uint64_t *times;                /* where columns begin; one more than columns */
	uint32_t *alive;                /* by lane: at its left edge */
	struct weft__crowd_cell *cells; /* by lane and column */
};

/* NULL without memory. */
struct weft__crowd *weft__crowd_create(const struct painter *p);
void weft__crowd_destroy(struct weft__crowd *crowd);

#endif
