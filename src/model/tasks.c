/* SPDX-License-Identifier: ISC
 *
 * Tasks along chains of becomes, and within the forest of creations. Both walks compress the paths
 * they take, so that a chain of a million tasks is walked only once, and neither is recursive.
 */
#include "base/array.h"
#include "model/state.h"

__attribute__((noinline)) static int reserve_task(struct weft__state_tasks *t)
{
	if (t->count < t->capacity)
		return 0;
	const struct weft__column columns[] = {
		{&t->root, sizeof(*t->root)},
		{&t->forward, sizeof(*t->forward)},
		{&t->asked, sizeof(*t->asked)},
		{&t->ran_on, sizeof(*t->ran_on)},
#define TASK_COLUMN(name, type, first) {&t->name, sizeof(*t->name)},
#include <weft/task_columns.def>
#undef TASK_COLUMN
	};
	return weft__columns_reserve(
		columns, sizeof(columns) / sizeof(*columns), &t->capacity, t->count + (size_t)1);
}

static int add_task(struct weft__state *s)
{
	struct weft__state_tasks *t = &s->tasks;
	int error = reserve_task(t);
	if (!error && s->listener->mention)
		error = s->listener->mention(s->context, t->count);
	if (error)
		return error;
	uint32_t task = t->count++;
	t->forward[task] = t->root[task] = task;
	t->asked[task] = t->ran_on[task] = WEFT_NONE;
#define TASK_COLUMN(name, type, first) t->name[task] = first;
#include <weft/task_columns.def>
#undef TASK_COLUMN
	return 0;
}

int weft__model_state_mention(struct weft__state *s, uint32_t task)
{
	int error = 0;
	while (!error && task >= s->tasks.count)
		error = add_task(s);
	return error;
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

uint32_t weft__model_state_forward_far(struct weft__state *s, uint32_t task)
{
	return follow(s->tasks.forward, task);
}

bool weft__model_state_attach(struct weft__state *s, uint32_t child, uint32_t parent)
{
	if (parent == WEFT_NONE)
		return true;
	uint32_t root = follow(s->tasks.root, parent);
	if (root == child)
		return false;
	s->tasks.root[child] = root;
	s->tasks.parent[child] = parent;
	return true;
}
