/* SPDX-License-Identifier: ISC
 *
 * Calls that block a thread while one of the program's own tasks, or a descriptor's, runs on it:
 * the thread can run no other task until the call returns.
 */
#ifndef WEFT_STORY_BLOCKING_H
#define WEFT_STORY_BLOCKING_H

#include <weft/story.h>

struct weft__blocking {
	uint32_t source; /* the task of the call, lock or timer for which the thread waits */
	uint64_t until;  /* ns; the trace's end if it does not return in the trace */
};

/* False if no call in the trace can block a thread: no adapter that names calls has recorded it. */
bool weft__story_may_block(const struct weft_model *model);

/* True if the task blocks its thread from the end of its activation with that number on (in the
 * model's list). Not for the task of a thread, which has nothing else to run. */
bool weft__story_blocks_thread(
	const struct weft_model *model, uint32_t task, uint32_t activation, struct weft__blocking *ret);

/* The longest blocking call that was recorded as a span on the thread's track "NAME blocked" within
 * a time. False if there is none. */
bool weft__story_blocked_span(const struct weft_model *model, uint32_t thread, uint64_t start,
	uint64_t end, uint32_t *ret_name, uint64_t *ret_ns);

/* For how long of a time other programs had the processor in place of a thread that was to run, as
 * far as that is known: without the longest call that blocked it. */
uint64_t weft__story_preempted_ns(
	const struct weft_model *model, uint32_t thread, uint64_t start, uint64_t end);

/* The longest such time of a thread of the process. */
uint64_t weft__story_most_preempted_ns(
	const struct weft_model *model, uint32_t buffer, uint64_t start, uint64_t end);

struct weft__turn {
	uint32_t task;         /* that has the thread */
	uint64_t since, until; /* ns */
};

/* Finds who has the thread of a task that does not run, from a time until the task runs. False if
 * the thread has nothing to do in between, or the task may run on another one. */
bool weft__story_turn_at(
	const struct weft_model *model, uint32_t task, uint64_t at_ns, struct weft__turn *ret);

#endif
