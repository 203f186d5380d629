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
	const uint64_t *starts; /* distinct, sorted; borrowed */
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

/* `starts` holds the start of each interval that will come, and outlives the occupancy. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__occupancy_init(
	struct weft__occupancy *occupancy, const uint64_t *starts, size_t start_count);
void weft__occupancy_finish(struct weft__occupancy *occupancy);

/* Takes the first row from `from` on that is free in all of [start, end), start < end. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__occupancy_take(struct weft__occupancy *occupancy, uint64_t start, uint64_t end,
	uint32_t from, uint32_t *ret_row);

/* Takes this row if it is free in all of [start, end). 0 or WEFT_ERROR_MEMORY. */
int weft__occupancy_try(
	struct weft__occupancy *occupancy, uint64_t start, uint64_t end, uint32_t row, bool *ret_taken);

/* Takes a row of [start, end) whoever else has it. 0 or WEFT_ERROR_MEMORY. */
int weft__occupancy_hold(
	struct weft__occupancy *occupancy, uint64_t start, uint64_t end, uint32_t row);

#endif
