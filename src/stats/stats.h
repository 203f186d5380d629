/* SPDX-License-Identifier: ISC
 *
 * Statistics while they are made, in this order.
 *
 *     items.c   what is alive in the range, each with the key of its row
 *     groups.c  the rows, one for each key; what ended, by row and length
 *     times.c   running, waiting and delay of tasks
 *     spans.c   items and times of spans
 *     waits.c   those of waits, by where in the code a task waits
 *     stats.c   all of it, in steps; the order of rows
 *     names.c   keys as text
 *
 *     diff.c       two statistics side by side
 *     histogram.c  the lifetimes of a row in buckets
 */
#ifndef WEFT_STATS_STATS_H
#define WEFT_STATS_STATS_H

#include <weft/error.h>
#include <weft/stats.h>

#include "base/ns.h"
#include "layout/labels.h"

/* Instead of a key: a task without a label, or a root. */
#define WEFT__STATS_NO_KEY UINT64_MAX

/* In the key of a wait, instead of the kind of what the task waits for: the trace does not say. */
#define WEFT__STATS_NO_KIND UINT16_MAX

struct weft__stats_item {
	struct weft_stats_member member;
	uint32_t row;
	uint64_t key;
	uint8_t outcome; /* enum weft_outcome, within the range */
	bool is_ended;   /* within the range */
	bool is_at_most; /* a span that ended before, at an unknown time */
};

struct weft__stats_making {
	const struct weft_story *story;
	const struct weft_model *model;
	enum weft_stats_by by;
	enum weft_stats_sort sort;
	const uint8_t *hidden;
	uint64_t from, to; /* the range: [from, to); UINT64_MAX: after the end */
	struct weft__stats_item *items;
	uint32_t item_count;
	struct weft_stats_row *rows;
	uint32_t row_count;
	struct weft_stats_member *members;
	uint32_t *row_of_thread; /* NULL: the rows are not of threads */
};

/* The part of [start, end) that is also in [from, to), ns. */
static inline uint64_t weft__stats_overlap(uint64_t start, uint64_t end, uint64_t from, uint64_t to)
{
	start = start > from ? start : from;
	end = end < to ? end : to;
	return end > start ? end - start : 0;
}

static inline bool weft__stats_is_hidden(const struct weft__stats_making *making, uint32_t task)
{
	return making->hidden && making->hidden[task];
}

/* List the items that are alive in the range. 0, WEFT_ERROR_MEMORY or WEFT_ERROR_LIMIT. */
int weft__stats_list_tasks(struct weft__stats_making *making);
int weft__stats_list_spans(struct weft__stats_making *making);
int weft__stats_list_waits(struct weft__stats_making *making);

/* Makes the rows and their members. 0, WEFT_ERROR_MEMORY or WEFT_ERROR_LIMIT. */
int weft__stats_group(struct weft__stats_making *making);

/* Add the times of items [first, last) to their rows. 0, WEFT_ERROR_MEMORY or WEFT_ERROR_LIMIT. */
int weft__stats_measure_tasks(struct weft__stats_making *making, uint32_t first, uint32_t last);
int weft__stats_measure_spans(struct weft__stats_making *making, uint32_t first, uint32_t last);
int weft__stats_measure_waits(struct weft__stats_making *making, uint32_t first, uint32_t last);

/* Adds waiting and delay of an item's task, from a time up to an activation. */
void weft__stats_add_gap(const struct weft__stats_making *making,
	const struct weft__stats_item *item, uint64_t start, uint32_t activation);

/* The number of a row in a column. */
uint64_t weft__stats_value(const struct weft_stats_row *row, enum weft_stats_sort sort);

#endif
