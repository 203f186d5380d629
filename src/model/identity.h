/* SPDX-License-Identifier: ISC
 *
 * Identity: from (buffer, id) to a dense number, in the order of first mention.
 */
#ifndef WEFT_MODEL_IDENTITY_H
#define WEFT_MODEL_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

#include <weft/event.h>

#include "base/index.h"
#include "base/shared.h"

/* Numbers of tasks are below this. The values above mean no task (WEFT_NONE), or a thread that runs
 * no known task (WEFT__RUNS_… in state.h). */
#define WEFT__TASKS_MAX (UINT32_MAX - 2)

/* Maps ids to tasks. Most programs number their tasks one after the other, so the tasks of buffer 0
 * whose ids lie close together are in a table by id, the others in a hash index. */
struct weft__ids {
	uint32_t *table; /* by id, from `first` on: task + 1, or 0 */
	uint64_t first;
	size_t room;
	struct weft__index index;
};

/* All ids that were named, in the order of first mention. */
struct weft__identities {
	uint32_t count;
	size_t capacity;
	weft_task_id *id;
	uint32_t *buffer;
	struct weft__shared *shared; /* id and buffer: snapshots may read them */
	struct weft__ids by_id;
	uint8_t *lives; /* for each task, a byte: whether it was created, and has ended */
	size_t lives_bytes;
	bool has_begun; /* something has happened: what came before was the rundown of a part */
};

int weft__model_identities_init(struct weft__identities *identities);
void weft__model_identities_finish(struct weft__identities *identities);

/* weft__model_identify() for any id; also for one that is not in the table. */
int weft__model_identify_any(
	struct weft__identities *identities, uint32_t buffer, weft_task_id id, uint32_t *ret_task);

/* The task was created, though not by an event. 0 or WEFT_ERROR_MEMORY. */
int weft__model_identities_begin(struct weft__identities *identities, uint32_t task);
/* The task has ended. If its id is created again, that is another task. 0 or WEFT_ERROR_MEMORY. */
int weft__model_identities_end(struct weft__identities *identities, uint32_t task);
/* `*task` is created: if it has ended, its id means a new task from now on, whose number is stored.
 * 0, WEFT_ERROR_MEMORY or _LIMIT. */
int weft__model_identities_create(struct weft__identities *identities, uint32_t *task);

/* Forgets the ids from `count` on. 0 or WEFT_ERROR_MEMORY. */
int weft__model_identities_cut(struct weft__identities *identities, uint32_t count);

/* Renumbers: task t becomes new_index[t], which is at most t and rises with t; if it is WEFT_NONE,
 * the id is forgotten. 0 or WEFT_ERROR_MEMORY. */
int weft__model_identities_move(struct weft__identities *identities, const uint32_t *new_index);

/* A reference to the ids; NULL without memory. */
struct weft__shared *weft__model_identities_hold(struct weft__identities *identities);
/* Ends the sharing of the ids. 0 or WEFT_ERROR_MEMORY. */
int weft__model_identities_own(struct weft__identities *identities);

/* The task of an id, if it is in the table; else WEFT_NONE. */
static inline uint32_t weft__model_ids_in_table(
	const struct weft__ids *ids, uint32_t buffer, weft_task_id id)
{
	uint64_t index = id - ids->first;
	return buffer == 0 && index < ids->room ? ids->table[index] - 1 : UINT32_MAX;
}

/* The number of `id`, which is not WEFT_TASK_NONE. An id that was not named before gets the next
 * number. Inlined, because nearly all ids are in the table. */
static inline int weft__model_identify(
	struct weft__identities *identities, uint32_t buffer, weft_task_id id, uint32_t *ret_task)
{
	uint32_t task = weft__model_ids_in_table(&identities->by_id, buffer, id);
	if (task == UINT32_MAX)
		return weft__model_identify_any(identities, buffer, id, ret_task);
	*ret_task = task;
	return 0;
}

/* The task of an id, WEFT_NONE if there is none. */
uint32_t weft__model_ids_find(const struct weft__ids *ids, const weft_task_id *id_of,
	const uint32_t *buffer_of, uint32_t buffer, weft_task_id id);
void weft__model_ids_finish(struct weft__ids *ids);

#endif
