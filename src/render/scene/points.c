/* SPDX-License-Identifier: ISC
 *
 * See points.h. A traversal moves all columns down the tree together: a node costs one count of
 * ones for each column that has points in it, and empty columns are dropped on the way.
 */
#include "render/scene/points.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/search.h"

/* Counts the ones of a word. Baseline x86-64 has no instruction for it, and the compiler's function
 * takes three times as long. */
static inline uint32_t count_ones(uint64_t word)
{
#if defined(__x86_64__) && !defined(__POPCNT__)
	word -= word >> 1 & UINT64_C(0x5555555555555555);
	word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
	word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
#else
	return (uint32_t)__builtin_popcountll(word);
#endif
}

/* The ones of a level before bit i. */
static inline uint32_t ones_before(const struct weft__points *points, unsigned level, uint32_t i)
{
	const struct weft__points_word *word = &points->list[level * points->words + i / 64];
	uint64_t below = (UINT64_C(1) << i % 64) - 1;
	return (uint32_t)word->ones + count_ones(word->bits & below);
}

static inline uint32_t go_down(
	const struct weft__points *points, unsigned level, bool one, uint32_t i)
{
	uint32_t ones = ones_before(points, level, i);
	return one ? points->zeros[level] + ones : i - ones;
}

/* Counts the zeros on each level in one pass, so that each level can be written and distributed in
 * one further pass. The half of the counts with a one is added to the half with a zero, so that
 * half as many are left for the next level. */
static int count_zeros(struct weft__points *points, const uint16_t *blocks)
{
	uint32_t *counts = calloc((size_t)1 << points->levels, sizeof(*counts));
	if (!counts)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < points->count; i++)
		counts[blocks[i]]++;
	for (unsigned level = 0; level < points->levels; level++) {
		uint32_t half = UINT32_C(1) << (points->levels - 1 - level);
		for (uint32_t block = 0; block < half; block++) {
			points->zeros[level] += counts[block];
			counts[block] += counts[half + block];
		}
	}
	free(counts);
	return 0;
}

/* Distributes up to 64 blocks to the zeros and the ones; returns their bits. The positions stay in
 * registers, and no branch depends on a block. */
static inline uint64_t deal_out(
	const uint16_t *from, uint32_t count, unsigned shift, uint16_t *to, size_t next[2])
{
	size_t zero = next[0], one = next[1];
	uint64_t bits = 0;
	for (uint32_t i = 0; i < count; i++) {
		size_t bit = from[i] >> shift & 1;
		bits |= (uint64_t)bit << i;
		to[bit ? one : zero] = from[i];
		one += bit;
		zero += 1 - bit;
	}
	next[0] = zero;
	next[1] = one;
	return bits;
}

/* Writes a level's bits, and its blocks to `to` in the order of the next level. */
static void make_level(
	struct weft__points *points, unsigned level, const uint16_t *from, uint16_t *to)
{
	struct weft__points_word *words = points->list + level * points->words;
	uint32_t zeros = points->zeros[level], count = points->count, first = 0;
	size_t next[2] = {0, zeros};
	for (size_t word = 0; word < points->words; word++, first += 64) {
		words[word].ones = next[1] - zeros;
		words[word].bits = deal_out(from + first, count - first < 64 ? count - first : 64,
			points->levels - 1 - level, to, next);
	}
}

int weft__render_points_init(struct weft__points *points, uint16_t *blocks, uint16_t *scratch,
	uint32_t count, unsigned levels)
{
	*points = (struct weft__points){.count = count, .levels = levels};
	points->words = count / 64 + (size_t)1; /* bit `count` itself may be asked for */
	size_t words = points->words * (levels ? levels : 1);
	points->list = malloc(words * sizeof(*points->list));
	if (!points->list || count_zeros(points, blocks))
		return WEFT_ERROR_MEMORY;
	for (unsigned level = 0; level < levels; level++) {
		make_level(points, level, blocks, scratch);
		uint16_t *swap = blocks;
		blocks = scratch;
		scratch = swap;
	}
	return 0;
}

void weft__render_points_finish(struct weft__points *points)
{
	free(points->list);
}

/* Puts blocks from the order of the next level back into the order of `level`, and adds the bits of
 * this level. */
static void undo_level(
	const struct weft__points *points, unsigned level, const uint16_t *from, uint16_t *to)
{
	const struct weft__points_word *words = points->list + level * points->words;
	unsigned shift = points->levels - 1 - level;
	size_t zero = 0, one = points->zeros[level];
	for (uint32_t i = 0; i < points->count; i++) {
		size_t bit = words[i / 64].bits >> i % 64 & 1;
		to[i] = (uint16_t)(from[bit ? one : zero] | bit << shift);
		one += bit;
		zero += 1 - bit;
	}
}

void weft__render_points_blocks(
	const struct weft__points *points, uint16_t *blocks, uint16_t *scratch)
{
	/* Each level swaps the two: start so that the last one writes to `blocks`. */
	uint16_t *from = points->levels % 2 ? scratch : blocks;
	uint16_t *to = points->levels % 2 ? blocks : scratch;
	memset(from, 0, points->count * sizeof(*from));
	for (unsigned level = points->levels; level-- > 0;) {
		undo_level(points, level, from, to);
		uint16_t *swap = from;
		from = to;
		to = swap;
	}
}

/* A node of the tree: a range of bits of its level. */
struct node {
	unsigned level;
	uint32_t block;  /* first block */
	uint32_t begin;  /* first bit */
	uint32_t before; /* bit at which its first column begins */
	uint32_t runs;   /* in runs, counts are the bits at which columns end */
};

struct walk {
	const struct weft__points *points;
	const struct weft__points_query *query;
};

static void give(
	const struct walk *w, const struct node *node, struct weft__run *runs, uint32_t range)
{
	uint32_t before = node->before;
	for (uint32_t i = 0; i < node->runs; i++) {
		uint32_t end = runs[i].count;
		runs[i].count = end - before;
		before = end;
	}
	w->query->found(w->query->context, range, node->before - node->begin, runs, node->runs);
}

static struct node child(const struct weft__points *points, const struct node *node, bool one,
	const struct weft__run *runs, struct weft__run *to)
{
	unsigned level = node->level;
	struct node half = {
		.level = level + 1,
		.block = node->block + (one ? 1u << (points->levels - 1 - level) : 0),
		.begin = go_down(points, level, one, node->begin),
		.before = go_down(points, level, one, node->before),
	};
	uint32_t before = half.before;
	for (uint32_t i = 0; i < node->runs; i++) {
		uint32_t end = go_down(points, level, one, runs[i].count);
		to[half.runs] = (struct weft__run){runs[i].column, end};
		half.runs += end != before;
		before = end;
	}
	return half;
}

/* The recursion's depth is the number of levels. `range` is a range that ends behind the node's
 * beginning. */
static void descend(
	const struct walk *w, const struct node *node, struct weft__run *runs, uint32_t range)
{
	const struct weft__points_query *q = w->query;
	uint32_t last = node->block + (1u << (w->points->levels - node->level));
	while (range < q->ranges && q->firsts[range + 1] <= node->block)
		range++;
	if (range == q->ranges || q->firsts[range] >= last ||
		(node->runs == 0 && node->before == node->begin))
		return;
	if (q->firsts[range] <= node->block && last <= q->firsts[range + 1]) {
		give(w, node, runs, range);
		return;
	}
	struct weft__run *below = runs + q->columns + 1;
	for (unsigned one = 0; one < 2; one++) {
		struct node half = child(w->points, node, one, runs, below);
		descend(w, &half, below, range);
	}
}

void weft__render_points_count(
	const struct weft__points *points, const struct weft__points_query *query)
{
	struct walk w = {points, query};
	struct node root = {.before = query->bounds[0]};
	uint32_t before = root.before;
	for (uint32_t column = 0; column < query->columns; column++) {
		uint32_t end = query->bounds[column + 1];
		query->scratch[root.runs] = (struct weft__run){column, end};
		root.runs += end != before;
		before = end;
	}
	descend(&w, &root, query->scratch, 0);
}

/* The position behind the last level of bit i of the first level, if its block were `block`. */
static uint32_t go_to_leaf(const struct weft__points *points, uint32_t block, uint32_t i)
{
	for (unsigned level = 0; level < points->levels; level++)
		i = go_down(points, level, block >> (points->levels - 1 - level) & 1, i);
	return i;
}

uint32_t weft__render_points_rank(const struct weft__points *points, uint32_t block, uint32_t rank)
{
	if (block >> points->levels)
		return 0;
	return go_to_leaf(points, block, rank) - go_to_leaf(points, block, 0);
}

static bool ones_to(const void *words, uint32_t word, uint64_t i)
{
	return ((const struct weft__points_word *)words)[word].ones <= i;
}

static bool zeros_to(const void *words, uint32_t word, uint64_t i)
{
	return word * UINT64_C(64) - ((const struct weft__points_word *)words)[word].ones <= i;
}

/* The position of the i-th one, or zero, of a level; it is in [from, to). */
static uint32_t select_bit(const struct weft__points *points, unsigned level, bool one, uint32_t i,
	uint32_t from, uint32_t to)
{
	const struct weft__points_word *words = points->list + level * points->words;
	uint32_t first = from / 64 + 1, end = (to - 1) / 64 + 1;
	uint32_t next = one ? weft__search(words, first, end, ones_to, i)
						: weft__search(words, first, end, zeros_to, i);
	uint32_t low = next - 1;
	uint64_t word = one ? words[low].bits : ~words[low].bits;
	i -= one ? (uint32_t)words[low].ones : low * 64 - (uint32_t)words[low].ones;
	for (; i > 0; i--)
		word &= word - 1;
	return low * 64 + (uint32_t)__builtin_ctzll(word);
}

void weft__render_points_path_init(
	struct weft__points_path *path, const struct weft__points *points, uint32_t block)
{
	path->points = points;
	path->block = block;
	path->first[0] = 0;
	path->last[0] = points->count;
	for (unsigned level = 0; level < points->levels; level++) {
		bool one = block >> (points->levels - 1 - level) & 1;
		path->first[level + 1] = go_down(points, level, one, path->first[level]);
		path->last[level + 1] = go_down(points, level, one, path->last[level]);
	}
}

uint32_t weft__render_points_select(const struct weft__points_path *path, uint32_t i)
{
	const struct weft__points *points = path->points;
	i += path->first[points->levels];
	for (unsigned level = points->levels; level-- > 0;) {
		bool one = path->block >> (points->levels - 1 - level) & 1;
		i = select_bit(points, level, one, one ? i - points->zeros[level] : i, path->first[level],
			path->last[level]);
	}
	return i;
}
