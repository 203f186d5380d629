/* SPDX-License-Identifier: ISC
 *
 * A program that is followed for months names more tasks than fit in memory, but few of them live.
 * Tasks that live, tasks on a thread and the chains of becomes that lead to them are kept and
 * renumbered in their order; all others are forgotten.
 */
#include <stdlib.h>

#include "model/state.h"

/* The task has not ended, and an event did more than mention it. */
static bool is_known_to_live(const struct weft__state *s, uint32_t task)
{
	uint8_t flags = s->tasks.flags[task];
	if (flags & WEFT_TASK_RESOLVED)
		return false;
	return s->tasks.label[task] != WEFT_NONE ||
		   (flags & (WEFT_TASK_CREATED | WEFT_TASK_FROM_RUNDOWN | WEFT_TASK_EXPECTED |
						WEFT__TASK_WAITS));
}

static void keep_one(struct weft__state *s, uint32_t *new_index, uint32_t task)
{
	if (task < s->tasks.count)
		new_index[task] = 0;
}

/* Keeps the tasks on each thread even if they have ended, and the tasks that they became. */
static void keep_running(struct weft__state *s, uint32_t *new_index)
{
	for (uint32_t i = 0; i < s->thread_count; i++) {
		const uint32_t tasks[] = {s->threads[i].running, s->threads[i].interrupted};
		for (unsigned j = 0; j < 2; j++) {
			keep_one(s, new_index, tasks[j]);
			if (tasks[j] < s->tasks.count)
				keep_one(s, new_index, weft__model_state_forward(s, tasks[j]));
		}
	}
}

/* The target of a become lives. The tasks that became it are kept, because later events may still
 * name them instead. */
static void keep_chains(struct weft__state *s, uint32_t *new_index)
{
	for (uint32_t task = 0; task < s->tasks.count; task++) {
		uint32_t last = weft__model_state_forward(s, task);
		if (last != task && !(s->tasks.flags[last] & WEFT_TASK_RESOLVED))
			new_index[last] = 0;
		if (new_index[last] != WEFT_NONE)
			new_index[task] = 0;
	}
}

static uint32_t choose_indices(struct weft__state *s, uint32_t *new_index)
{
	uint32_t kept = 0;
	for (uint32_t task = 0; task < s->tasks.count; task++)
		new_index[task] = is_known_to_live(s, task) ? 0 : WEFT_NONE;
	keep_running(s, new_index);
	keep_chains(s, new_index);
	for (uint32_t task = 0; task < s->tasks.count; task++)
		if (new_index[task] != WEFT_NONE)
			new_index[task] = kept++;
	return kept;
}

static uint32_t moved(const uint32_t *new_index, uint32_t task, uint32_t otherwise)
{
	uint32_t to = task == WEFT_NONE ? WEFT_NONE : new_index[task];
	return to == WEFT_NONE ? otherwise : to;
}

/* A chain of becomes shrinks to one step to its last task; a forgotten parent or root is left
 * out. */
static void move_task(struct weft__state *s, const uint32_t *new_index, uint32_t task)
{
	struct weft__state_tasks *t = &s->tasks;
	uint32_t to = new_index[task], last = weft__model_state_forward(s, task);
#define TASK_COLUMN(name, type, first) t->name[to] = t->name[task];
#include <weft/task_columns.def>
#undef TASK_COLUMN
	t->becomes[to] = last == task ? WEFT_NONE : new_index[last];
	t->parent[to] = moved(new_index, t->parent[task], WEFT_NONE);
	t->root[to] = moved(new_index, t->root[task], to);
	t->asked[to] = moved(new_index, t->asked[task], WEFT_NONE);
	t->ran_on[to] = t->ran_on[task];
}

static void move_all(struct weft__state *s, const uint32_t *new_index, uint32_t kept)
{
	struct weft__state_tasks *t = &s->tasks;
	for (uint32_t task = 0; task < t->count; task++)
		if (new_index[task] != WEFT_NONE)
			move_task(s, new_index, task);
	for (uint32_t task = 0; task < kept; task++)
		t->forward[task] = t->becomes[task] == WEFT_NONE ? task : t->becomes[task];
	for (uint32_t i = 0; i < s->thread_count; i++) {
		struct weft__state_thread *thread = &s->threads[i];
		if (thread->running < t->count)
			thread->running = new_index[thread->running];
		if (thread->interrupted < t->count)
			thread->interrupted = new_index[thread->interrupted];
		thread->resumed = moved(new_index, thread->resumed, WEFT_NONE);
	}
	weft__model_state_forget_spans(s, new_index, kept);
	weft__model_messages_move(&s->messages, new_index);
	t->count = kept;
}

int weft__model_state_forget(struct weft__state *s, uint32_t **ret_new_index)
{
	uint32_t *new_index = malloc((s->tasks.count + (size_t)1) * sizeof(*new_index));
	if (!new_index)
		return WEFT_ERROR_MEMORY;
	move_all(s, new_index, choose_indices(s, new_index));
	*ret_new_index = new_index;
	return 0;
}
