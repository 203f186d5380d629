/* SPDX-License-Identifier: ISC
 *
 * Where each task is drawn: its row, and its simplified start and parent. A function of the model
 * and options alone; O(n log n) in tasks, however many of them are alive at once. docs/model.md has
 * the rules.
 *
 * A layout borrows its model, which must outlive it, and is read-only once created.
 */
#ifndef WEFT_LAYOUT_H
#define WEFT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/model.h>
#include <weft/progress.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_group_by {
	WEFT_GROUP_BY_NONE,
	WEFT_GROUP_BY_THREAD, /* the thread that a task first ran on, else the thread that created it */
	WEFT_GROUP_BY_PROCESS, /* the buffer that the task is in */
	WEFT_GROUP_BY_HOST,    /* the machine of that buffer */
	WEFT_GROUP_BY_AUTO,    /* process if the trace has several, not only domains of Xen's own trace;
							  else none */
};

/* "none", "thread", "process", "host" */
const char *weft_group_by_name(enum weft_group_by by);
/* False if the name is none of these. */
bool weft_group_by_parse(const char *name, enum weft_group_by *ret_by);

struct weft_layout_options {
	size_t size; /* sizeof(struct weft_layout_options), or 0; members that an older header lacks are
					0 */
	bool
		no_simplify; /* binds and similar kinds start where they were created; promises have rows */
	bool fold;       /* alike siblings share a row */
	enum weft_group_by group_by;
	/* Folds for which the opposite of `fold` holds, each named by one of its members. */
	const uint32_t *fold_exceptions;
	uint32_t fold_exception_count;
	/* The keys of groups that are folded into one row. */
	const uint32_t *folded_groups;
	uint32_t folded_group_count;
	/* A byte for each task: tasks with a value other than 0 are hidden. NULL hides none. */
	const uint8_t *hidden;
	/* The layout of an earlier model of the same builder, with the same other options. Tasks keep
	 * their row (within their group), fold and group; new tasks go where no living task is, and
	 * no other tasks are folded. Used only while the new layout is created, which takes over its
	 * working memory. If the model is the next snapshot, without groups and hidden tasks, the cost
	 * is in proportion to the new events, besides a copy of the columns. NULL packs all rows anew.
	 */
	const struct weft_layout *previous;
	/* Gets the progress, and may stop the work; may be NULL. */
	const struct weft_progress *progress;
	bool no_rows; /* only starts and parents, for what is not drawn: `row` is WEFT_NONE of all
					 tasks. Of the other options, only no_simplify, hidden and progress matter */
};

enum weft_form {
	WEFT_FORM_LINE,   /* a line of its own */
	WEFT_FORM_FOLDED, /* a tooth of its fold, or a descendant of one */
	WEFT_FORM_BAND,   /* part of a folded group */
	WEFT_FORM_HIDDEN, /* not shown at all: its row is WEFT_NONE */
	WEFT_FORM_WAIT, /* a promise in whose row its parent waits for it: the parent's line shows it */
};

/* Siblings with equal label (digits are ignored), kind and outcome, five or more, one after the
 * other in time; if more than a quarter of them overlap with one before, more than 32. A task that
 * failed, did not end, lasts more than 8 times as long as half of them, or has more than 8
 * descendants is not a member. A member's span lasts from its start until it and all its
 * descendants have ended. */
struct weft_fold {
	uint32_t first, count; /* its entries in fold_members */
	uint32_t below;        /* descendants of the members */
	uint32_t row;          /* WEFT_NONE while it is not folded */
	bool folded;
	uint64_t start, end;               /* ns; of all spans */
	uint64_t p50_ns, max_ns;           /* of the spans' lengths */
	uint64_t running_ns;               /* of the members and their descendants */
	uint64_t life_p50_ns, life_max_ns; /* of the members' own lives, as statistics have them */
};

/* The first row of a group is its heading. */
struct weft_group {
	uint32_t key; /* a thread, a buffer, or the first buffer of a host */
	uint32_t first_row, row_count;
	bool folded;      /* the heading's row shows all of it */
	double running;   /* 0 to 1: the share of the trace's time in which its threads ran a task; of a
						 domain of Xen, how much its vCPUs ran of what they could have */
	const char *name; /* owned by the layout; never empty */
};

/* Columns are indexed by task, like the model's. */
struct weft_layout {
	const struct weft_model *model;
	uint32_t row_count;
	const uint64_t *start;  /* ns */
	const uint32_t *parent; /* a task that is shown, or WEFT_NONE */
	const uint32_t *row;    /* 0 is the top; WEFT_NONE: hidden */
	const bool *moved;      /* simplified: its creation line is hidden */
	const uint8_t *form;    /* enum weft_form */
	bool has_waits;         /* some task may have WEFT_FORM_WAIT */
	bool shows_kicks;       /* not simplified: the kicks of Xen's schedulers have arrows */
	/* The fold of which a task is a member, whether folded or not; or, while that fold is folded,
	 * of which it is a descendant; or WEFT_NONE. NULL if there are no folds. */
	const uint32_t *fold_of;
	const struct weft_fold *folds;
	uint32_t fold_count;
	const uint32_t *fold_members;    /* tasks, in the order of start within a fold */
	const uint64_t *fold_ends;       /* of their spans */
	const uint32_t *group_of;        /* NULL if there are no groups */
	const struct weft_group *groups; /* from top to bottom; none if there is only one group */
	uint32_t group_count;
	enum weft_group_by group_by; /* what the groups and their keys are */
};

/* Creates a layout. `options` may be NULL for the defaults. */
int weft_layout_create(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft_layout **ret_layout);
void weft_layout_destroy(struct weft_layout *layout);

#ifdef __cplusplus
}
#endif
#endif
