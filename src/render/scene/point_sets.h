/* SPDX-License-Identifier: ISC
 *
 * Sets of points that grow: each point has a key (its time in ticks, or its number) and a block of
 * rows. A set is a few parts, which never change and are shared by the scenes of a growing trace,
 * so that a scene only makes a part of the new points. Counts in a set are sums over its parts.
 *
 * A new part is merged with the ones before it when four are of about its size or smaller (the
 * logarithmic method of Bentley and Saxe, with four parts to a level). So a set has few parts, and
 * a point is copied only a few times however large the set becomes.
 */
#ifndef WEFT_RENDER_POINT_SETS_H
#define WEFT_RENDER_POINT_SETS_H

#include <stdatomic.h>

#include "base/sort.h"
#include "render/scene/points.h"

/* Enough for 2^32 points: three parts of each of 12 ranks, see rank_of(). */
#define WEFT__POINT_PARTS 36

/* Points in the order of their keys. */
struct weft__point_part {
	atomic_uint holders;
	struct weft__points points;
	uint32_t *keys; /* NULL: the keys are first, first + 1, … */
	uint32_t first; /* the lowest key */
	/* The first point in each slice of 1 << slice_bits keys from the lowest one on; the last slice
	 * has all later points. */
	uint32_t *slices, slice_count;
	unsigned slice_bits;
};

struct weft__point_set {
	struct weft__point_part *parts[WEFT__POINT_PARTS];
	unsigned count;
};

/* Adds points to a set; block numbers are below 1 << levels. Keys are sorted by their bits from
 * `low_bit` on (32: they are in order). Takes the ownership of both columns of `points`, which must
 * come from malloc. 0 or WEFT_ERROR_MEMORY; the set is then unchanged. */
int weft__render_point_set_add(struct weft__point_set *set, struct weft__pairs points,
	uint32_t count, unsigned low_bit, unsigned levels);

/* The same for points with the keys first, first + 1, …, which must be beyond those of the set, as
 * must those of later calls. */
int weft__render_point_set_append(
	struct weft__point_set *set, uint16_t *blocks, uint32_t first, uint32_t count, unsigned levels);

/* Makes `to`, which is empty, share the parts of a set. */
void weft__render_point_set_share(const struct weft__point_set *set, struct weft__point_set *to);
void weft__render_point_set_finish(struct weft__point_set *set);

/* The number of points with a key below `key`. */
uint32_t weft__render_point_part_from(const struct weft__point_part *part, uint32_t key);
uint32_t weft__render_point_set_from(const struct weft__point_set *set, uint32_t key);

/* See weft__render_points_count(): counts the points of all parts. `query` has no bounds; `keys`
 * are those at which columns begin, and `bounds` has room for as many numbers. */
void weft__render_point_set_count(const struct weft__point_set *set, const uint32_t *keys,
	uint32_t *bounds, struct weft__points_query query);

#endif
