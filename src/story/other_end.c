/* SPDX-License-Identifier: ISC
 *
 * See other_end.h. A reader waits for the task that wrote last, or that has the writing end; a
 * writer waits for the task that reads.
 */
#include "story/other_end.h"

#include <stdlib.h>
#include <string.h>

#include <weft/ends.h>

#include "base/search.h"
#include "story/index.h"
#include "story/own_pipe.h"

/* Edges of an end, and notes of it, that are examined, from the time on back. */
#define LOOKED_MAX 256

/* ---- All ends ---- */

/* False if the note says nothing about an end. */
static bool end_of_note(
	const struct weft_model *model, uint32_t task, uint32_t note, struct weft__end *ret)
{
	if (model->notes.type[note] != WEFT_NOTE_VALUE)
		return false;
	bool writes = weft__story_is_tag(model, note, WEFT_TAG_WRITES);
	if (!writes && !weft__story_is_tag(model, note, WEFT_TAG_READS))
		return false;
	*ret = (struct weft__end){(uint64_t)model->notes.value[note], task, writes};
	return true;
}

static int by_key(const void *left, const void *right)
{
	const struct weft__end *l = left, *r = right;
	if (l->key != r->key)
		return l->key < r->key ? -1 : 1;
	if (l->task != r->task)
		return l->task < r->task ? -1 : 1;
	return l->writes - r->writes;
}

static uint32_t list_ends(const struct weft_model *model, struct weft__end *list)
{
	const struct weft_tasks *t = &model->tasks;
	struct weft__end end;
	uint32_t count = 0;
	for (uint32_t task = 0; task < t->count; task++)
		for (uint32_t note = t->first_note[task]; note < t->end_note[task]; note++) {
			if (!end_of_note(model, task, note, &end))
				continue;
			if (list)
				list[count] = end;
			count++;
		}
	return count;
}

/* When the last thread of each program has ended: the kernel has closed its ends then. */
static int find_exits(struct weft__end_list *list, const struct weft_model *model)
{
	const struct weft_tasks *t = &model->tasks;
	const size_t buffers = model->buffer_count + (size_t)1;
	list->exit_ns = calloc(buffers, sizeof(*list->exit_ns));
	if (!list->exit_ns)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < t->count; task++) {
		if (t->kind[task] != WEFT_KIND_THREAD || t->buffer[task] >= buffers)
			continue;
		uint64_t *exit = &list->exit_ns[t->buffer[task]];
		const uint64_t end = t->flags[task] & WEFT_TASK_RESOLVED ? t->end[task] : UINT64_MAX;
		*exit = end > *exit ? end : *exit;
	}
	for (size_t i = 0; i < buffers; i++)
		list->exit_ns[i] = list->exit_ns[i] ? list->exit_ns[i] : UINT64_MAX;
	return 0;
}

int weft__story_end_list_init(struct weft__end_list *list, const struct weft_model *model)
{
	uint32_t count = model->summary.by_event[WEFT_EVENT_TAG] ? list_ends(model, NULL) : 0;
	*list = (struct weft__end_list){0};
	if (!count)
		return 0;
	list->by_task = malloc(2 * (size_t)count * sizeof(*list->by_task));
	if (!list->by_task)
		return WEFT_ERROR_MEMORY;
	list->count = list_ends(model, list->by_task);
	list->by_key = list->by_task + count;
	memcpy(list->by_key, list->by_task, count * sizeof(*list->by_key));
	qsort(list->by_key, count, sizeof(*list->by_key), by_key);
	return find_exits(list, model);
}

void weft__story_end_list_finish(struct weft__end_list *list)
{
	free(list->by_task);
	free(list->exit_ns);
	*list = (struct weft__end_list){0};
}

/* ---- One end ---- */

static bool has_end(const struct weft__end_list *list, uint32_t task)
{
	uint32_t low = 0, high = list->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (list->by_task[middle].task < task)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->count && list->by_task[low].task == task;
}

/* The direction in which the task was used last: recorders repeat the tag when that changes. */
static bool end_at(
	const struct weft_model *model, uint32_t task, uint64_t at, struct weft__end *ret)
{
	uint32_t first = model->tasks.first_note[task], end = model->tasks.end_note[task];
	uint32_t note = weft__search(model->notes.time, first, end, weft__is_not_more_u64, at);
	for (uint32_t looked = 0; note > first && looked < LOOKED_MAX; note--, looked++)
		if (end_of_note(model, task, note - 1, ret))
			return true;
	return false;
}

/* The task that has read from the end, or waited for it, last before a time. */
static uint32_t last_user(const struct weft_story *story, uint32_t end, uint64_t at)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list to = weft__story_edges_to(story, end);
	uint32_t i = weft__story_edges_until(story->model, to, at);
	for (uint32_t looked = 0; i > 0 && looked < LOOKED_MAX; i--, looked++) {
		uint32_t edge = to.edges[i - 1];
		if ((e->type[edge] == WEFT_EDGE_READ || e->type[edge] == WEFT_EDGE_TRY_READ) &&
			e->from[edge] != WEFT_NONE)
			return e->from[edge];
	}
	return WEFT_NONE;
}

uint32_t weft__story_last_sender(const struct weft_story *story, uint32_t end, uint64_t at)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list to = weft__story_edges_to(story, end);
	uint32_t i = weft__story_edges_until(story->model, to, at);
	for (uint32_t looked = 0; i > 0 && looked < LOOKED_MAX; i--, looked++)
		if (e->type[to.edges[i - 1]] == WEFT_EDGE_RECEIVE)
			return e->from[to.edges[i - 1]];
	return WEFT_NONE;
}

/* True if both are of one process: a program, and one that it has executed. */
static bool are_of_one_process(const struct weft_model *model, uint32_t one, uint32_t other)
{
	const struct weft_trace_buffer *b = model->buffers;
	return one != other && b[one].pid != 0 && b[one].pid == b[other].pid &&
		   memcmp(b[one].boot_id, b[other].boot_id, sizeof(b[one].boot_id)) == 0;
}

/* True if another program has taken the place of a buffer's by exec: its record is over where that
 * of the later one begins. */
static bool is_replaced(const struct weft_model *model, uint32_t buffer, uint64_t at)
{
	uint64_t first = UINT64_MAX, last = 0;
	bool has_other = false;
	for (uint32_t other = 0; buffer < model->buffer_count && other < model->buffer_count; other++)
		has_other = has_other || are_of_one_process(model, buffer, other);
	if (!has_other)
		return false;
	for (uint32_t task = 0; task < model->tasks.count; task++) {
		uint32_t other = model->tasks.buffer[task];
		uint64_t start = model->tasks.start[task];
		if (model->tasks.kind[task] == WEFT_KIND_TRACK)
			continue; /* it begins with the trace */
		if (other == buffer && start < first)
			first = start;
		else if (other < model->buffer_count && are_of_one_process(model, buffer, other) &&
				 start <= at && start > last)
			last = start;
	}
	return last > first;
}

static bool is_alive(const struct weft_model *model, uint32_t task, uint64_t at)
{
	return task != WEFT_NONE && model->tasks.start[task] <= at &&
		   !weft__story_is_gone(model, task, at);
}

/* The task of the first thread of a buffer; WEFT_NONE if it is not known. */
static uint32_t first_thread(const struct weft_model *model, uint32_t buffer)
{
	for (uint32_t task = 0; task < model->tasks.count; task++)
		if (model->tasks.buffer[task] == buffer && model->tasks.kind[task] == WEFT_KIND_THREAD)
			return task;
	return WEFT_NONE;
}

static bool has_run(const struct weft_model *model, uint32_t task)
{
	return model->tasks.first_activation[task] < model->tasks.end_activation[task];
}

/* The task that uses `other->end`; sets `is_kept`. */
static uint32_t user_of(
	const struct weft_story *story, uint32_t sender, struct weft__other_end *other, uint64_t at)
{
	const struct weft_model *model = story->model;
	const uint32_t buffer = model->tasks.buffer[other->end];
	uint32_t user =
		sender != WEFT_NONE && model->tasks.buffer[sender] == buffer ? sender : WEFT_NONE;
	if (other->is_queue) /* its end is the thread that used it first */
		return is_alive(model, user, at) ? user : other->end;
	if (!is_alive(model, user, at))
		user = last_user(story, other->end, at);
	other->is_kept = other->writes && user == WEFT_NONE;
	if (!is_alive(model, user, at))
		user = model->tasks.parent[other->end];
	if (!is_alive(model, user, at))
		user = first_thread(model, buffer);
	if (has_run(model, other->end))
		user = other->end; /* a loop lets the connection itself run */
	return is_alive(model, user, at) ? weft__story_become_at(model, user, at) : WEFT_NONE;
}

uint32_t weft__story_first_end(const struct weft__end_list *list, uint64_t key)
{
	uint32_t low = 0, high = list->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (list->by_key[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* True if the task, a thread, has kept the end, and does no more. */
static bool has_left(const struct weft_model *model, const struct weft__end *end, uint64_t at)
{
	const uint32_t first = model->tasks.first_note[end->task];
	uint32_t note = weft__search(
		model->notes.time, first, model->tasks.end_note[end->task], weft__is_not_more_u64, at);
	for (uint32_t looked = 0; note > first && looked < LOOKED_MAX; note--, looked++)
		if (weft__story_is_tag(model, note - 1, WEFT_TAG_LEAVES) &&
			(uint64_t)model->notes.value[note - 1] == end->key)
			return true;
	return false;
}

static bool has_exited(const struct weft__end_list *list, const struct weft_model *model,
	const struct weft__end *end, uint64_t at)
{
	const uint32_t buffer = model->tasks.buffer[end->task];
	return buffer < model->buffer_count && list->exit_ns[buffer] <= at;
}

/* The next living end on the other side of `own`, from `*at` in the list on; WEFT_NONE: there is
 * none.
 */
static uint32_t next_end(
	const struct weft_story *story, const struct weft__end *own, uint64_t at_ns, uint32_t *at)
{
	const struct weft__end_list *list = &story->index->ends;
	const struct weft_model *model = story->model;
	while (*at < list->count && list->by_key[*at].key == own->key) {
		const uint32_t number = (*at)++;
		const struct weft__end *end = &list->by_key[number];
		const bool is_repeated = number && list->by_key[number - 1].key == own->key &&
								 list->by_key[number - 1].task == end->task &&
								 list->by_key[number - 1].writes == end->writes;
		if (end->writes == own->writes || is_repeated || end->task == own->task ||
			model->tasks.buffer[end->task] == model->tasks.buffer[own->task] ||
			!is_alive(model, end->task, at_ns) || has_left(model, end, at_ns) ||
			is_replaced(model, model->tasks.buffer[end->task], at_ns) ||
			has_exited(list, model, end, at_ns))
			continue;
		return end->task;
	}
	return WEFT_NONE;
}

bool weft__story_waits_to_write(const struct weft_model *model, uint32_t task, uint64_t at_ns)
{
	struct weft__end end;
	return end_at(model, task, at_ns, &end) && end.writes;
}

bool weft__story_was_accepted(const struct weft_model *model, uint32_t task)
{
	const uint32_t parent = model->tasks.parent[task];
	return parent != WEFT_NONE && weft__story_is_kind(model, parent, "listener");
}

/* The other end of a connection of a process to itself; WEFT_NONE: it is none. Only of those that
 * were accepted, or that the recorder calls the process's own: a child has both ends of a pipe,
 * too, and may be unknown to the trace. */
static uint32_t inner_end(
	const struct weft_story *story, const struct weft__end *own, uint64_t at_ns)
{
	const struct weft__end_list *list = &story->index->ends;
	const struct weft_model *model = story->model;
	uint32_t found = WEFT_NONE;
	for (uint32_t i = weft__story_first_end(list, own->key);
		 i < list->count && list->by_key[i].key == own->key; i++) {
		const struct weft__end *end = &list->by_key[i];
		if (!is_alive(model, end->task, at_ns))
			continue;
		if (model->tasks.buffer[end->task] != model->tasks.buffer[own->task])
			return WEFT_NONE;
		if (end->writes != own->writes && end->task != own->task &&
			(weft__story_was_accepted(model, end->task) ||
				weft__story_was_accepted(model, own->task) ||
				weft__story_is_own_pipe(model, own->task, at_ns)))
			found = end->task;
	}
	return found;
}

/* Counts the living ends of other processes, and finds the one of the process that has sent last.
 */
static uint32_t find_outer_ends(const struct weft_story *story, const struct weft__end *own,
	uint32_t sender, uint64_t at_ns, uint32_t *ret_end)
{
	const uint32_t *buffer = story->model->tasks.buffer;
	uint32_t count = 0, at = weft__story_first_end(&story->index->ends, own->key), end;
	while ((end = next_end(story, own, at_ns, &at)) != WEFT_NONE) {
		const bool has_sent = sender != WEFT_NONE && buffer[end] == buffer[sender];
		if (!count++ || has_sent)
			*ret_end = end;
	}
	return count;
}

bool weft__story_end_at(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, struct weft__end *ret)
{
	return story->index && has_end(&story->index->ends, task) && !has_run(story->model, task) &&
		   end_at(story->model, task, at_ns, ret) &&
		   !(ret->writes && ret->key >> 56 == WEFT_KEY_DATAGRAMS); /* nobody makes room for it */
}

bool weft__story_other_end(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, struct weft__other_end *ret)
{
	struct weft__end own;
	if (!weft__story_end_at(story, task, at_ns, &own))
		return false;
	const uint32_t sender =
		own.writes ? WEFT_NONE : weft__story_last_sender(story, own.task, at_ns);
	struct weft__other_end other = {.end = WEFT_NONE, .writes = !own.writes};
	const uint32_t count = find_outer_ends(story, &own, sender, at_ns, &other.end);
	if (!count) {
		other.end = inner_end(story, &own, at_ns);
		other.is_inner = true;
	}
	if (other.end == WEFT_NONE)
		return false;
	other.others = count ? count - 1 : 0;
	other.is_queue = own.key >> 56 == WEFT_KEY_QUEUE;
	other.is_any_child = own.key >> 56 == WEFT_KEY_CHILD_EXITS;
	other.user = user_of(story, sender, &other, at_ns);
	*ret = other;
	if (other.is_inner && weft__story_is_own_pipe(story->model, task, at_ns) &&
		other.user == last_user(story, task, at_ns))
		return false; /* any thread may use it */
	return other.user != WEFT_NONE && other.user != task;
}

bool weft__story_keeps_own_end(const struct weft_story *story, uint32_t task, uint64_t at_ns)
{
	struct weft__end own;
	uint32_t end = WEFT_NONE;
	if (!weft__story_end_at(story, task, at_ns, &own) || own.writes ||
		own.key >> 56 != WEFT_KEY_STREAM_FIRST ||
		find_outer_ends(story, &own, WEFT_NONE, at_ns, &end))
		return false;
	const struct weft__end_list *list = &story->index->ends;
	const struct weft_tasks *t = &story->model->tasks;
	for (uint32_t i = weft__story_first_end(list, own.key);
		 i < list->count && list->by_key[i].key == own.key; i++) {
		end = list->by_key[i].task;
		if (list->by_key[i].writes && t->buffer[end] == t->buffer[task] &&
			t->parent[end] == WEFT_NONE && t->kind[end] == t->kind[task] &&
			is_alive(story->model, end, at_ns))
			return true;
	}
	return false;
}

/* ---- Children ---- */

uint32_t weft__story_child_count(const struct weft_model *model, uint32_t task)
{
	const uint32_t first = model->tasks.first_note[task], end = model->tasks.end_note[task];
	for (uint32_t note = end; note > first && end - note < LOOKED_MAX; note--)
		if (weft__story_is_tag(model, note - 1, WEFT_TAG_CHILDREN))
			return (uint32_t)model->notes.value[note - 1];
	return 0;
}

uint32_t weft__story_child_at(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, uint32_t *position)
{
	struct weft__end own;
	if (!weft__story_end_at(story, task, at_ns, &own) || own.key >> 56 != WEFT_KEY_CHILD_EXITS)
		return WEFT_NONE;
	if (!*position)
		*position = weft__story_first_end(&story->index->ends, own.key);
	return next_end(story, &own, at_ns, position);
}
