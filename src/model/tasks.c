/* SPDX-License-Identifier: ISC
 *
 * Tasks along chains of becomes, and within the forest of creations. Both walks compress the paths
 * they take, so that chains a million deep cost nothing the second time, and neither is recursive.
 */
#include "base/array.h"
#include "model/builder.h"

static int reserve_task(struct task_columns *t)
{
	if (t->count < t->capacity)
		return 0;
	const struct weft__column columns[] = {
		{&t->start, sizeof(*t->start)},
		{&t->end, sizeof(*t->end)},
		{&t->parent, sizeof(*t->parent)},
		{&t->becomes, sizeof(*t->becomes)},
		{&t->forward, sizeof(*t->forward)},
		{&t->root, sizeof(*t->root)},
		{&t->label, sizeof(*t->label)},
		{&t->message, sizeof(*t->message)},
		{&t->last_edge, sizeof(*t->last_edge)},
		{&t->kind, sizeof(*t->kind)},
		{&t->flags, sizeof(*t->flags)},
	};
	return weft__columns_reserve(
		columns, sizeof(columns) / sizeof(*columns), &t->capacity, t->count + (size_t)1);
}

static void add_task(struct weft_model_builder *b)
{
	struct task_columns *t = &b->tasks;
	uint32_t task = t->count++;
	t->start[task] = b->now;
	t->end[task] = b->summary.start; /* a mention alone does not prove that it lives */
	t->forward[task] = t->root[task] = task;
	t->parent[task] = t->becomes[task] = t->label[task] = t->message[task] = WEFT_NONE;
	t->last_edge[task] = WEFT_NONE;
	t->kind[task] = WEFT_KIND_PREEXISTING;
	t->flags[task] = 0;
}

int weft__task_mention(struct weft_model_builder *b, uint32_t task)
{
	while (task != WEFT_NONE && task >= b->tasks.count) {
		int error = reserve_task(&b->tasks);
		if (error)
			return error;
		add_task(b);
	}
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
