/* SPDX-License-Identifier: ISC
 *
 * Where each task is drawn: simplified starts and parents, and rows. A function of the model and
 * options alone; O(n log n) in tasks, whatever their concurrency. The rules are docs/model.md's.
 *
 * A layout borrows its model, which must outlive it, and is read-only once created.
 */
#ifndef WEFT_LAYOUT_H
#define WEFT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/model.h>
#include <weft/progress.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_group_by {
	WEFT_GROUP_BY_NONE,
	WEFT_GROUP_BY_THREAD,  /* the one that a task first ran on, else that of its creation */
	WEFT_GROUP_BY_PROCESS, /* the buffer that it is in */
};

struct weft_layout_options {
	bool no_simplify; /* binds and their like start where they were created */
	bool fold;        /* alike siblings share a row */
	enum weft_group_by group_by;
	/* Folds that are not as `fold` says, each named by one of its members. */
	const uint32_t *fold_exceptions;
	uint32_t fold_exception_count;
	/* Groups that are shown as one row, by their keys. */
	const uint32_t *folded_groups;
	uint32_t folded_group_count;
	/* A byte a task: what is not 0 is left out. NULL leaves out none. */
	const uint8_t *hidden;
	/* The layout of an earlier model of the same builder: what it has drawn stays in its row (of
	 * its group), in its fold and in its group, and what is new goes where nobody alive is; nothing
	 * else folds. Only
	 * read while this one is created; its other options were the same. NULL packs anew. */
	const struct weft_layout *previous;
	/* Told how far it is, and may stop it; NULL for nobody. */
	const struct weft_progress *progress;
};

enum weft_form {
	WEFT_FORM_LINE,   /* a line of its own */
	WEFT_FORM_FOLDED, /* a tooth of its fold, or below one */
	WEFT_FORM_BAND,   /* part of a folded group */
	WEFT_FORM_HIDDEN, /* not shown at all: its row is WEFT_NONE */
};

/* Siblings with equal label (any digits are equal), kind and outcome, five or more, one after the
 * other in time; if more than a quarter of them overlap with one before, more than 32. Who failed,
 * did not end, lasts more than 8 times as long as half of them, or has more than 8 tasks below it
 * is no member. A span lasts from a member's start until it has ended and all that hangs below it.
 */
struct weft_fold {
	uint32_t first, count; /* its slice of fold_members */
	uint32_t below;        /* tasks that hang under them */
	uint32_t row;          /* WEFT_NONE while it is not folded */
	bool folded;
	uint64_t start, end;     /* ns; of all spans */
	uint64_t p50_ns, max_ns; /* of their lengths */
	uint64_t running_ns;     /* of the members and what is below them */
};

/* A group has its first row for itself, for a heading. */
struct weft_group {
	uint32_t key; /* a thread, or a buffer */
	uint32_t first_row, row_count;
	bool folded;      /* its one row shows all of it */
	double running;   /* 0 to 1: the share of the trace's time in which its threads ran a task */
	const char *name; /* the layout's; never empty */
};

/* Columns are indexed by task, like the model's. */
struct weft_layout {
	const struct weft_model *model;
	uint32_t row_count;
	const uint64_t *start;  /* ns */
	const uint32_t *parent; /* task that is shown, or WEFT_NONE */
	const uint32_t *row;    /* 0 is the top; WEFT_NONE: hidden */
	const bool *moved;      /* simplified: its creation line is hidden */
	const uint8_t *form;    /* enum weft_form */
	/* The fold that a task is a member of, folded or not, or, if it is folded, that it hangs
	 * below; or WEFT_NONE. NULL if there are no folds. */
	const uint32_t *fold_of;
	const struct weft_fold *folds;
	uint32_t fold_count;
	const uint32_t *fold_members;    /* tasks, in the order of start within a fold */
	const uint64_t *fold_ends;       /* of their spans */
	const uint32_t *group_of;        /* NULL if there are no groups */
	const struct weft_group *groups; /* from top to bottom; none if there would be only one */
	uint32_t group_count;
	enum weft_group_by group_by; /* what the groups are, and their keys */
};

/* `options` may be NULL: the defaults. */
int weft_layout_create(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft_layout **ret_layout);
void weft_layout_destroy(struct weft_layout *layout);

#ifdef __cplusplus
}
#endif
#endif
