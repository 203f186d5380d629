/* SPDX-License-Identifier: ISC
 *
 * Statistics: tasks, spans or waits in groups, with how many there are, how they ended, how long
 * they lived, and how they spent their time. docs/model.md, *Statistics*, has the rules.
 *
 * Statistics are made once from a finished model, in O(n log n), and are read-only then: any number
 * of threads may read them. They borrow the story with its model, layout and index. Nothing here
 * does I/O.
 */
#ifndef WEFT_STATS_H
#define WEFT_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/story.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each row has the tasks or spans that have this in common. */
enum weft_stats_by {
	WEFT_STATS_BY_LABEL,    /* alike tasks: of one kind, with labels that differ only in digits */
	WEFT_STATS_BY_KIND,     /* tasks of one kind */
	WEFT_STATS_BY_PARENT,   /* tasks below alike parents, as drawn */
	WEFT_STATS_BY_THREAD,   /* tasks of one thread: their first one, else that of their creator */
	WEFT_STATS_BY_PROCESS,  /* tasks of one buffer */
	WEFT_STATS_BY_SPAN,     /* spans with names that differ only in digits; not tasks */
	WEFT_STATS_BY_CATEGORY, /* tasks of one category: the part of the program that created them */
	WEFT_STATS_BY_STACK,    /* waits in one list of calls, for one kind of task; not tasks */
	WEFT_STATS_BYS
};

/* "label" and so on; NULL for other numbers. */
const char *weft_stats_by_name(enum weft_stats_by by);

/* The first row has the highest number in this column. */
enum weft_stats_sort {
	WEFT_STATS_SORT_TOTAL, /* time in all: running, waiting and delay */
	WEFT_STATS_SORT_COUNT,
	WEFT_STATS_SORT_FAILED,
	WEFT_STATS_SORT_UNFINISHED,
	WEFT_STATS_SORT_P50,
	WEFT_STATS_SORT_P90,
	WEFT_STATS_SORT_P99,
	WEFT_STATS_SORT_MAX,
	WEFT_STATS_SORT_RUNNING,
	WEFT_STATS_SORT_WAITING,
	WEFT_STATS_SORT_DELAY,
	WEFT_STATS_SORTS
};

/* "total" and so on; NULL for other numbers. */
const char *weft_stats_sort_name(enum weft_stats_sort sort);

struct weft_stats_options {
	size_t size; /* sizeof(struct weft_stats_options), or 0; members that an older header lacks are
					0 */
	enum weft_stats_by by;
	enum weft_stats_sort sort;
	/* The range of time, ns: from start_ns up to, but not including, end_ns; 0 is after the end of
	 * the trace. */
	uint64_t start_ns, end_ns;
	const uint8_t *hidden; /* not 0 for tasks to leave out, see weft_filter_tasks(); NULL: none */
};

/* One of the tasks, spans or waits of a row. */
struct weft_stats_member {
	uint64_t start, end; /* ns; of its whole life, not only in the range */
	uint32_t task;       /* of a thread's span: WEFT_NONE */
};

struct weft_stats_row {
	uint32_t count; /* tasks that are alive in the range */
	/* Those that end in the range, by outcome; the others are unfinished, or never resolved if they
	 * were expected and the range reaches the end of the trace. Spans and
	 * waits are fulfilled. */
	uint32_t by_outcome[WEFT_OUTCOMES];
	/* Spans of which the trace has no end, so that their times are upper limits. */
	uint32_t at_most;
	/* Those that end in the range are members [first, first + ended), the shortest life first. */
	uint32_t first, ended;
	/* The lengths of these whole lives; 0 without any. */
	uint64_t quickest_ns, p50_ns, p90_ns, p99_ns, max_ns;
	uint64_t lifetime_ns; /* the sum of these lives */
	/* The time of all that are alive, within the range. A sum stops at UINT64_MAX. */
	uint64_t running_ns; /* on each thread, if a task runs on several at once */
	uint64_t waiting_ns; /* neither running, nor woken and about to run */
	uint64_t delay_ns;   /* woken, but not running yet */
	uint64_t max_delay_ns;
	uint32_t most_delayed; /* its task, or WEFT_NONE */
	uint32_t example;      /* one of its tasks; of spans of threads: WEFT_NONE */
	uint64_t key;          /* what they have in common: the same in all ranges of a trace */
};

struct weft_stats {
	const struct weft_story *story;
	enum weft_stats_by by;
	struct weft_stats_options options; /* end_ns is UINT64_MAX if the range reaches the end */
	uint64_t start_ns, end_ns;         /* the part of the range that is in the trace */
	/* The part of it in which nothing runs: docs/model.md, *Running*. UINT64_MAX: unknown, because
	 * only a range of the trace was read, in which no thread runs a task. */
	uint64_t idle_ns;
	uint32_t row_count;
	const struct weft_stats_row *rows;
	const struct weft_stats_member *members;
};

/* `options` may be NULL for the defaults. Without the story's index there are no delays. 0 or
 * WEFT_ERROR_MEMORY. `story` must outlive the statistics. */
int weft_stats_create(const struct weft_story *story, const struct weft_stats_options *options,
	struct weft_stats **ret_stats);
void weft_stats_destroy(struct weft_stats *stats);

/* The row of the tasks that are alike a task, in statistics by label; NULL if there is none. */
const struct weft_stats_row *weft_stats_find_alike(const struct weft_stats *stats, uint32_t task);

/* Tasks of a row that have neither ended nor become another in the range. */
uint32_t weft_stats_unfinished(const struct weft_stats_row *row);

#define WEFT_STATS_NAME_BYTES 1100 /* that are enough for each name */

/* Writes what the tasks of a row have in common: "request #", "bind", "worker-2". At most `size`
 * bytes with the NUL; returns the length without it. May contain any bytes, like labels. "" for
 * tasks without a label, for those without a parent, for those whose category is unknown, and for
 * waits whose calls are unknown. */
size_t weft_stats_format_name(
	const struct weft_stats *stats, const struct weft_stats_row *row, char *buffer, size_t size);

/* The kind that all tasks of a row have, or all of their parents if they are grouped by these, or
 * what they wait for in a row of waits; false if they have several, or none. */
bool weft_stats_kind(
	const struct weft_stats *stats, const struct weft_stats_row *row, uint16_t *ret_kind);

/* ---- Histograms ---- */

#define WEFT_STATS_BUCKETS 22

/* Lifetimes from from_ns up to, but not including, to_ns. */
struct weft_stats_bucket {
	uint64_t from_ns, to_ns;
	uint32_t first, count; /* members [row->first + first, … + count) */
};

/* Fills buckets of a logarithmic scale from the shortest lifetime of a row to the longest, and
 * returns their number; 0 if none has ended. */
uint32_t weft_stats_histogram(const struct weft_stats *stats, const struct weft_stats_row *row,
	struct weft_stats_bucket buckets[WEFT_STATS_BUCKETS]);

/* ---- Counters ---- */

struct weft_stats_counter {
	uint32_t changes;            /* in the range */
	struct weft_number before;   /* its value before the first of them */
	struct weft_number after;    /* after the last of them */
	struct weft_number min, max; /* of these values */
	bool has_no_before;          /* it is set at first, or has no value yet */
	bool has_no_value;           /* it has none in the range at all */
};

/* Finds the changes of a counter of the model in the statistics' range. */
struct weft_stats_counter weft_stats_counter_of(const struct weft_stats *stats, uint32_t counter);

/* The value after the last change less the one before the first, if there is one. An integer stops
 * at the limits of 64 bits. */
struct weft_number weft_stats_change(const struct weft_stats_counter *counter);

/* ---- Comparisons ---- */

/* A row of each of two statistics with the same kind and name; NULL: the other one lacks it. */
struct weft_stats_pair {
	const struct weft_stats_row *a, *b;
	double score; /* how much worse b is; negative: better. 0 if one lacks it */
};

struct weft_stats_diff {
	const struct weft_stats *a, *b;
	uint32_t count;
	const struct weft_stats_pair *pairs;
};

/* Compares statistics of one grouping, of two traces or of two ranges of one. The pairs are in the
 * order of their scores, the worst change first, then rows that only b has, then those that only a
 * has. The score is the difference in the column by which b is sorted. For "total" it is the time
 * that b's tasks lived longer than as many tasks of a did on average, times the share of that in
 * their lifetimes, so that the slowing of many tasks counts more than a small change of long ones.
 * 0 or WEFT_ERROR_MEMORY. Both must outlive the comparison. */
int weft_stats_diff_create(
	const struct weft_stats *a, const struct weft_stats *b, struct weft_stats_diff **ret_diff);
void weft_stats_diff_destroy(struct weft_stats_diff *diff);

#ifdef __cplusplus
}
#endif
#endif
