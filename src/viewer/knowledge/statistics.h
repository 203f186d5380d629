/* SPDX-License-Identifier: ISC
 *
 * Statistics of the chosen range, or of the whole trace: the panel's rows, one of them with its
 * histogram, and the slowest tasks one after the other.
 */
#ifndef WEFT_VIEWER_STATISTICS_H
#define WEFT_VIEWER_STATISTICS_H

#include <weft/stats.h>

struct weft_viewer;
struct weft__stats_maker;

struct weft__statistics {
	enum weft_stats_by by;
	struct weft_stats *found; /* NULL: not made yet. It borrows the viewer's story */
	struct weft__stats_maker *maker;
	bool is_making;   /* they are made between inputs */
	bool is_ended;    /* by the user, or memory ran out: they are made when wanted again */
	bool wants_alike; /* to be shown when they are made: weft__viewer_statistics_show_alike() */
	enum weft_stats_by made_by; /* the grouping of `found`, or of what is made */
	uint64_t from, to;          /* its range; 0 and 0: the whole trace */
	double made_ms;
	/* The row that is shown, by what its tasks have in common: rows change with the range. */
	bool has_row;
	uint64_t key;
	uint32_t nth; /* the current task among the row's slowest, from 0 on; or WEFT_NONE */
};

/* statistics.c. Begins to make them. False if that goes on between inputs, if it has been ended,
 * and without memory. */
bool weft__viewer_know_statistics(struct weft_viewer *viewer);
/* Goes on for one frame; true if there is more to do. */
bool weft__viewer_learn_statistics(struct weft_viewer *viewer);
/* Ends it for the user; false if they are not being made. */
bool weft__viewer_end_statistics(struct weft_viewer *viewer);
/* They may be made again after the user has ended it. */
void weft__viewer_statistics_want(struct weft_viewer *viewer);
void weft__viewer_forget_statistics(struct weft_viewer *viewer);
/* True if the panel shows another range than the chosen one. */
bool weft__viewer_statistics_are_stale(const struct weft_viewer *viewer);
/* True if the panel may show the former statistics of a growing trace for a while. */
bool weft__viewer_statistics_may_wait(const struct weft_viewer *viewer);
/* The row that is shown, or NULL. Needs weft__viewer_know_statistics(). */
const struct weft_stats_row *weft__viewer_statistics_row(const struct weft_viewer *viewer);
/* A member of a row by its number among the slowest, from 0 on. */
const struct weft_stats_member *weft__viewer_statistics_slowest(
	const struct weft_viewer *viewer, const struct weft_stats_row *row, uint32_t nth);
/* Writes a row's name for people. */
void weft__viewer_statistics_name(
	const struct weft_viewer *viewer, const struct weft_stats_row *row, char name[256]);
/* Shows the row of the tasks that are alike the selected one. */
void weft__viewer_statistics_show_alike(struct weft_viewer *viewer);
/* Goes to the task of that number among the slowest, or `step` tasks on from the current or
 * selected task. */
void weft__viewer_statistics_go(struct weft_viewer *viewer, uint32_t nth);
void weft__viewer_statistics_step(struct weft_viewer *viewer, int step);

#endif
