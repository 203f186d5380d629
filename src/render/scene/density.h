/* SPDX-License-Identifier: ISC
 *
 * Counts what lies in each pixel column of lanes that hold several rows. All tasks are counted, not
 * sampled.
 */
#ifndef WEFT_RENDER_SCENE_DENSITY_H
#define WEFT_RENDER_SCENE_DENSITY_H

#include <stdint.h>

struct painter;

struct weft__density_cell {
	uint32_t starts, lasts; /* tasks that begin, and tasks whose last instant is here */
	uint32_t failed;        /* how many of the latter failed */
	float running_ns;
};

struct weft__density {
	uint32_t columns;
	uint64_t *times;                  /* start time of each column, and the end of the last */
	uint32_t *alive;                  /* tasks alive at each lane's left edge */
	struct weft__density_cell *cells; /* by lane and column */
};

/* NULL without memory. */
struct weft__density *weft__render_density_create(const struct painter *p);
void weft__render_density_destroy(struct weft__density *density);

#endif
