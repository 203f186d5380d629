/* SPDX-License-Identifier: ISC
 *
 * The two ends of pipes and connections, which are tasks of different processes. Recorders tag them
 * (weft/ends.h).
 */
#ifndef WEFT_STORY_OTHER_END_H
#define WEFT_STORY_OTHER_END_H

#include <weft/story.h>

/* One end, by the number that both ends know. A connection's task has one for each direction. */
struct weft__end {
	uint64_t key;
	uint32_t task;
	bool writes;
};

struct weft__end_list {
	struct weft__end *by_key, *by_task;
	uint64_t *exit_ns; /* by buffer; UINT64_MAX: it goes on, or has no threads */
	uint32_t count;
};

/* Finds all ends of a trace. 0 or WEFT_ERROR_MEMORY. */
int weft__story_end_list_init(struct weft__end_list *list, const struct weft_model *model);
void weft__story_end_list_finish(struct weft__end_list *list);

/* The place in `by_key` of the key's first end; the key of that place may be another one. */
uint32_t weft__story_first_end(const struct weft__end_list *list, uint64_t key);

/* Finds the end that the task is at a time. False if it is none. Needs the index. */
bool weft__story_end_at(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, struct weft__end *ret);

struct weft__other_end {
	uint32_t end;    /* the other end's task */
	uint32_t user;   /* the task that reads or writes there */
	uint32_t others; /* further ends of this sort, as of a pipe to which several processes write */
	bool is_any_child; /* the wait is for the end of any child, and the user one of them */
	bool is_kept;      /* it writes, as far as the trace shows, nothing, but keeps a pipe open */
	bool is_inner;     /* it is one of the same process, of which any thread may use that end */
	bool is_queue;     /* a queue or semaphore of the kernel, of which all may use both ends */
	bool writes;       /* the user writes what is waited for; else, it makes room by reading */
};

/* Finds the task on which a wait for `task`, one end, depends at a time. False if the task is no
 * end, or the trace does not show the other one. Needs the index. */
bool weft__story_other_end(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, struct weft__other_end *ret);

/* The task whose message the end has received last before a time. WEFT_NONE: there is none. */
uint32_t weft__story_last_sender(const struct weft_story *story, uint32_t end, uint64_t at_ns);

/* True if a wait for the task, one end, at a time is for room to write. */
bool weft__story_waits_to_write(const struct weft_model *model, uint32_t task, uint64_t at_ns);

/* True if the task is a connection that the process has accepted. */
bool weft__story_was_accepted(const struct weft_model *model, uint32_t task);

/* True if a forked process waits to read from a pipe whose writing end it has inherited and not
 * closed, and the trace shows no other process that has one. */
bool weft__story_keeps_own_end(const struct weft_story *story, uint32_t task, uint64_t at_ns);

/* How many children the process had when it began to wait for the end of any: `task`. 0: unknown,
 * or it waits for something else. */
uint32_t weft__story_child_count(const struct weft_model *model, uint32_t task);

/* The first thread of one of them after the other, of those that the trace has. `*position`: 0 at
 * first. WEFT_NONE: there are no more. */
uint32_t weft__story_child_at(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, uint32_t *position);

#endif
