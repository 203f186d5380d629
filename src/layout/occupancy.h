/* SPDX-License-Identifier: ISC
 *
 * Which rows are occupied when: finds and takes the first free row for an interval of time, in
 * O(log n) per page of 64 rows, whatever was placed before.
 */
#ifndef WEFT_LAYOUT_OCCUPANCY_H
#define WEFT_LAYOUT_OCCUPANCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT__PAGE_ROWS 64
/* Beyond these pages the cheaper rule of docs/model.md applies. */
#define WEFT__PAGES_MAX 64

struct weft__occupancy {
	uint64_t *starts; /* distinct, sorted */
	size_t start_count;
	uint32_t *jumps; /* ranks by time, in steps of 1 << jump_shift from the first start on */
	size_t jump_count;
	unsigned jump_shift;
	struct weft__page {
		uint64_t *covers;   /* for each node: rows that are taken in all of it */
		uint64_t *contains; /* for each inner node: rows that are taken anywhere in it */
	} pages[WEFT__PAGES_MAX];
	uint32_t *lowest; /* beyond the pages: 1 + the lowest row; nodes as above, in two halves */
	uint32_t lowest_always; /* the same of rows that are taken for all times; 0: none */
	uint32_t row_count;
};

/* `starts` holds the start of each interval that will be added; the occupancy takes ownership. 0 or
 * WEFT_ERROR_MEMORY; call finish in both cases. */
int weft__layout_occupancy_init(
	struct weft__occupancy *occupancy, uint64_t *starts, size_t start_count);
void weft__layout_occupancy_finish(struct weft__occupancy *occupancy);

/* The starts that lie in an interval, as a range of ranks; `end` is exclusive. */
struct weft__ranks {
	size_t begin, end;
};

/* The ranks of [start, end), start < end. They do not depend on what was taken, so one thread may
 * call this while another takes rows. */
struct weft__ranks weft__layout_occupancy_ranks(
	const struct weft__occupancy *occupancy, uint64_t start, uint64_t end);

/* Takes the first row from `from` on that is free in the whole interval. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_occupancy_take(
	struct weft__occupancy *occupancy, struct weft__ranks ranks, uint32_t from, uint32_t *ret_row);

/* Takes this row if it is free in the whole interval. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_occupancy_try(
	struct weft__occupancy *occupancy, struct weft__ranks ranks, uint32_t row, bool *ret_taken);

/* Takes a row for all times. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_occupancy_hold_always(struct weft__occupancy *occupancy, uint32_t row);

/* Takes a row for an interval even if it is occupied. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_occupancy_hold(
	struct weft__occupancy *occupancy, struct weft__ranks ranks, uint32_t row);

#endif
