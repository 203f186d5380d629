/* SPDX-License-Identifier: ISC
 *
 * Which rows are taken when: finds the first free row for an interval of time and takes it, in
 * O(log n) a page of 64 rows, whatever has been placed before.
 */
#ifndef WEFT_LAYOUT_OCCUPANCY_H
#define WEFT_LAYOUT_OCCUPANCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT__PAGE_ROWS 64
/* Beyond these rows the accepted cheaper form of docs/model.md holds. */
#define WEFT__PAGES_MAX 64

struct weft__occupancy {
	uint64_t *starts; /* distinct, sorted */
	size_t start_count;
	uint32_t *jumps; /* by time, in steps of 1 << jump_shift from the first start on: a rank */
	size_t jump_count;
	unsigned jump_shift;
	struct weft__page {
		uint64_t *covers;   /* a node of the tree: rows taken all over it */
		uint64_t *contains; /* of an inner node: rows taken anywhere under it */
	} pages[WEFT__PAGES_MAX];
	uint32_t *lowest; /* beyond the pages: 1 + the lowest row; nodes as above, in two halves */
	uint32_t row_count;
};

/* `starts` holds the start of each interval that will come; it is the occupancy's from now on. 0 or
 * WEFT_ERROR_MEMORY, and finish must follow either. */
int weft__occupancy_init(struct weft__occupancy *occupancy, uint64_t *starts, size_t start_count);
void weft__occupancy_finish(struct weft__occupancy *occupancy);

/* The starts that lie in an interval, by their ranks; `end` is exclusive. */
struct weft__ranks {
	size_t begin, end;
};

/* Those of [start, end), start < end. What is taken has no part in it, so that one thread may ask
 * while another takes. */
struct weft__ranks weft__occupancy_ranks(
	const struct weft__occupancy *occupancy, uint64_t start, uint64_t end);

/* Takes the first row from `from` on that is free in all of an interval. 0 or WEFT_ERROR_MEMORY. */
int weft__occupancy_take(
	struct weft__occupancy *occupancy, struct weft__ranks ranks, uint32_t from, uint32_t *ret_row);

/* Takes this row if it is free in all of an interval. 0 or WEFT_ERROR_MEMORY. */
int weft__occupancy_try(
	struct weft__occupancy *occupancy, struct weft__ranks ranks, uint32_t row, bool *ret_taken);

/* Takes a row of an interval whoever else has it. 0 or WEFT_ERROR_MEMORY. */
int weft__occupancy_hold(struct weft__occupancy *occupancy, struct weft__ranks ranks, uint32_t row);

#endif
