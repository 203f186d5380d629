/* SPDX-License-Identifier: ISC
 *
 * Threads by number: a sorted list of places beside the list of threads, which is in the order of
 * meeting. New numbers are nearly always the highest, so inserting moves little.
 */
#include "format/weft_roster.h"

#include <stdlib.h>
#include <string.h>

struct weft__roster_place {
	uint32_t number, index;
};

/* The first place whose number is not below. */
static uint32_t lower_bound(const struct weft__roster *r, uint32_t number)
{
	uint32_t low = 0, high = r->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (r->places[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* False if that fails: what has grown by then is only larger. */
static bool grow_array(void *array, size_t element, uint32_t capacity)
{
	void *old, *larger;
	memcpy(&old, array, sizeof(old));
	larger = realloc(old, capacity * element);
	if (larger)
		memcpy(array, &larger, sizeof(larger));
	return larger != NULL;
}

static int grow(struct weft__roster *r)
{
	uint32_t capacity = r->capacity ? 2 * r->capacity : 16;
	if (r->count < r->capacity)
		return 0;
	if (!grow_array(&r->list, sizeof(*r->list), capacity) ||
		!grow_array(&r->events, sizeof(*r->events), capacity) ||
		!grow_array(&r->places, sizeof(*r->places), capacity) ||
		!grow_array(&r->names, sizeof(*r->names), capacity))
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < r->count; i++)
		r->list[i].name = r->names[i];
	r->capacity = capacity;
	return 0;
}

static void append(struct weft__roster *r, uint32_t place, const struct weft__roster_thread *thread)
{
	uint32_t index = r->count;
	memmove(&r->places[place + 1], &r->places[place], (r->count - place) * sizeof(*r->places));
	r->places[place] = (struct weft__roster_place){thread->number, index};
	memcpy(r->names[index], thread->name, WEFT_ABI_NAME_BYTES);
	r->names[index][WEFT_ABI_NAME_BYTES] = '\0';
	r->events[index] = 0;
	r->list[index] = (struct weft_trace_thread){
		.name = r->names[index],
		.process = r->process,
		.pid = r->pid,
		.tid = thread->tid,
	};
	r->count++;
}

int weft__roster_find(
	struct weft__roster *r, const struct weft__roster_thread *thread, uint32_t *ret_index)
{
	uint32_t place = lower_bound(r, thread->number);
	if (place < r->count && r->places[place].number == thread->number) {
		*ret_index = r->places[place].index;
		return 0;
	}
	if (r->count == WEFT__ROSTER_MAX) {
		*ret_index = r->count - 1;
		return 0;
	}
	int error = grow(r);
	if (error)
		return error;
	*ret_index = r->count;
	append(r, place, thread);
	return 0;
}

int weft__roster_init(struct weft__roster *r, const struct weft__buffer *buffer)
{
	struct weft__threads threads;
	uint8_t name[WEFT_ABI_NAME_BYTES];
	uint32_t index;
	*r = (struct weft__roster){.process = buffer->program, .pid = buffer->pid};
	int error = weft__threads_init(&threads, buffer);
	for (uint32_t i = 0; !error && i < threads.count; i++) {
		memcpy(name, threads.names[i], sizeof(name));
		const struct weft__roster_thread thread = {
			threads.numbers[i], (uint32_t)threads.list[i].tid, name};
		error = weft__roster_find(r, &thread, &index);
	}
	weft__threads_finish(&threads);
	if (error)
		weft__roster_finish(r);
	return error;
}

void weft__roster_finish(struct weft__roster *r)
{
	free(r->list);
	free(r->names);
	free(r->events);
	free(r->places);
	*r = (struct weft__roster){0};
}
