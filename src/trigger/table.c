/* SPDX-License-Identifier: ISC
 *
 * A hash table of chains, and a list through those of its tasks that wait: events come in the order
 * of time, so the list is sorted.
 */
#include "trigger/table.h"

#include <stdlib.h>

#include <weft/error.h>

static struct live_task **place_of(const struct live_tasks *t, uint64_t id)
{
	return &t->places[weft__hash_u64(&t->key, id) & (t->place_count - 1)];
}

struct live_task *weft__trigger_find(const struct live_tasks *t, uint64_t id)
{
	struct live_task *task = t->place_count ? *place_of(t, id) : NULL;
	while (task && task->id != id)
		task = task->chain;
	return task;
}

static int grow(struct live_tasks *t)
{
	struct live_tasks larger = *t;
	larger.place_count = t->place_count ? 2 * t->place_count : 64;
	if (!t->place_count)
		larger.key = weft__hash_key();
	larger.places = calloc(larger.place_count, sizeof(*larger.places));
	if (!larger.places)
		return WEFT_ERROR_MEMORY;
	for (size_t i = 0; i < t->place_count; i++)
		for (struct live_task *task = t->places[i], *next; task; task = next) {
			struct live_task **place = place_of(&larger, task->id);
			next = task->chain;
			task->chain = *place;
			*place = task;
		}
	free(t->places);
	*t = larger;
	return 0;
}

int weft__trigger_mention(struct live_tasks *t, uint64_t id, struct live_task **ret_task)
{
	struct live_task *task = weft__trigger_find(t, id);
	if (task || t->count >= LIVE_TASKS_MAX) {
		*ret_task = task;
		return 0;
	}
	if (t->count >= t->place_count && grow(t))
		return WEFT_ERROR_MEMORY;
	task = calloc(1, sizeof(*task));
	if (!task)
		return WEFT_ERROR_MEMORY;
	struct live_task **place = place_of(t, id);
	task->id = id;
	task->chain = *place;
	*place = task;
	t->count++;
	*ret_task = task;
	return 0;
}

void weft__trigger_remove(struct live_tasks *t, uint64_t id)
{
	if (!t->place_count)
		return;
	struct live_task **at = place_of(t, id);
	while (*at && (*at)->id != id)
		at = &(*at)->chain;
	struct live_task *task = *at;
	if (!task)
		return;
	*at = task->chain;
	weft__trigger_wake(t, task);
	free(task->label);
	free(task);
	t->count--;
}

void weft__trigger_wait(struct live_tasks *t, struct live_task *task, uint64_t now_ns)
{
	if (task->waits)
		return;
	task->waits = true;
	task->since_ns = now_ns;
	task->tested = 0;
	task->before = t->last;
	task->after = NULL;
	*(t->last ? &t->last->after : &t->first) = task;
	t->last = task;
}

void weft__trigger_wake(struct live_tasks *t, struct live_task *task)
{
	if (!task->waits)
		return;
	task->waits = false;
	*(task->before ? &task->before->after : &t->first) = task->after;
	*(task->after ? &task->after->before : &t->last) = task->before;
}

void weft__trigger_finish(struct live_tasks *t)
{
	for (size_t i = 0; i < t->place_count; i++)
		for (struct live_task *task = t->places[i], *next; task; task = next) {
			next = task->chain;
			free(task->label);
			free(task);
		}
	free(t->places);
	*t = (struct live_tasks){0};
}
