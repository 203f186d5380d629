/* SPDX-License-Identifier: ISC
 *
 * Two half-open intervals overlap if and only if the later start lies in the other one. So an
 * interval can be represented by the *starts* that lie in it: a range of ranks. A bottom-up segment
 * tree over the ranks has two masks of rows for each node. The OR over O(log n) nodes gives exactly
 * the rows that are taken in a range, for 64 rows at once:
 *
 *     contains   ·───────┬───────·     taken somewhere below: what a range that holds
 *                ·───┬───·   ·───·     the whole node must avoid
 *     covers     ·─┬─·           ·     taken all over the node: what any range that
 *                ■ ·                   touches it must avoid
 *
 * Each further page of 64 rows has a tree of its own, made when it is first needed. An interval on
 * such a page overlaps at least 64 others, so it covers about 64 starts. These trees therefore
 * round outwards to 16 starts or more: they miss a few gaps, but all of them together take less
 * memory than the first tree. Without further pages, a thousand tasks that overlap like a staircase
 * would each take a new row below the last.
 *
 * Beyond 64 pages, a single tree of the same coarseness keeps the lowest row of each range, and
 * tasks go below it.
 */
#include "layout/occupancy.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/search.h"

#define COARSE_SHIFT 4
#define PAGED_ROWS   (WEFT__PAGES_MAX * WEFT__PAGE_ROWS)

/* Chooses the step so that there are about as many steps as starts. */
static unsigned step_shift(uint64_t length, size_t count)
{
	unsigned shift = 0;
	while (shift < 63 && length >> shift > count)
		shift++;
	return shift;
}

int weft__layout_occupancy_init(
	struct weft__occupancy *occupancy, uint64_t *starts, size_t start_count)
{
	*occupancy = (struct weft__occupancy){.starts = starts, .start_count = start_count};
	if (start_count == 0)
		return 0;
	uint64_t first = starts[0], length = starts[start_count - 1] - first;
	occupancy->jump_shift = step_shift(length, start_count);
	occupancy->jump_count = (size_t)(length >> occupancy->jump_shift) + 1;
	occupancy->jumps = malloc((occupancy->jump_count + 1) * sizeof(*occupancy->jumps));
	if (!occupancy->jumps)
		return WEFT_ERROR_MEMORY;
	size_t rank = 0;
	for (size_t step = 0; step < occupancy->jump_count; step++) {
		while (starts[rank] - first < (uint64_t)step << occupancy->jump_shift)
			rank++;
		occupancy->jumps[step] = (uint32_t)rank;
	}
	occupancy->jumps[occupancy->jump_count] = (uint32_t)start_count;
	return 0;
}

/* The number of starts before `time`: usually the first or second guess is right. */
static size_t rank_of(const struct weft__occupancy *occupancy, uint64_t time)
{
	const uint64_t *starts = occupancy->starts;
	if (time <= starts[0])
		return 0;
	uint64_t step = (time - starts[0]) >> occupancy->jump_shift;
	if (step >= occupancy->jump_count)
		return occupancy->start_count;
	size_t first = occupancy->jumps[step], last = occupancy->jumps[step + 1];
	return first + weft__lower_bound_u64(starts + first, last - first, time);
}

void weft__layout_occupancy_finish(struct weft__occupancy *occupancy)
{
	for (unsigned page = 0; page < WEFT__PAGES_MAX; page++)
		free(occupancy->pages[page].covers); /* `contains` is the last third of the allocation */
	free(occupancy->lowest);
	free(occupancy->jumps);
	free(occupancy->starts);
	*occupancy = (struct weft__occupancy){0};
}

/* An interval on page n overlaps 64 n others, so rounding to 16 n starts costs little. */
static unsigned page_shift(unsigned page)
{
	unsigned shift = 0;
	for (; page > 0; page /= 2)
		shift++;
	return shift ? COARSE_SHIFT + shift - 1 : 0;
}

static size_t leaf_count(const struct weft__occupancy *occupancy, unsigned shift)
{
	return ((occupancy->start_count - 1) >> shift) + 1;
}

static struct weft__ranks coarse(struct weft__ranks ranks, unsigned shift)
{
	return (struct weft__ranks){ranks.begin >> shift, ((ranks.end - 1) >> shift) + 1};
}

/* A leaf that is taken is taken completely, so `contains` has only inner nodes. */
static uint64_t *contained(const struct weft__page *page, size_t leaves, size_t node)
{
	return node < leaves ? &page->contains[node] : &page->covers[node];
}

/* The rows of a page that are taken anywhere in a range of leaves. */
static uint64_t taken_rows(const struct weft__page *page, size_t leaves, struct weft__ranks range)
{
	uint64_t taken = 0;
	size_t left = range.begin + leaves, right = range.end + leaves;
	for (size_t up = left, other = right - 1; up > 0; up >>= 1) {
		for (; other > up; other >>= 1)
			taken |= page->covers[other];
		other = other == up ? 0 : other; /* the rest of the way is one */
		taken |= page->covers[up];
	}
	for (; left < right; left >>= 1, right >>= 1) {
		if (left & 1)
			taken |= *contained(page, leaves, left++);
		if (right & 1)
			taken |= *contained(page, leaves, --right);
	}
	return taken;
}

/* Sets a bit in `contains` of all ancestors of a node. */
static void contain_upwards(struct weft__page *page, size_t leaves, size_t node, uint64_t bit)
{
	for (; node > 0 && !(*contained(page, leaves, node) & bit); node >>= 1)
		*contained(page, leaves, node) |= bit;
}

static void take_row(struct weft__page *page, size_t leaves, struct weft__ranks range, unsigned row)
{
	uint64_t bit = UINT64_C(1) << row;
	size_t left = range.begin + leaves, right = range.end + leaves;
	contain_upwards(page, leaves, left, bit);
	contain_upwards(page, leaves, right - 1, bit);
	for (; left < right; left >>= 1, right >>= 1) {
		if (left & 1) {
			*contained(page, leaves, left) |= bit;
			page->covers[left++] |= bit;
		}
		if (right & 1) {
			*contained(page, leaves, --right) |= bit;
			page->covers[right] |= bit;
		}
	}
}

/* 1 + the lowest row beyond the pages that is taken anywhere in the range; or 0. */
static uint32_t lowest_taken(const struct weft__occupancy *occupancy, struct weft__ranks ranks)
{
	ranks = coarse(ranks, COARSE_SHIFT);
	size_t leaves = leaf_count(occupancy, COARSE_SHIFT);
	const uint32_t *covers = occupancy->lowest, *contains = covers + 2 * leaves;
	size_t left = ranks.begin + leaves, right = ranks.end + leaves;
	uint32_t lowest = 0;
	for (size_t up = left, other = right - 1; up > 0; up >>= 1) {
		for (; other > up; other >>= 1)
			lowest = covers[other] > lowest ? covers[other] : lowest;
		other = other == up ? 0 : other; /* the rest of the way is one */
		lowest = covers[up] > lowest ? covers[up] : lowest;
	}
	for (; left < right; left >>= 1, right >>= 1) {
		if (left & 1) {
			lowest = contains[left] > lowest ? contains[left] : lowest;
			left++;
		}
		if (right & 1) {
			right--;
			lowest = contains[right] > lowest ? contains[right] : lowest;
		}
	}
	return lowest;
}

static void raise(uint32_t *value, uint32_t to)
{
	if (*value < to)
		*value = to;
}

/* Raises the values of all ancestors of a node. */
static void raise_upwards(uint32_t *contains, size_t node, uint32_t to)
{
	for (; node > 0 && contains[node] < to; node >>= 1)
		contains[node] = to;
}

static void take_lowest(struct weft__occupancy *occupancy, struct weft__ranks ranks, uint32_t row)
{
	ranks = coarse(ranks, COARSE_SHIFT);
	size_t leaves = leaf_count(occupancy, COARSE_SHIFT);
	uint32_t *covers = occupancy->lowest, *contains = covers + 2 * leaves;
	size_t left = ranks.begin + leaves, right = ranks.end + leaves;
	raise_upwards(contains, left, row + 1);
	raise_upwards(contains, right - 1, row + 1);
	for (; left < right; left >>= 1, right >>= 1) {
		if (left & 1) {
			raise(&contains[left], row + 1);
			raise(&covers[left++], row + 1);
		}
		if (right & 1) {
			raise(&contains[--right], row + 1);
			raise(&covers[right], row + 1);
		}
	}
}

static int make_page(struct weft__occupancy *occupancy, unsigned index)
{
	struct weft__page *page = &occupancy->pages[index];
	size_t leaves = leaf_count(occupancy, page_shift(index));
	page->covers = calloc(leaves, 3 * sizeof(*page->covers));
	if (!page->covers)
		return WEFT_ERROR_MEMORY;
	page->contains = page->covers + 2 * leaves;
	return 0;
}

/* The first free row of a page from `from` on, or WEFT__PAGE_ROWS. */
static unsigned free_row_of_page(
	const struct weft__occupancy *occupancy, unsigned page, struct weft__ranks ranks, unsigned from)
{
	unsigned shift = page_shift(page);
	if (!occupancy->pages[page].covers)
		return from;
	uint64_t free_rows =
		~taken_rows(&occupancy->pages[page], leaf_count(occupancy, shift), coarse(ranks, shift)) &
		~UINT64_C(0) << from;
	return free_rows ? (unsigned)__builtin_ctzll(free_rows) : WEFT__PAGE_ROWS;
}

static uint32_t first_free_row(
	const struct weft__occupancy *occupancy, struct weft__ranks ranks, uint32_t from)
{
	for (uint32_t page = from / WEFT__PAGE_ROWS; page < WEFT__PAGES_MAX; page++) {
		unsigned row = free_row_of_page(occupancy, page, ranks, from % WEFT__PAGE_ROWS);
		if (row < WEFT__PAGE_ROWS)
			return page * WEFT__PAGE_ROWS + row;
		from = 0;
	}
	if (from < PAGED_ROWS)
		from = PAGED_ROWS;
	uint32_t below = occupancy->lowest ? lowest_taken(occupancy, ranks) : 0;
	if (below < occupancy->lowest_always)
		below = occupancy->lowest_always;
	return below > from ? below : from;
}

static int mark(struct weft__occupancy *occupancy, struct weft__ranks ranks, uint32_t row)
{
	unsigned page = row / WEFT__PAGE_ROWS;
	if (row >= PAGED_ROWS) {
		if (!occupancy->lowest)
			occupancy->lowest =
				calloc(leaf_count(occupancy, COARSE_SHIFT), 4 * sizeof(*occupancy->lowest));
		if (!occupancy->lowest)
			return WEFT_ERROR_MEMORY;
		take_lowest(occupancy, ranks, row);
		return 0;
	}
	if (!occupancy->pages[page].covers && make_page(occupancy, page))
		return WEFT_ERROR_MEMORY;
	unsigned shift = page_shift(page);
	take_row(&occupancy->pages[page], leaf_count(occupancy, shift), coarse(ranks, shift),
		row % WEFT__PAGE_ROWS);
	return 0;
}

struct weft__ranks weft__layout_occupancy_ranks(
	const struct weft__occupancy *occupancy, uint64_t start, uint64_t end)
{
	struct weft__ranks ranks = {
		rank_of(occupancy, start),
		rank_of(occupancy, end),
	};
	if (ranks.end <= ranks.begin)
		ranks.end = ranks.begin + 1; /* at the end of the 64-bit range */
	return ranks;
}

int weft__layout_occupancy_take(
	struct weft__occupancy *occupancy, struct weft__ranks ranks, uint32_t from, uint32_t *ret_row)
{
	uint32_t row = first_free_row(occupancy, ranks, from);
	int error = mark(occupancy, ranks, row);
	if (error)
		return error;
	if (row >= occupancy->row_count)
		occupancy->row_count = row + 1;
	*ret_row = row;
	return 0;
}

int weft__layout_occupancy_try(
	struct weft__occupancy *occupancy, struct weft__ranks ranks, uint32_t row, bool *ret_taken)
{
	*ret_taken = first_free_row(occupancy, ranks, row) == row;
	return *ret_taken ? mark(occupancy, ranks, row) : 0;
}

int weft__layout_occupancy_hold(
	struct weft__occupancy *occupancy, struct weft__ranks ranks, uint32_t row)
{
	if (row >= occupancy->row_count)
		occupancy->row_count = row + 1;
	return mark(occupancy, ranks, row);
}

int weft__layout_occupancy_hold_always(struct weft__occupancy *occupancy, uint32_t row)
{
	const struct weft__ranks all = {0, occupancy->start_count};
	unsigned page = row / WEFT__PAGE_ROWS;
	if (row < PAGED_ROWS && !occupancy->pages[page].covers)
		return weft__layout_occupancy_hold(occupancy, all, row);
	if (row >= occupancy->row_count)
		occupancy->row_count = row + 1;
	if (row >= PAGED_ROWS) {
		raise(&occupancy->lowest_always, row + 1);
		return 0;
	}
	/* The root is part of each way up, so that the other nodes need not know. */
	occupancy->pages[page].covers[1] |= UINT64_C(1) << row % WEFT__PAGE_ROWS;
	return 0;
}
