/* SPDX-License-Identifier: ISC
 *
 * See asleep.h. The buffers are looked at once, when a finder first asks.
 *
 * Threads wait for each other if each of them waits for a condition, a lock, a pipe or the end of a
 * thread that only their own process can give, and without a time-out (WEFT_TAG_LIMITED),
 * for long. Ctrl-C may end the wait of a program's first thread, as in Python: then they did so
 * until that. A process that never had another thread, and waits for a condition of which nothing
 * was heard before, while its children live, may be meant to: it keeps them until it is killed.
 */
#include "story/problems/asleep.h"

#include <stdlib.h>
#include <string.h>

#include "story/elsewhere.h"
#include "story/index.h"
#include "story/own_pipe.h"
#include "story/problems/service.h"

/* Notes of a task that are examined, from the last one back. */
#define LOOKED_MAX 256

/* Threads that wait for each other do so for good from this time on. */
#define LEAST_NS (500 * WEFT__MS)

/* As numbered on Linux. */
#define INTERRUPT 2

/* Flags of a buffer. */
enum {
	LOOP_ASLEEP = 1,
	THREADS = 2, /* it has threads that have not ended */
	AWAKE = 4    /* of which one may go on */
};

/* The last note of the task that is such a tag, or WEFT_NONE. */
static uint32_t last_tag(const struct weft_model *model, uint32_t task, const char *tag)
{
	const uint32_t first = model->tasks.first_note[task];
	uint32_t note = model->tasks.end_note[task];
	for (uint32_t looked = 0; note > first && looked < LOOKED_MAX; note--, looked++)
		if (weft__story_is_tag(model, note - 1, tag))
			return note - 1;
	return WEFT_NONE;
}

static bool ends_asleep(const struct weft_model *model, uint32_t task)
{
	const uint32_t note = last_tag(model, task, WEFT_TAG_ASLEEP);
	return note != WEFT_NONE && model->notes.value[note] == 1;
}

/* True for what only a thread of the same process can give. */
static bool is_inside(const struct weft_story *story, uint32_t source)
{
	const struct weft_model *model = story->model;
	const unsigned kind = model->tasks.kind[source];
	struct weft__elsewhere other;
	return (kind == WEFT_KIND_CONDITION || kind == WEFT_KIND_LOCK || kind == WEFT_KIND_RWLOCK ||
			   kind == WEFT_KIND_THREAD ||
			   weft__story_is_own_pipe(model, source, model->summary.end)) &&
		   last_tag(model, source, WEFT_TAG_LIMITED) == WEFT_NONE &&
		   (!weft__story_held_elsewhere(story, source, model->summary.end, &other) ||
			   other.is_copy);
}

static bool waits_for_good(const struct weft_story *story, uint32_t thread, uint64_t until)
{
	const struct weft_tasks *t = &story->model->tasks;
	const uint64_t end = t->end[thread] < until ? t->end[thread] : until;
	struct weft_story_wait wait;
	return end && weft_story_wait_at(story, thread, end - 1, &wait) && wait.source != WEFT_NONE &&
		   end - wait.since >= LEAST_NS && t->buffer[wait.source] == t->buffer[thread] &&
		   is_inside(story, wait.source);
}

static bool begins_with(struct weft_slice text, const char *begin)
{
	const size_t size = strlen(begin);
	return text.size >= size && memcmp(text.bytes, begin, size) == 0;
}

/* The last note of the task that a handler of a signal has interrupted it, or WEFT_NONE: "SIGALRM",
 * "SIGINT from process 17". Of Ctrl-C, or of other signals. */
static uint32_t last_handled(const struct weft_model *model, uint32_t task, bool is_interrupt)
{
	const uint32_t first = model->tasks.first_note[task];
	uint32_t note = model->tasks.end_note[task];
	for (uint32_t looked = 0; note > first && looked < LOOKED_MAX; note--, looked++) {
		struct weft_slice text = weft_model_string(model, model->notes.text[note - 1]);
		if (model->notes.type[note - 1] == WEFT_NOTE_TEXT && begins_with(text, "SIG") &&
			begins_with(text, "SIGINT") == is_interrupt && !begins_with(text, "SIGINT to "))
			return note - 1;
	}
	return WEFT_NONE;
}

static bool is_thread(const struct weft_model *model, uint32_t task, uint64_t until)
{
	const struct weft_tasks *t = &model->tasks;
	return t->kind[task] == WEFT_KIND_THREAD && weft__story_is_of_category(model, task, "thread") &&
		   t->start[task] < until &&
		   !((t->flags[task] & WEFT_TASK_RESOLVED) && t->end[task] <= until);
}

static int killed_by(const struct weft_model *model, uint32_t buffer)
{
	return buffer < model->buffer_count ? model->buffers[buffer].wait_status & 0x7f : 0;
}

/* Counts the threads of each program, and finds where Ctrl-C interrupted those that it ended. */
static void look_at_threads(const struct weft_model *model, struct weft__asleep *list)
{
	const struct weft_tasks *t = &model->tasks;
	for (uint32_t buffer = 0; buffer < model->buffer_count; buffer++)
		list[buffer] = (struct weft__asleep){.thread = WEFT_NONE, .until = UINT64_MAX};
	for (uint32_t task = 0; task < t->count; task++) {
		const uint32_t buffer = t->buffer[task];
		if (t->kind[task] != WEFT_KIND_THREAD || buffer >= model->buffer_count)
			continue;
		list[buffer].threads++;
		if (killed_by(model, buffer) != INTERRUPT)
			continue;
		const uint32_t note = last_handled(model, task, true);
		if (note == WEFT_NONE)
			continue;
		list[buffer].thread = task;
		list[buffer].until = model->notes.time[note];
	}
}

/* True if this message is the first one that the thread got. */
static bool is_first_message(const struct weft_story *story, uint32_t thread, uint32_t edge)
{
	const struct weft__edge_list to = weft__story_edges_to(story, thread);
	for (uint32_t i = 0; i < to.count && to.edges[i] <= edge; i++)
		if (story->model->edges.type[to.edges[i]] == WEFT_EDGE_RECEIVE)
			return to.edges[i] == edge;
	return false;
}

/* True if a process lives at that time that the thread has forked: it begins with a message of its
 * parent. */
static bool has_child(const struct weft_story *story, uint32_t thread, uint64_t at_ns)
{
	const struct weft_tasks *t = &story->model->tasks;
	const struct weft_edges *e = &story->model->edges;
	const struct weft__edge_list made = weft__story_edges_made(story, thread);
	for (uint32_t i = 0; i < made.count; i++) {
		const uint32_t edge = made.edges[i], child = e->to[edge];
		if (e->type[edge] == WEFT_EDGE_RECEIVE && t->kind[child] == WEFT_KIND_THREAD &&
			t->buffer[child] != t->buffer[thread] && t->end[child] > at_ns &&
			is_first_message(story, child, edge))
			return true;
	}
	return false;
}

/* True for the only thread of a process that may do no more than keep its children. */
static bool may_keep_children(const struct weft_story *story, uint32_t thread)
{
	const struct weft_tasks *t = &story->model->tasks;
	struct weft_story_wait wait;
	return weft_story_wait_at(story, thread, t->end[thread] - 1, &wait) &&
		   wait.source != WEFT_NONE && t->kind[wait.source] == WEFT_KIND_CONDITION &&
		   weft__story_is_unused(story, wait.source, wait.since) &&
		   has_child(story, thread, wait.since);
}

/* The handler of a signal can post a semaphore. But Ctrl-C comes from outside. */
static bool waits_for_threads(
	const struct weft_story *story, const struct weft__asleep *process, uint32_t thread)
{
	return waits_for_good(story, thread, process->until) &&
		   last_handled(story->model, thread, false) == WEFT_NONE &&
		   !(process->threads == 1 && may_keep_children(story, thread));
}

static void look(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	const struct weft_tasks *t = &model->tasks;
	const bool has_tags = model->summary.by_event[WEFT_EVENT_TAG];
	struct weft__asleep *asleep = calloc(model->buffer_count + (size_t)1, sizeof(*asleep));
	findings->asleep = asleep;
	if (!asleep) {
		findings->error = WEFT_ERROR_MEMORY;
		return;
	}
	look_at_threads(model, asleep);
	for (uint32_t task = 0; task < t->count; task++) {
		const uint32_t buffer = t->buffer[task];
		struct weft__asleep *it = &asleep[buffer];
		if (has_tags && buffer < model->buffer_count && ends_asleep(model, task))
			it->flags |= LOOP_ASLEEP;
		if (killed_by(model, buffer) && !(it->flags & AWAKE) && is_thread(model, task, it->until))
			it->flags |= waits_for_threads(findings->story, it, task) ? THREADS : AWAKE;
	}
}

/* The buffer's element; NULL if there is none. */
static const struct weft__asleep *find(struct weft__findings *findings, uint32_t buffer)
{
	if (!findings->asleep)
		look(findings);
	return findings->asleep && buffer < findings->story->model->buffer_count
			   ? &findings->asleep[buffer]
			   : NULL;
}

static bool are_threads_asleep(const struct weft__asleep *it)
{
	return (it->flags & (THREADS | AWAKE)) == THREADS;
}

bool weft__story_is_asleep(struct weft__findings *findings, uint32_t task)
{
	const struct weft_story *story = findings->story;
	const struct weft__asleep *it = find(findings, story->model->tasks.buffer[task]);
	if (!it)
		return false;
	if (are_threads_asleep(it) && is_inside(story, task))
		return true;
	return (it->flags & LOOP_ASLEEP) &&
		   (weft__story_is_of_category(story->model, task, "asyncio") ||
			   weft__story_is_of_category(story->model, task, "lwt"));
}

bool weft__story_interrupted(
	struct weft__findings *findings, uint32_t buffer, struct weft_story_wait *ret)
{
	const struct weft__asleep *it = find(findings, buffer);
	return it && it->thread != WEFT_NONE && are_threads_asleep(it) &&
		   weft_story_wait_at(findings->story, it->thread, it->until - 1, ret) &&
		   (ret->until = it->until);
}

bool weft__story_may_be_pooled(const struct weft_story *story, uint32_t task)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list to = weft__story_edges_to(story, task);
	for (uint32_t i = 0; i < to.count; i++)
		if (e->type[to.edges[i]] == WEFT_EDGE_TRY_READ)
			return false;
	return story->model->tasks.parent[task] != WEFT_NONE;
}
