/* SPDX-License-Identifier: ISC
 *
 * A list in the order of time: resources have few holders at once.
 */
#include "model/holds.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void weft__model_holders_finish(struct weft__holders *h)
{
	free(h->list);
	*h = (struct weft__holders){0};
}

/* The latest hold of the task; WEFT_NONE: it has none. */
static uint32_t find_holder(const struct weft__holders *h, uint32_t task)
{
	for (uint32_t i = h->count; i > 0 && task != WEFT_NONE; i--)
		if (h->list[i - 1].task == task)
			return i - 1;
	return WEFT_NONE;
}

bool weft__model_holders_has(const struct weft__holders *h, uint32_t task)
{
	return find_holder(h, task) != WEFT_NONE;
}

static int add_holder(struct weft__holders *h, uint32_t task, uint64_t time)
{
	const struct weft__column column = {&h->list, sizeof(*h->list)};
	if (h->count == WEFT__HOLDS_MAX) {
		h->unlisted++;
		return 0;
	}
	int error = weft__columns_reserve(&column, 1, &h->capacity, h->count + (size_t)1);
	if (!error)
		h->list[h->count++] = (struct weft__hold){time, task, 1};
	return error;
}

/* A lock has one holder: the trace lacks the release of another one. */
static void forget_others(struct weft__holders *h, uint32_t task)
{
	for (uint32_t i = 0; i < h->count; i++)
		if (h->list[i].task != task)
			h->count = h->unlisted = 0;
}

int weft__model_holders_take(struct weft__holders *h, unsigned kind, uint32_t task, uint64_t time)
{
	if (kind != WEFT_KIND_LOCK)
		return add_holder(h, task, time);
	forget_others(h, task);
	uint32_t held = find_holder(h, task);
	if (held == WEFT_NONE)
		return add_holder(h, task, time);
	h->list[held].depth += h->list[held].depth < UINT32_MAX;
	return 0;
}

void weft__model_holders_give(struct weft__holders *h, uint32_t task)
{
	uint32_t held = find_holder(h, task);
	if (held == WEFT_NONE && h->unlisted) {
		h->unlisted--;
		return;
	}
	if (held == WEFT_NONE)
		held = 0; /* another task gives it back for the first holder */
	if (held >= h->count || --h->list[held].depth > 0)
		return;
	h->count--;
	memmove(h->list + held, h->list + held + 1, (h->count - held) * sizeof(*h->list));
}
