/* SPDX-License-Identifier: ISC
 *
 * A span takes the first line of its track on which nothing is later than its begin.
 */
#include "model/tracks.h"

#include <stdlib.h>

#include "base/array.h"

void weft__model_tracks_finish(struct weft__tracks *tracks)
{
	free(tracks->lines);
	weft__index_finish(&tracks->by_task);
	*tracks = (struct weft__tracks){0};
}

static uint64_t hash_task(const struct weft__hash_key *key, uint32_t task)
{
	struct weft__hash hash = weft__hash_begin(key);
	weft__hash_word(&hash, task);
	return weft__hash_end(&hash);
}

static uint64_t hash_line(const struct weft__hash_key *key, const void *owner, uint32_t line)
{
	const struct weft__tracks *tracks = owner;
	return hash_task(key, tracks->lines[line].task);
}

static struct weft__track_line *find(const struct weft__tracks *t, uint32_t task)
{
	uint32_t slot = weft__index_start(&t->by_task, hash_task(&t->by_task.key, task)), line;
	while ((line = t->by_task.slots[slot]) != WEFT__INDEX_EMPTY) {
		if (t->lines[line].task == task)
			return &t->lines[line];
		slot = weft__index_next(&t->by_task, slot);
	}
	return NULL;
}

static int add_line(struct weft__tracks *t, uint32_t task, uint32_t name, uint32_t thread)
{
	const struct weft__column column = {&t->lines, sizeof(*t->lines)};
	int error = t->by_task.slots ? 0 : weft__index_init(&t->by_task);
	if (!error)
		error = weft__columns_reserve(&column, 1, &t->capacity, t->count + (size_t)1);
	if (error)
		return error;
	t->lines[t->count] = (struct weft__track_line){0, task, name, thread};
	error = weft__index_add(&t->by_task, t->count, hash_line, t);
	t->count += !error;
	return error;
}

/* The line with the id of `number`; the first call for it adds it. */
static int find_line(struct weft__tracks *t, struct weft__identities *identities,
	const struct weft_event *event, uint32_t number, uint32_t name,
	struct weft__track_line **ret_line)
{
	uint32_t task;
	int error = weft__model_identify(identities, event->buffer, event->other + number, &task);
	if (error)
		return error;
	*ret_line = t->by_task.slots ? find(t, task) : NULL;
	if (*ret_line)
		return 0;
	error = add_line(t, task, name, event->thread);
	if (!error)
		*ret_line = &t->lines[t->count - 1];
	return error;
}

int weft__model_tracks_place(struct weft__tracks *tracks, struct weft__identities *identities,
	struct weft__texts *texts, const struct weft_event *event, struct weft__fact *fact)
{
	struct weft__track_line *line = NULL;
	uint64_t begin = (uint64_t)fact->value;
	uint32_t number = 0, name;
	const struct weft_slice text = event->kind_name;
	int error = weft__strings_intern(&texts->strings, text.bytes, text.size, &name);
	do {
		if (!error)
			error = find_line(tracks, identities, event, number, name, &line);
		if (error)
			return error;
	} while (line->end > begin && begin <= fact->end_ns && ++number < WEFT_TRACK_LINES);
	fact->other = line->task;
	if (line->end > begin)
		begin = line->end;
	fact->value = (int64_t)begin;
	if (fact->end_ns > line->end && begin <= fact->end_ns)
		line->end = fact->end_ns;
	return 0;
}

int weft__model_tracks_place_thread(struct weft__tracks *tracks,
	struct weft__identities *identities, const struct weft_event *event, struct weft__fact *fact)
{
	weft_task_id id = WEFT_TRACK_THREADS + event->thread;
	uint32_t task = weft__model_ids_find(
		&identities->by_id, identities->id, identities->buffer, event->buffer, id);
	bool is_known = task != WEFT_NONE && tracks->by_task.slots && find(tracks, task);
	int error = 0;
	if (!is_known && event->type == WEFT_EVENT_END)
		return 0;
	if (!is_known)
		error = weft__model_identify(identities, event->buffer, id, &task);
	if (!error && !is_known)
		error = add_line(tracks, task, WEFT_NONE, event->thread);
	if (!error)
		fact->task = task;
	return error;
}

int weft__model_tracks_move(struct weft__tracks *tracks, const uint32_t *new_index)
{
	int error = 0;
	if (!tracks->count)
		return 0;
	weft__index_finish(&tracks->by_task);
	for (uint32_t i = 0; i < tracks->count; i++)
		tracks->lines[i].task = new_index[tracks->lines[i].task];
	error = weft__index_init(&tracks->by_task);
	for (uint32_t i = 0; !error && i < tracks->count; i++)
		error = weft__index_add(&tracks->by_task, i, hash_line, tracks);
	return error;
}
