/* SPDX-License-Identifier: ISC
 *
 * Piles: tasks that share a row although they may overlap, because they are in a fold or in a
 * folded group. For a stretch of time, the number of a pile's tasks that are alive, how much of
 * them ran and how many failed cost a few searches, however many tasks there are.
 */
#ifndef WEFT_RENDER_PILES_H
#define WEFT_RENDER_PILES_H

#include <weft/layout.h>

struct weft_scene;

/* A pile: ranges in the columns of struct weft__piles. */
struct weft__pile {
	uint32_t first, count;               /* range of starts and ends */
	uint32_t first_run, run_count;       /* range of run_starts and run_ends */
	uint32_t first_sum;                  /* first of the sums */
	uint32_t first_failed, failed_count; /* range of failed */
	uint32_t fold;                       /* the fold, or WEFT_NONE for a group */
	uint64_t start, end;                 /* from the first start to the last end */
};

struct weft__piles {
	struct weft__pile *list; /* for each fold, then for each group; empty if that is not folded */
	uint32_t count;
	uint32_t *row_first, *by_row; /* the piles of each row, in the order of time */
	/* Each column is sorted within a pile. */
	uint64_t *starts, *ends;         /* spans */
	uint64_t *run_starts, *run_ends; /* activations */
	uint64_t *start_sums,
		*end_sums;    /* running sums of every 16 of these, from the pile's first on */
	uint64_t *failed; /* times of failures */
	/* When all tasks without a line begin and end: of all piles, also the descendants of a fold's
	 * members, and those in waits of others; each
	 * column is sorted. */
	uint64_t *task_starts, *task_ends;
	uint32_t task_count;
};

/* The part of a pile that lies in [start, end). */
struct weft__share {
	uint32_t tasks, failed;
	uint64_t running_ns;
};

/* Part of scene_create. 0 or WEFT_ERROR_MEMORY. */
int weft__render_scene_make_piles(struct weft_scene *scene);
void weft__render_piles_finish(struct weft__piles *piles);

struct weft__share weft__render_pile_share(
	const struct weft__piles *piles, const struct weft__pile *pile, uint64_t start, uint64_t end);

/* The same for consecutive stretches, at lower cost: a step covers the time from the cursor to
 * `end`, and moves the cursor there. */
struct weft__pile_cursor {
	const struct weft__piles *piles;
	const struct weft__pile *pile;
	uint64_t time, ran;
	uint32_t begun, ended, failed, run_begun, run_ended;
};

struct weft__pile_cursor weft__render_pile_seek(
	const struct weft__piles *piles, const struct weft__pile *pile, uint64_t time);
struct weft__share weft__render_pile_step(struct weft__pile_cursor *cursor, uint64_t end);

/* The number of tasks in piles, with descendants of a fold's members, that are alive in [start,
 * end). */
uint32_t weft__render_piles_alive(const struct weft__piles *piles, uint64_t start, uint64_t end);

/* The first index in piles.by_row, within a row, whose pile ends after `time`; or row_first[row +
 * 1]. There must be piles. */
uint32_t weft__render_piles_from(const struct weft__piles *piles, uint32_t row, uint64_t time);

/* The members of a folded fold that may be alive in [start, end): indices within the fold from
 * `*ret_first` to before `*ret_last`. */
void weft__render_fold_members(const struct weft_scene *scene, uint32_t fold, uint64_t start,
	uint64_t end, uint32_t *ret_first, uint32_t *ret_last);

#endif
