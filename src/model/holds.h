/* SPDX-License-Identifier: ISC
 *
 * The tasks that hold one resource (a lock, rwlock, semaphore, pool or queue), by the rules of
 * docs/model.md, *Holding*. The caller passes tasks as they are named now; holders may have become
 * others since, so the caller updates `list[].task` before a call.
 */
#ifndef WEFT_MODEL_HOLDS_H
#define WEFT_MODEL_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/model.h>

/* Further simultaneous holds of one resource are counted, but not listed. */
#define WEFT__HOLDS_MAX 256

struct weft__hold {
	uint64_t since;
	uint32_t task;
	uint32_t depth; /* how often the task still has to release a lock; else 1 */
};

/* Zeroed: nobody holds it. The holds are in the order in which they began. */
struct weft__holders {
	struct weft__hold *list;
	uint32_t count, unlisted;
	size_t capacity;
};

/* True for the kinds of tasks that others hold. */
static inline bool weft__model_is_resource(unsigned kind)
{
	return kind == WEFT_KIND_LOCK || kind == WEFT_KIND_RWLOCK || kind == WEFT_KIND_SEMAPHORE ||
		   kind == WEFT_KIND_POOL || kind == WEFT_KIND_QUEUE;
}

void weft__model_holders_finish(struct weft__holders *holders);

/* `task` takes the resource, which is of `kind`. 0 or WEFT_ERROR_MEMORY. */
int weft__model_holders_take(
	struct weft__holders *holders, unsigned kind, uint32_t task, uint64_t time);

/* True if a hold is the task's, as the list names it. */
bool weft__model_holders_has(const struct weft__holders *holders, uint32_t task);

/* `task`, or WEFT_NONE, gives the resource back. */
void weft__model_holders_give(struct weft__holders *holders, uint32_t task);

#endif
