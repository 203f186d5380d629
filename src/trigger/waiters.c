/* SPDX-License-Identifier: ISC
 *
 * A column of tasks with a doubly linked list through those that wait.
 */
#include "trigger/waiters.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>
#include <weft/model.h>

#include "base/array.h"

void weft__trigger_waiters_init(struct weft__waiters *w)
{
	*w = (struct weft__waiters){.first = WEFT_NONE, .last = WEFT_NONE};
}

static void free_label(struct weft__waiter *waiter)
{
	free((void *)(uintptr_t)waiter->label.bytes);
}

void weft__trigger_waiters_finish(struct weft__waiters *w)
{
	for (uint32_t task = 0; task < w->count; task++)
		free_label(&w->list[task]);
	free(w->list);
	weft__trigger_waiters_init(w);
}

int weft__trigger_waiters_add(struct weft__waiters *w)
{
	const struct weft__column column = {&w->list, sizeof(*w->list)};
	int error = weft__columns_reserve(&column, 1, &w->capacity, w->count + (size_t)1);
	if (!error)
		w->list[w->count++] = (struct weft__waiter){.before = WEFT_NONE, .after = WEFT_NONE};
	return error;
}

int weft__trigger_waiters_label(struct weft__waiters *w, uint32_t task, struct weft_slice label)
{
	struct weft__waiter *waiter = &w->list[task];
	if (waiter->label.bytes)
		return 0;
	char *copy = malloc(label.size + 1); /* not NULL for an empty label */
	if (!copy)
		return WEFT_ERROR_MEMORY;
	if (label.size)
		memcpy(copy, label.bytes, label.size);
	waiter->label = (struct weft_slice){copy, label.size};
	return 0;
}

void weft__trigger_waiters_begin(struct weft__waiters *w, uint32_t task, uint64_t now_ns)
{
	struct weft__waiter *waiter = &w->list[task];
	waiter->since_ns = now_ns;
	waiter->tested = 0;
	waiter->before = w->last;
	waiter->after = WEFT_NONE;
	*(w->last == WEFT_NONE ? &w->first : &w->list[w->last].after) = task;
	w->last = task;
}

void weft__trigger_waiters_end(struct weft__waiters *w, uint32_t task)
{
	const struct weft__waiter *waiter = &w->list[task];
	*(waiter->before == WEFT_NONE ? &w->first : &w->list[waiter->before].after) = waiter->after;
	*(waiter->after == WEFT_NONE ? &w->last : &w->list[waiter->after].before) = waiter->before;
}

static void move_link(uint32_t *link, const uint32_t *new_index)
{
	if (*link != WEFT_NONE)
		*link = new_index[*link];
}

/* The links of a task that does not wait are stale, and may lead to one that is forgotten. */
void weft__trigger_waiters_move(struct weft__waiters *w, const uint32_t *new_index)
{
	uint32_t kept = 0;
	for (uint32_t task = 0; task < w->count; task++) {
		if (new_index[task] == WEFT_NONE) {
			free_label(&w->list[task]);
			continue;
		}
		w->list[kept] = w->list[task];
		move_link(&w->list[kept].before, new_index);
		move_link(&w->list[kept].after, new_index);
		kept++;
	}
	move_link(&w->first, new_index);
	move_link(&w->last, new_index);
	w->count = kept;
}
