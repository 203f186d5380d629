/* SPDX-License-Identifier: ISC
 *
 * Counts what lies in each pixel column of lanes that hold several rows. All tasks are counted, not
 * sampled.
 */
#ifndef WEFT_RENDER_CROWD_H
#define WEFT_RENDER_CROWD_H

#include <stdint.h>

struct painter;

struct weft__crowd_cell {
	uint32_t starts, lasts; /* tasks that begin, and tasks whose last instant is here */
	uint32_t failed;        /* how many of the latter failed */
	float running_ns;
};

struct weft__crowd {
	uint32_t columns;
	uint64_t *times;                /* start time of each column, and the end of the last */
	uint32_t *alive;                /* tasks alive at each lane's left edge */
	struct weft__crowd_cell *cells; /* by lane and column */
};

/* NULL without memory. */
struct weft__crowd *weft__crowd_create(const struct painter *p);
void weft__crowd_destroy(struct weft__crowd *crowd);

#endif
