/* SPDX-License-Identifier: ISC
 *
 * See asleep.h. The buffers are looked at once, when a finder first asks.
 *
 * Threads wait for each other if each of them waits for a condition, a lock, room in a pipe or the
 * end of a thread that only their own process can give, and without a time-out (WEFT_TAG_LIMITED),
 * for long.
 */
#include "story/problems/asleep.h"

#include <stdlib.h>
#include <string.h>

#include "story/elsewhere.h"
#include "story/index.h"
#include "story/own_pipe.h"

/* Notes of a task that are examined, from the last one back. */
#define LOOKED_MAX 256

/* Threads that wait for each other do so for good from this time on. */
#define LEAST_NS (500 * WEFT__MS)

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

static bool waits_for_good(const struct weft_story *story, uint32_t thread)
{
	const struct weft_tasks *t = &story->model->tasks;
	const uint64_t end = t->end[thread];
	struct weft_story_wait wait;
	return end && weft_story_wait_at(story, thread, end - 1, &wait) && wait.source != WEFT_NONE &&
		   end - wait.since >= LEAST_NS && t->buffer[wait.source] == t->buffer[thread] &&
		   is_inside(story, wait.source);
}

/* True if a handler of a signal has interrupted the task: "SIGALRM from the kernel". A handler can
 * post a semaphore. */
static bool has_handled(const struct weft_model *model, uint32_t task)
{
	const uint32_t first = model->tasks.first_note[task];
	uint32_t note = model->tasks.end_note[task];
	for (uint32_t looked = 0; note > first && looked < LOOKED_MAX; note--, looked++) {
		struct weft_slice text = weft_model_string(model, model->notes.text[note - 1]);
		if (model->notes.type[note - 1] == WEFT_NOTE_TEXT && text.size > 3 &&
			memcmp(text.bytes, "SIG", 3) == 0)
			return true;
	}
	return false;
}

static bool is_thread(const struct weft_model *model, uint32_t task)
{
	return model->tasks.kind[task] == WEFT_KIND_THREAD &&
		   weft__story_is_of_category(model, task, "thread") &&
		   !(model->tasks.flags[task] & WEFT_TASK_RESOLVED);
}

static bool was_killed(const struct weft_model *model, uint32_t buffer)
{
	return buffer < model->buffer_count && (model->buffers[buffer].wait_status & 0x7f);
}

static void look(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	const struct weft_tasks *t = &model->tasks;
	const bool has_tags = model->summary.by_event[WEFT_EVENT_TAG];
	unsigned char *asleep = calloc(model->buffer_count + (size_t)1, sizeof(*asleep));
	findings->asleep = asleep;
	if (!asleep) {
		findings->error = WEFT_ERROR_MEMORY;
		return;
	}
	for (uint32_t task = 0; task < t->count; task++) {
		const uint32_t buffer = t->buffer[task];
		if (has_tags && buffer < model->buffer_count && ends_asleep(model, task))
			asleep[buffer] |= LOOP_ASLEEP;
		if (was_killed(model, buffer) && !(asleep[buffer] & AWAKE) && is_thread(model, task))
			asleep[buffer] |= waits_for_good(findings->story, task) && !has_handled(model, task)
								  ? THREADS
								  : AWAKE;
	}
}

bool weft__story_is_asleep(struct weft__findings *findings, uint32_t task)
{
	const struct weft_story *story = findings->story;
	const uint32_t buffer = story->model->tasks.buffer[task];
	if (!findings->asleep)
		look(findings);
	if (!findings->asleep || buffer >= story->model->buffer_count)
		return false;
	if ((findings->asleep[buffer] & (THREADS | AWAKE)) == THREADS && is_inside(story, task))
		return true;
	return (findings->asleep[buffer] & LOOP_ASLEEP) &&
		   weft__story_is_of_category(story->model, task, "asyncio");
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
