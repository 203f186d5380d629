/* SPDX-License-Identifier: ISC
 *
 * Groups of alike tasks: of one kind, with labels that are equal when digits are ignored, like 'GET
 * /item/17' and 'GET /item/4'; and how long they usually live. Tasks without a label are alike only
 * if the same task made them.
 */
#ifndef WEFT_STORY_ALIKE_H
#define WEFT_STORY_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/story.h>

#include "base/index.h"

/* Fewer lifetimes do not show what is usual. */
#define WEFT__ALIKE_MIN 16

struct weft__alike_group {
	uint64_t key;
	uint32_t all;          /* tasks, ended or not, except those that became another */
	uint32_t count, first; /* range in `members`: those that ended */
	/* Percentiles of their lifetimes; 0 if they are too few. */
	uint64_t p50_ns, p90_ns, p99_ns, longest_ns;
};

struct weft__alike {
	const struct weft_story *story;
	uint32_t *group_of; /* group of each task; WEFT_NONE: became another */
	struct weft__alike_group *groups;
	uint32_t group_count;
	uint32_t *members; /* by group, in the order of tasks within a group */
	uint64_t *lives;   /* lifetime of each member, ns */
};

/* 0 or WEFT_ERROR_MEMORY; in the latter case finish need not be called. */
int weft__story_alike_init(struct weft__alike *alike, const struct weft_story *story);
void weft__story_alike_finish(struct weft__alike *alike);

/* True if the task is no older than similar tasks become: 4 times the age that nine tenths of them
 * reach, or the age of the oldest. False if there are too few to compare with. */
bool weft__story_alike_is_usual(const struct weft__alike *alike, uint32_t task);

/* A number for what a reader would call the task: equal for tasks of one group, and for all tasks
 * of one kind without a label. Findings about these are one problem. */
uint64_t weft__story_alike_name(const struct weft__alike *alike, uint32_t task);

/* True if two tasks, neither of which became another, have the same of these numbers. */
bool weft__story_alike_are(const struct weft__alike *alike, uint32_t a, uint32_t b);

/* The hash of a text, equal for all runs of digits but line numbers; never 0. */
uint64_t weft__story_alike_hash(struct weft_slice text);

/* The lifetime of a task: from its start as drawn to its end. */
uint64_t weft__story_life_of(const struct weft_story *story, uint32_t task);

#endif
