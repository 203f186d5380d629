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

#define RATIO        4
#define SMALLEST     1024 /* points; smaller parts are of equal rank */
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

/* Points that become a part, in the order of their keys. */
struct ingredients {
	struct weft__pairs points; /* keys NULL: first, first + 1, … */
	uint32_t first, count;
};

static void free_ingredients(struct ingredients *from)
{
	free(from->points.keys);
	free(from->points.values);
}

static int sort(const struct ingredients *from, unsigned low_bit)
{
	struct weft__pairs other = {NULL, NULL};
	if (!from->points.keys || low_bit == 32)
		return 0;
	other.keys = malloc(from->count * sizeof(*other.keys));
	other.values = malloc(from->count * sizeof(*other.values));
	bool complete = other.keys && other.values;
	if (complete)
		weft__sort_pairs(from->points, other, from->count, low_bit);
	free(other.keys);
	free(other.values);
	return complete ? 0 : WEFT_ERROR_MEMORY;
}

/* Makes the wavelet matrix; frees the blocks. */
static int init_points(struct weft__points *points, const struct ingredients *from, unsigned levels)
{
	uint16_t *scratch = malloc(from->count * sizeof(*scratch));
	int error = scratch ? weft__render_points_init(
							  points, from->points.values, scratch, from->count, levels)
						: WEFT_ERROR_MEMORY;
	free(scratch);
	free(from->points.values);
	return error;
}

/* Uses up the ingredients, of which there must be some. NULL without memory. */
static struct weft__point_part *make_part(const struct ingredients *from, unsigned levels)
{
	struct weft__points points = {0};
	int error = init_points(&points, from, levels);
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

/* Merges a part, whose blocks are `blocks`, with later points by their keys. */
static void merge_by_key(const struct weft__point_part *a, const uint16_t *blocks,
	const struct ingredients *b, struct weft__pairs to)
{
	uint32_t i = 0, j = 0, a_count = a->points.count;
	for (uint32_t at = 0; at < a_count + b->count; at++) {
		bool is_of_a = j == b->count || (i < a_count && a->keys[i] <= b->points.keys[j]);
		to.values[at] = is_of_a ? blocks[i] : b->points.values[j];
		to.keys[at] = is_of_a ? a->keys[i++] : b->points.keys[j++];
	}
}

/* Adds the points of the part before them in their set. WEFT_ERROR_MEMORY: nothing has changed. */
static int add_earlier(struct ingredients *to, const struct weft__point_part *part)
{
	uint32_t old = part->points.count, count = old + to->count;
	uint16_t *blocks = malloc(count * sizeof(*blocks)), *other = malloc(old * sizeof(*other));
	uint32_t *keys = part->keys ? malloc(count * sizeof(*keys)) : NULL;
	if (!blocks || !other || (part->keys && !keys)) {
		free(blocks);
		free(other);
		free(keys);
		return WEFT_ERROR_MEMORY;
	}
	if (keys) {
		weft__render_points_blocks(&part->points, other, blocks);
		merge_by_key(part, other, to, (struct weft__pairs){keys, blocks});
	} else {
		weft__render_points_blocks(&part->points, blocks, other);
		memcpy(blocks + old, to->points.values, to->count * sizeof(*blocks));
	}
	free(other);
	free_ingredients(to);
	*to = (struct ingredients){{keys, blocks}, part->first, count};
	return 0;
}

/* Parts of a rank are up to RATIO times as large as those of the one below it. */
static unsigned rank_of(uint32_t count)
{
	unsigned rank = 0;
	for (count /= SMALLEST; count > 0; count /= RATIO)
		rank++;
	return rank;
}

/* The parts of a set that stay as they are if points of a rank are added. */
static unsigned count_kept(const struct weft__point_set *set, unsigned parts, unsigned rank)
{
	unsigned kept = parts;
	while (kept > 0 && rank_of(set->parts[kept - 1]->points.count) <= rank)
		kept--;
	return parts - kept < RATIO - 1 ? parts : kept;
}

/* Adds a part with these points, and those of the last parts if there are enough of their rank. */
static int add_points(
	struct weft__point_set *set, struct ingredients points, unsigned low_bit, unsigned levels)
{
	struct weft__point_part *part = NULL;
	unsigned kept = set->count, keep;
	int error = sort(&points, low_bit);
	while (
		points.count > 0 && !error && (keep = count_kept(set, kept, rank_of(points.count))) < kept)
		while (kept > keep && !error)
			error = add_earlier(&points, set->parts[--kept]);
	if (error || points.count == 0) {
		free_ingredients(&points);
		return error;
	}
	part = make_part(&points, levels);
	if (!part)
		return WEFT_ERROR_MEMORY;
	while (set->count > kept)
		let_go(set->parts[--set->count]);
	set->parts[set->count++] = part;
	return 0;
}

int weft__render_point_set_add(struct weft__point_set *set, struct weft__pairs points,
	uint32_t count, unsigned low_bit, unsigned levels)
{
	return add_points(set, (struct ingredients){points, 0, count}, low_bit, levels);
}

int weft__render_point_set_append(
	struct weft__point_set *set, uint16_t *blocks, uint32_t first, uint32_t count, unsigned levels)
{
	return add_points(set, (struct ingredients){{NULL, blocks}, first, count}, 32, levels);
}
