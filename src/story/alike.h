/* SPDX-License-Identifier: ISC
 *
 * Tasks that are alike: of one kind and name, digits read as one, as 'GET /item/17' and 'GET
 * /item/4'; and how long they usually live.
 */
#ifndef WEFT_STORY_ALIKE_H
#define WEFT_STORY_ALIKE_H

#include <stdint.h>

#include <weft/story.h>

#include "base/index.h"

/* Fewer lives do not tell what is usual. */
#define WEFT__ALIKE_MIN 16

struct weft__alike_group {
	uint64_t key;
	uint32_t all;                        /* tasks, ended or not; who became another is none */
	uint32_t count, first;               /* of `members`: those that ended */
	uint64_t p50_ns, p90_ns, longest_ns; /* of their lives; 0 if they are too few */
};

struct weft__alike {
	const struct weft_story *story;
	uint32_t *group_of; /* of tasks; WEFT_NONE: became another */
	struct weft__alike_group *groups;
	uint32_t group_count;
	uint32_t *members; /* by group, in their order within one */
	uint64_t *lives;   /* of each member, ns */
};

/* 0 or WEFT_ERROR_MEMORY, and then there is nothing to finish. */
int weft__alike_init(struct weft__alike *alike, const struct weft_story *story);
void weft__alike_finish(struct weft__alike *alike);

/* The hash of a text in which each run of digits is as any other; never 0. */
uint64_t weft__alike_hash(struct weft_slice text);

/* From a task's start as it is drawn until its end. */
uint64_t weft__life_of(const struct weft_story *story, uint32_t task);

#endif
