/* SPDX-License-Identifier: ISC
 *
 * What rules need to know of the tasks that live.
 */
#ifndef WEFT_TRIGGER_TABLE_H
#define WEFT_TRIGGER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct live_task {
	uint64_t id;
	struct live_task *chain;          /* of the same place in the table */
	struct live_task *before, *after; /* among those that wait, the longest first */
	uint64_t since_ns;
	uint64_t tested; /* a bit a rule: it has fired, or will not, for this wait */
	char *label;
	size_t label_size;
	uint32_t kind;
	bool has_kind;
	bool waits;
};

#define LIVE_TASKS_MAX (1u << 20)

struct live_tasks {
	struct live_task **places; /* a power of two */
	size_t place_count, count;
	struct weft__hash_key key;
	struct live_task *first, *last; /* of those that wait */
};

void weft__trigger_finish(struct live_tasks *tasks);

/* NULL if there is none. */
struct live_task *weft__trigger_find(const struct live_tasks *tasks, uint64_t id);

/* One that is made if need be; NULL inside if there are too many. 0 or WEFT_ERROR_MEMORY. */
int weft__trigger_mention(struct live_tasks *tasks, uint64_t id, struct live_task **ret_task);
void weft__trigger_remove(struct live_tasks *tasks, uint64_t id);

/* Waits from now on, if it does not yet. */
void weft__trigger_wait(struct live_tasks *tasks, struct live_task *task, uint64_t now_ns);
void weft__trigger_wake(struct live_tasks *tasks, struct live_task *task);

#endif
