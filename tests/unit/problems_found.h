/* SPDX-License-Identifier: ISC
 *
 * The problems of a trace that a test puts together.
 */
#ifndef WEFT_TESTS_PROBLEMS_FOUND_H
#define WEFT_TESTS_PROBLEMS_FOUND_H

#include <weft/problems.h>

#include "loaded.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

struct found {
	struct loaded loaded;
	struct weft_problems *problems;
};

static inline struct found find_in(struct loaded loaded)
{
	struct found found = {.loaded = loaded};
	assert_int_equal(weft_problems_create(&found.loaded.story, &found.problems), 0);
	return found;
}

static inline void found_finish(struct found *found)
{
	weft_problems_destroy(found->problems);
	loaded_finish(&found->loaded);
}

/* The processes and threads of the trace as the second and following ones. */
static inline void put_behind_another(struct made *beside, const struct made *made)
{
	const uint32_t buffers = made->buffer_count ? made->buffer_count : 1;
	const uint32_t threads = made->thread_count ? made->thread_count : 1;
	struct weft_trace_buffer *buffer = calloc(1 + (size_t)buffers, sizeof(*buffer));
	struct weft_trace_thread *thread = calloc(1 + (size_t)threads, sizeof(*thread));
	must(buffer && thread);
	for (uint32_t i = 0; i <= buffers; i++)
		buffer[i] = i && made->buffer_count
						? made->buffers[i - 1]
						: (struct weft_trace_buffer){.process = "", .host = "", .file = ""};
	for (uint32_t i = 0; i <= threads; i++) {
		thread[i] = i && made->thread_count ? made->threads[i - 1]
											: (struct weft_trace_thread){.name = "main"};
		thread[i].buffer += i > 0;
	}
	beside->buffers = buffer;
	beside->buffer_count = 1 + buffers;
	beside->threads = thread;
	beside->thread_count = 1 + threads;
	beside->loss_count = made->loss_count;
	memcpy(beside->losses, made->losses, sizeof(beside->losses));
	for (uint32_t i = 0; i < made->loss_count; i++)
		beside->losses[i].thread++;
}

/* The same events beside another process, which has a thread and a task. */
static inline struct found find_beside(const struct made *made)
{
	struct made beside = make_begin();
	put_behind_another(&beside, made);
	beside.time = made->event_count ? made->events[0].time_ns : 0;
	make_create(&beside, WEFT_TASK_NONE, 7, WEFT_KIND_TASK);
	make_edge(&beside, WEFT_EVENT_RESOLVE, WEFT_TASK_NONE, 7);
	for (uint32_t i = 0; i < made->event_count; i++) {
		beside.time = made->events[i].time_ns;
		beside.thread = made->events[i].thread + 1;
		beside.buffer = made->events[i].buffer + 1;
		make(&beside, made->events[i]);
	}
	struct found found = find_in(make_end(&beside));
	free((void *)(uintptr_t)beside.buffers);
	free((void *)(uintptr_t)beside.threads);
	return found;
}

static inline bool is_same_task(
	const struct weft_model *alone, uint32_t task, const struct weft_model *beside, uint32_t other)
{
	if (task == WEFT_NONE || other == WEFT_NONE)
		return task == other;
	return alone->tasks.id[task] == beside->tasks.id[other] &&
		   alone->tasks.buffer[task] + 1 == beside->tasks.buffer[other];
}

static inline bool is_same_problem(
	const struct found *alone, const struct found *beside, uint32_t i)
{
	const struct weft_problem *a = &alone->problems->list[i], *b = &beside->problems->list[i];
	return a->type == b->type && a->severity == b->severity && a->count == b->count &&
		   a->start == b->start && a->end == b->end && a->show_start == b->show_start &&
		   a->show_end == b->show_end && a->period_count == b->period_count &&
		   is_same_task(alone->loaded.model, a->task, beside->loaded.model, b->task);
}

/* Another process changes nothing. */
static inline void expect_same_beside(const struct found *alone, const struct made *made)
{
	struct found beside = find_beside(made);
	uint32_t same = 0;
	while (same < alone->problems->count && same < beside.problems->count &&
		   is_same_problem(alone, &beside, same))
		same++;
	if (same < alone->problems->count || same < beside.problems->count)
		fail_msg("problem %u of %u, or %u beside another process: %s | %s", (unsigned)same,
			(unsigned)alone->problems->count, (unsigned)beside.problems->count,
			same < alone->problems->count ? alone->problems->list[same].sentence : "none",
			same < beside.problems->count ? beside.problems->list[same].sentence : "none");
	found_finish(&beside);
}

static inline struct found find(struct made *made)
{
	struct found found = find_in(load_model(finish_model(made)));
	expect_same_beside(&found, made);
	forget_events(made);
	return found;
}

/* The only problem of a type; fails if there is none, or another. */
static inline const struct weft_problem *only(
	const struct found *found, enum weft_problem_type type)
{
	const struct weft_problem *only = NULL;
	for (uint32_t i = 0; i < found->problems->count; i++) {
		if (found->problems->list[i].type != type)
			continue;
		assert_null(only);
		only = &found->problems->list[i];
	}
	assert_non_null(only);
	return only;
}

/* The words at the moments of a problem. */
static inline void expect_words(
	const struct weft_problem *problem, const char *cause, const char *effect)
{
	assert_string_equal(problem->cause.words, cause);
	assert_string_equal(problem->effect.words, effect);
}

static inline void expect_none(const struct found *found)
{
	if (found->problems->count)
		fail_msg("%s", found->problems->list[0].sentence);
}

/* Fails if a problem is found; takes what was found. */
static inline void expect_nothing(struct found found)
{
	expect_none(&found);
	found_finish(&found);
}

static inline uint32_t count_of(const struct found *found, enum weft_problem_type type)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < found->problems->count; i++)
		count += found->problems->list[i].type == type;
	return count;
}

/* A task that lives for a while and is fulfilled. */
static inline void make_request(struct made *made, uint64_t id, uint64_t length_ns)
{
	make_create(made, 0, id, WEFT_KIND_TASK);
	make_label(made, id, "request");
	make_switch(made, id);
	made->time += length_ns;
	make_edge(made, WEFT_EVENT_RESOLVE, id, id);
	make_switch(made, 0);
	made->time += 10 * US;
}

#endif
