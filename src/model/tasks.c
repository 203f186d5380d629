/* SPDX-License-Identifier: ISC
 *
 * Identity: from (buffer, id) to a dense index, along chains of becomes, within the forest of
 * creations. Both walks compress the paths they take, so that chains a million deep cost nothing
 * the second time, and neither is recursive.
 */
#include "base/array.h"
#include "model/builder.h"

/* A guess that is wrong as often as one time in this many is not worth it. */
#define GUESS_PENALTY 3

/* Neighbouring ids share a cache line of the index; the rest is mixed. */
uint64_t weft__task_hash(uint32_t buffer, uint64_t id)
{
	return (weft__index_mix((id >> 4) ^ ((uint64_t)buffer << 40)) & ~(uint64_t)15) | (id & 15);
}

uint32_t weft__task_find(const struct weft__index *index, const uint64_t *ids,
	const uint32_t *buffers, uint32_t buffer, uint64_t id)
{
	uint32_t slot = weft__index_start(index, weft__task_hash(buffer, id)), task;
	while ((task = index->slots[slot]) != WEFT__INDEX_EMPTY) {
		if (ids[task] == id && buffers[task] == buffer)
			return task;
		slot = weft__index_next(index, slot);
	}
	return WEFT_NONE;
}

static uint64_t hash_task(const void *owner, uint32_t task)
{
	const struct task_columns *tasks = owner;
	return weft__task_hash(tasks->buffer[task], tasks->id[task]);
}

static int reserve_task(struct task_columns *t)
{
	const struct weft__column columns[] = {
		{&t->id, sizeof(*t->id)},
		{&t->start, sizeof(*t->start)},
		{&t->end, sizeof(*t->end)},
		{&t->parent, sizeof(*t->parent)},
		{&t->becomes, sizeof(*t->becomes)},
		{&t->forward, sizeof(*t->forward)},
		{&t->root, sizeof(*t->root)},
		{&t->buffer, sizeof(*t->buffer)},
		{&t->label, sizeof(*t->label)},
		{&t->message, sizeof(*t->message)},
		{&t->last_edge, sizeof(*t->last_edge)},
		{&t->kind, sizeof(*t->kind)},
		{&t->flags, sizeof(*t->flags)},
	};
	/* Two numbers stay free for RUNNING_UNKNOWN and RUNNING_IDLE. */
	if (t->count >= RUNNING_UNKNOWN - 1)
		return WEFT_ERROR_LIMIT;
	return weft__columns_reserve(
		columns, sizeof(columns) / sizeof(*columns), &t->capacity, t->count + (size_t)1);
}

static int add_task(struct weft_model_builder *b, uint32_t buffer, uint64_t id, uint32_t *ret_task)
{
	struct task_columns *t = &b->tasks;
	uint32_t task = t->count;
	int error = reserve_task(t);
	if (error)
		return error;
	t->id[task] = id;
	t->buffer[task] = buffer;
	error = weft__index_add(&b->tasks_by_id, task, hash_task, t);
	if (error)
		return error;
	t->start[task] = b->now;
	t->end[task] = b->summary.start; /* a mention alone does not prove that it lives */
	t->forward[task] = t->root[task] = task;
	t->parent[task] = t->becomes[task] = t->label[task] = t->message[task] = WEFT_NONE;
	t->last_edge[task] = WEFT_NONE;
	t->kind[task] = WEFT_KIND_PREEXISTING;
	t->flags[task] = 0;
	t->count++;
	*ret_task = task;
	return 0;
}

/* The index costs two reads of memory that nothing foretells. Where tasks are in the order of their
 * ids, as after one look at a few thousand of them, the guess costs none. */
static uint32_t guess_task(struct weft_model_builder *b, uint32_t buffer, uint64_t id)
{
	uint64_t task = id - b->guess.less;
	if (b->guess.confidence < 0)
		return WEFT_NONE;
	if (task < b->tasks.count && b->tasks.id[task] == id && b->tasks.buffer[task] == buffer) {
		b->guess.confidence += b->guess.confidence < TASK_GUESS_CONFIDENCE;
		return (uint32_t)task;
	}
	return WEFT_NONE;
}

static void learn_guess(struct weft_model_builder *b, uint32_t task, uint64_t id)
{
	b->guess.less = id - task;
	if (b->guess.confidence >= 0)
		b->guess.confidence -= GUESS_PENALTY;
	if (b->guess.confidence < 0)
		b->guess.confidence = -1;
}

int weft__task_mention(
	struct weft_model_builder *b, uint32_t buffer, uint64_t id, uint32_t *ret_task)
{
	uint32_t task = guess_task(b, buffer, id);
	if (task == WEFT_NONE) {
		task = weft__task_find(&b->tasks_by_id, b->tasks.id, b->tasks.buffer, buffer, id);
		if (task == WEFT_NONE)
			return add_task(b, buffer, id, ret_task);
		learn_guess(b, task, id);
	}
	*ret_task = task;
	return 0;
}

/* The end of the path that starts at `from`; every step on it then leads there directly. */
static uint32_t follow(uint32_t *next, uint32_t from)
{
	uint32_t end = from;
	while (next[end] != end)
		end = next[end];
	while (next[from] != end) {
		uint32_t step = next[from];
		next[from] = end;
		from = step;
	}
	return end;
}

uint32_t weft__task_forward(struct weft_model_builder *b, uint32_t task)
{
	return follow(b->tasks.forward, task);
}

bool weft__task_attach(struct weft_model_builder *b, uint32_t child, uint32_t parent)
{
	uint32_t root;
	if (parent == WEFT_NONE)
		return true;
	root = follow(b->tasks.root, parent);
	if (root == child)
		return false;
	b->tasks.root[child] = root;
	b->tasks.parent[child] = parent;
	return true;
}

void weft__task_touch(struct weft_model_builder *b, uint32_t task)
{
	if (!(b->tasks.flags[task] & WEFT_TASK_RESOLVED))
		b->tasks.end[task] = b->now;
}
