/* SPDX-License-Identifier: ISC
 *
 * See point_sets.h. A part is made from its points alone, so that merging needs neither model nor
 * layout: the blocks of a part are read back from its wavelet matrix.
 */
#include "render/scene/point_sets.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/search.h"

#define RATIO        8
#define SLICE_POINTS 16
#define SLICES_MAX   65536

uint32_t weft__render_point_part_from(const struct weft__point_part *part, uint32_t key)
{
	uint32_t above = key > part->first ? key - part->first : 0;
	if (!part->keys)
		return above < part->points.count ? above : part->points.count;
	uint32_t slice = above >> part->slice_bits, last = part->slice_count - 1;
	if (slice > last)
		slice = last;
	uint32_t end = slice < last ? part->slices[slice + 1] : part->points.count;
	return weft__search_flat(part->keys, part->slices[slice], end, weft__is_less_u32, key);
}

uint32_t weft__render_point_set_from(const struct weft__point_set *set, uint32_t key)
{
	uint32_t count = 0;
	for (unsigned i = 0; i < set->count; i++)
		count += weft__render_point_part_from(set->parts[i], key);
	return count;
}

void weft__render_point_set_count(const struct weft__point_set *set, const uint32_t *keys,
	uint32_t *bounds, struct weft__points_query query)
{
	query.bounds = bounds;
	for (unsigned i = 0; i < set->count; i++) {
		for (uint32_t column = 0; column <= query.columns; column++)
			bounds[column] = weft__render_point_part_from(set->parts[i], keys[column]);
		weft__render_points_count(&set->parts[i]->points, &query);
	}
}

static void let_go(struct weft__point_part *part)
{
	if (!part || atomic_fetch_sub(&part->holders, 1) > 1)
		return;
	weft__render_points_finish(&part->points);
	free(part->keys);
	free(part->slices);
	free(part);
}

void weft__render_point_set_share(const struct weft__point_set *set, struct weft__point_set *to)
{
	*to = *set;
	for (unsigned i = 0; i < set->count; i++)
		atomic_fetch_add(&set->parts[i]->holders, 1);
}

void weft__render_point_set_finish(struct weft__point_set *set)
{
	while (set->count > 0)
		let_go(set->parts[--set->count]);
}

/* Makes an index of slices; a slice has several points, so that the index is small. */
static int make_slices(struct weft__point_part *part)
{
	uint32_t count = part->points.count, used = 0, *keys = part->keys;
	uint32_t length = keys[count - 1] - keys[0], most = count / SLICE_POINTS + 2;
	if (most > SLICES_MAX)
		most = SLICES_MAX;
	while (length >> part->slice_bits >= most)
		part->slice_bits++;
	part->slice_count = (length >> part->slice_bits) + 1;
	part->slices = malloc(part->slice_count * sizeof(*part->slices));
	if (!part->slices)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		while (used < part->slice_count && used <= (keys[i] - keys[0]) >> part->slice_bits)
			part->slices[used++] = i;
	return 0;
}

/* The data from which make_part() makes a part. */
struct ingredients {
	struct weft__pairs points; /* keys NULL: first, first + 1, … */
	uint32_t first, count;
	unsigned low_bit, levels;
};

static int sort(const struct ingredients *from, uint16_t *scratch)
{
	struct weft__pairs other = {NULL, scratch};
	if (!from->points.keys || from->low_bit == 32)
		return 0;
	other.keys = malloc(from->count * sizeof(*other.keys));
	if (!other.keys)
		return WEFT_ERROR_MEMORY;
	weft__sort_pairs(from->points, other, from->count, from->low_bit);
	free(other.keys);
	return 0;
}

/* Sorts the points and makes the wavelet matrix; frees the blocks. */
static int init_points(struct weft__points *points, const struct ingredients *from)
{
	uint16_t *scratch = malloc(from->count * sizeof(*scratch));
	int error = scratch ? sort(from, scratch) : WEFT_ERROR_MEMORY;
	if (!error)
		error = weft__render_points_init(
			points, from->points.values, scratch, from->count, from->levels);
	free(scratch);
	free(from->points.values);
	return error;
}

/* Uses up the ingredients, of which there must be some. NULL without memory. */
static struct weft__point_part *make_part(const struct ingredients *from)
{
	struct weft__points points = {0};
	int error = init_points(&points, from);
	struct weft__point_part *part = calloc(1, sizeof(*part));
	if (!part) {
		weft__render_points_finish(&points);
		free(from->points.keys);
		return NULL;
	}
	atomic_init(&part->holders, 1);
	part->points = points;
	part->keys = from->points.keys;
	part->first = from->first;
	if (!error && part->keys) {
		part->first = part->keys[0];
		error = make_slices(part);
	}
	if (!error)
		return part;
	let_go(part);
	return NULL;
}

/* Merges two parts by their keys. `blocks` are the blocks of `a`, then those of `b`. */
static void merge_by_key(const struct weft__point_part *a, const struct weft__point_part *b,
	const uint16_t *blocks, struct weft__pairs to)
{
	uint32_t i = 0, j = 0, a_count = a->points.count, b_count = b->points.count;
	for (uint32_t at = 0; at < a_count + b_count; at++) {
		bool is_of_a = j == b_count || (i < a_count && a->keys[i] <= b->keys[j]);
		to.values[at] = blocks[is_of_a ? i : a_count + j];
		to.keys[at] = is_of_a ? a->keys[i++] : b->keys[j++];
	}
}

/* The points of two parts as one; `b` follows `a` in their set. NULL without memory. */
static struct weft__point_part *merge(
	const struct weft__point_part *a, const struct weft__point_part *b, unsigned levels)
{
	uint32_t a_count = a->points.count, count = a_count + b->points.count;
	struct ingredients both = {{NULL, NULL}, a->first, count, 32, levels};
	uint16_t *blocks = malloc(count * sizeof(*blocks)), *other = malloc(count * sizeof(*other));
	uint32_t *keys = a->keys ? malloc(count * sizeof(*keys)) : NULL;
	if (!blocks || !other || (a->keys && !keys)) {
		free(blocks);
		free(other);
		free(keys);
		return NULL;
	}
	weft__render_points_blocks(&a->points, blocks, other);
	weft__render_points_blocks(&b->points, blocks + a_count, other);
	if (keys)
		merge_by_key(a, b, blocks, (struct weft__pairs){keys, other});
	both.points = (struct weft__pairs){keys, keys ? other : blocks};
	free(keys ? blocks : other);
	return make_part(&both);
}

/* Adds a part, NULL if there was no memory for it, and merges it with those that are not RATIO
 * times as large. */
static int add_part(struct weft__point_set *set, struct weft__point_part *part, unsigned levels)
{
	unsigned kept = set->count;
	while (part && kept > 0 && set->parts[kept - 1]->points.count / RATIO < part->points.count) {
		struct weft__point_part *merged = merge(set->parts[--kept], part, levels);
		let_go(part);
		part = merged;
	}
	if (!part)
		return WEFT_ERROR_MEMORY;
	while (set->count > kept)
		let_go(set->parts[--set->count]);
	set->parts[set->count++] = part;
	return 0;
}

static int add_points(struct weft__point_set *set, const struct ingredients *points)
{
	if (points->count > 0)
		return add_part(set, make_part(points), points->levels);
	free(points->points.keys);
	free(points->points.values);
	return 0;
}

int weft__render_point_set_add(struct weft__point_set *set, struct weft__pairs points,
	uint32_t count, unsigned low_bit, unsigned levels)
{
	return add_points(set, &(struct ingredients){points, 0, count, low_bit, levels});
}

int weft__render_point_set_append(
	struct weft__point_set *set, uint16_t *blocks, uint32_t first, uint32_t count, unsigned levels)
{
	return add_points(set, &(struct ingredients){{NULL, blocks}, first, count, 32, levels});
}
