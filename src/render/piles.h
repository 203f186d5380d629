/* SPDX-License-Identifier: ISC
 *
 * Piles: tasks that share a row though they may overlap, because they are folded, or of a folded
 * group. How many of a pile are alive in a stretch of time, how much of them ran there and how many
 * failed costs a few searches, however many they are.
 */
#ifndef WEFT_RENDER_PILES_H
#define WEFT_RENDER_PILES_H

#include <weft/layout.h>

struct weft_scene;

/* Slices of the columns of struct weft__piles. */
struct weft__pile {
	uint32_t first, count;               /* of starts and ends */
	uint32_t first_run, run_count;       /* of run_starts and run_ends */
	uint32_t first_sum;                  /* of the sums */
	uint32_t first_failed, failed_count; /* of failed */
	uint32_t fold;                       /* or WEFT_NONE: it is a group's */
	uint64_t start, end;                 /* of all spans */
};

struct weft__piles {
	struct weft__pile *list; /* of each fold, then of each group; empty if that is not folded */
	uint32_t count;
	uint32_t *row_first, *by_row; /* those of a row, in the order of time */
	/* Each column is sorted within a pile. */
	uint64_t *starts, *ends;         /* of spans */
	uint64_t *run_starts, *run_ends; /* of activations */
	uint64_t *start_sums, *end_sums; /* of every 16 of those, from the pile's first on */
	uint64_t *failed;                /* when they did */
};

/* What of a pile lies in [start, end). */
struct weft__share {
	uint32_t tasks, failed;
	uint64_t running_ns;
};

/* Part of scene_create. 0 or WEFT_ERROR_MEMORY. */
int weft__scene_make_piles(struct weft_scene *scene);
void weft__piles_finish(struct weft__piles *piles);

struct weft__share weft__pile_share(
	const struct weft__piles *piles, const struct weft__pile *pile, uint64_t start, uint64_t end);

/* The same for stretches that follow one another, for less: a step is from where the cursor is
 * until `end`, and the cursor is there afterwards. */
struct weft__pile_cursor {
	const struct weft__piles *piles;
	const struct weft__pile *pile;
	uint64_t time, ran;
	uint32_t begun, ended, failed, run_begun, run_ended;
};

struct weft__pile_cursor weft__pile_seek(
	const struct weft__piles *piles, const struct weft__pile *pile, uint64_t time);
struct weft__share weft__pile_step(struct weft__pile_cursor *cursor, uint64_t end);

/* The first place of piles.by_row, of those of a row, whose pile ends after `time`; or
 * row_first[row + 1]. There must be piles. */
uint32_t weft__piles_from(const struct weft__piles *piles, uint32_t row, uint64_t time);

/* Which members of a folded fold may be alive in [start, end), as counted from the fold's first:
 * those before `*ret_first` are not, nor those from `*ret_last` on. */
void weft__fold_members(const struct weft_scene *scene, uint32_t fold, uint64_t start, uint64_t end,
	uint32_t *ret_first, uint32_t *ret_last);

#endif
