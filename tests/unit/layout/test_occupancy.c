/* SPDX-License-Identifier: ISC
 *
 * Free rows: compared with a look at all intervals that were placed before.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "layout/occupancy.h"

#define PAGED (WEFT__PAGES_MAX * WEFT__PAGE_ROWS)

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

struct placed {
	struct weft__ranks ranks;
	uint32_t row;
};

/* The same as an occupancy, but a list. */
struct naive {
	struct placed *list;
	uint32_t count;
	uint32_t *head, *next; /* intervals by row */
};

#define INTERVALS 5400
#define ROWS      (INTERVALS + PAGED + 1)

static void naive_init(struct naive *n)
{
	n->count = 0;
	n->list = calloc(INTERVALS, sizeof(*n->list));
	n->next = calloc(INTERVALS, sizeof(*n->next));
	n->head = malloc(ROWS * sizeof(*n->head));
	memset(n->head, 0xff, ROWS * sizeof(*n->head));
}

static void naive_finish(struct naive *n)
{
	free(n->list);
	free(n->next);
	free(n->head);
}

static void naive_add(struct naive *n, struct weft__ranks ranks, uint32_t row)
{
	n->list[n->count] = (struct placed){ranks, row};
	n->next[n->count] = n->head[row];
	n->head[row] = n->count++;
}

/* Rows of the first page are exact; the others round ranks outwards: 16 in the second page, 32 in
 * the next two, and so on; 16 beyond the pages. */
static unsigned shift_of(uint32_t row)
{
	unsigned shift = 4;
	if (row < WEFT__PAGE_ROWS)
		return 0;
	for (uint32_t page = row / WEFT__PAGE_ROWS; row < PAGED && page > 1; page /= 2)
		shift++;
	return shift;
}

static bool overlap(struct weft__ranks a, struct weft__ranks b, unsigned shift)
{
	return a.begin >> shift <= (b.end - 1) >> shift && b.begin >> shift <= (a.end - 1) >> shift;
}

static bool is_free(const struct naive *n, struct weft__ranks ranks, uint32_t row)
{
	for (uint32_t i = n->head[row]; i != UINT32_MAX; i = n->next[i])
		if (overlap(n->list[i].ranks, ranks, shift_of(row)))
			return false;
	return true;
}

static uint32_t naive_row(const struct naive *n, struct weft__ranks ranks, uint32_t from)
{
	while (from < PAGED && !is_free(n, ranks, from))
		from++;
	if (from < PAGED)
		return from;
	for (uint32_t i = 0; i < n->count; i++)
		if (n->list[i].row >= from && overlap(n->list[i].ranks, ranks, shift_of(PAGED)))
			from = n->list[i].row + 1;
	return from;
}

/* Distinct starts, in order. */
static uint64_t *random_starts(size_t count, uint32_t step)
{
	uint64_t *starts = malloc(count * sizeof(*starts)), time = 1000;
	for (size_t i = 0; i < count; i++)
		starts[i] = time += 1 + pick(step);
	return starts;
}

static void check_ranks(const struct weft__occupancy *o, uint64_t start, uint64_t end)
{
	struct weft__ranks ranks = weft__layout_occupancy_ranks(o, start, end);
	size_t begin = 0, stop = 0;
	while (begin < o->start_count && o->starts[begin] < start)
		begin++;
	while (stop < o->start_count && o->starts[stop] < end)
		stop++;
	assert_int_equal(ranks.begin, begin);
	assert_int_equal(ranks.end, stop > begin ? stop : begin + 1);
}

static void do_something(struct weft__occupancy *o, struct naive *n, uint32_t length)
{
	size_t begin = pick((uint32_t)o->start_count);
	uint64_t start = o->starts[begin], end = start + 1 + pick(length);
	struct weft__ranks ranks = weft__layout_occupancy_ranks(o, start, end);
	uint32_t row = 0, from = pick(4) ? pick(3) : pick(100), action = pick(20);
	bool is_taken = false;
	check_ranks(o, start, end);
	if (action < 17) {
		assert_int_equal(weft__layout_occupancy_take(o, ranks, from, &row), 0);
		assert_int_equal(row, naive_row(n, ranks, from));
		naive_add(n, ranks, row);
	} else if (action < 19) {
		assert_int_equal(weft__layout_occupancy_try(o, ranks, from, &is_taken), 0);
		assert_int_equal(is_taken, naive_row(n, ranks, from) == from);
		if (is_taken)
			naive_add(n, ranks, from);
	} else {
		assert_int_equal(weft__layout_occupancy_hold(o, ranks, from), 0);
		assert_true(o->row_count > from);
		naive_add(n, ranks, from);
	}
}

static void the_first_free_row_is_taken(void **state)
{
	static const struct {
		uint32_t starts, step, length, intervals;
	} cases[] = {{1, 1, 5, 10}, {7, 9, 30, 60}, {100, 20, 200, 300}, {1000, 5, 600, 1500},
		{333, 1000, 3000, 400}, {700, 3, 2000, 1500}};
	(void)state;
	seed = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (unsigned round = 0; round < 3; round++) {
			struct weft__occupancy o;
			struct naive n;
			naive_init(&n);
			uint64_t *starts = random_starts(cases[i].starts, cases[i].step);
			assert_int_equal(weft__layout_occupancy_init(&o, starts, cases[i].starts), 0);
			for (uint32_t k = 0; k < cases[i].intervals; k++)
				do_something(&o, &n, cases[i].length);
			weft__layout_occupancy_finish(&o);
			naive_finish(&n);
		}
}

/* So many intervals at once that the rows beyond the pages are used, too. */
static void rows_beyond_the_pages_are_below_those_in_use(void **state)
{
	struct weft__occupancy o;
	struct naive n;
	uint32_t row;
	(void)state;
	seed = 2;
	naive_init(&n);
	assert_int_equal(weft__layout_occupancy_init(&o, random_starts(200, 3), 200), 0);
	for (uint32_t i = 0; i < PAGED; i++) {
		const struct weft__ranks most = {0, 200 - i % 2};
		assert_int_equal(weft__layout_occupancy_take(&o, most, i, &row), 0);
		assert_int_equal(row, i);
		naive_add(&n, most, row);
	}
	while (n.count < INTERVALS) {
		size_t begin = pick(200), end = begin + 1 + pick(pick(3) ? 20 : 200);
		const struct weft__ranks ranks = {begin, end < 200 ? end : 200};
		uint32_t from = pick(3) ? PAGED - 3 : PAGED + pick(200);
		assert_int_equal(weft__layout_occupancy_take(&o, ranks, from, &row), 0);
		assert_int_equal(row, naive_row(&n, ranks, from));
		assert_true(o.row_count > row);
		naive_add(&n, ranks, row);
	}
	weft__layout_occupancy_finish(&o);
	naive_finish(&n);
}

/* In a page that exists, and in one that does not; both before and after a shorter interval. */
static void a_row_can_be_held_for_all_times(void **state)
{
	static const uint32_t rows[] = {0, 3, 70, PAGED + 5};
	(void)state;
	seed = 3;
	for (unsigned i = 0; i < 8; i++) {
		struct weft__occupancy o;
		const struct weft__ranks some = {4, 5};
		uint32_t row = rows[i / 2], got;
		bool is_taken = true;
		assert_int_equal(weft__layout_occupancy_init(&o, random_starts(40, 3), 40), 0);
		if (i % 2)
			assert_int_equal(weft__layout_occupancy_hold(&o, some, row), 0);
		assert_int_equal(weft__layout_occupancy_hold_always(&o, row), 0);
		assert_int_equal(o.row_count, row + 1);
		for (size_t at = 0; at < 40; at++) {
			const struct weft__ranks one = {at, at + 1};
			assert_int_equal(weft__layout_occupancy_try(&o, one, row, &is_taken), 0);
			assert_false(is_taken);
		}
		assert_int_equal(weft__layout_occupancy_take(&o, some, row, &got), 0);
		assert_int_equal(got, row + 1);
		weft__layout_occupancy_finish(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_free_row_is_taken),
		cmocka_unit_test(rows_beyond_the_pages_are_below_those_in_use),
		cmocka_unit_test(a_row_can_be_held_for_all_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
