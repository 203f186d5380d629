/* SPDX-License-Identifier: ISC
 *
 * Edges by the task that they lead to, and what each task made.
 */
#ifndef WEFT_STORY_INDEX_H
#define WEFT_STORY_INDEX_H

#include <weft/error.h>
#include <weft/story.h>

#include "story/other_end.h"

struct weft_story_index {
	/* All edges grouped by `to`: task t has entries [first_to[t], first_to[t + 1]). */
	uint32_t *first_to, *by_to;
	/* Creates, becomes and receives grouped by `from`, in the same way: no acts. */
	uint32_t *first_made, *by_made;
	struct weft__end_list ends;
};

/* A list of edges in the order of time. */
struct weft__edge_list {
	const uint32_t *edges;
	uint32_t count;
};

/* The task's own edges: reads, try_reads, resolves, signals. */
struct weft__edge_list weft__story_edges_by(const struct weft_model *model, uint32_t task);
/* The edges from other tasks to it; empty without an index. */
struct weft__edge_list weft__story_edges_to(const struct weft_story *story, uint32_t task);
/* The tasks that it created, what it became, and receives of what it sent. */
struct weft__edge_list weft__story_edges_made(const struct weft_story *story, uint32_t task);

/* True if an edge of this type wakes the task that it leads to. */
static inline bool weft__story_wakes(unsigned type)
{
	return type == WEFT_EDGE_SIGNAL || type == WEFT_EDGE_RECEIVE;
}

/* The number of edges in a list at or before `time`. */
uint32_t weft__story_edges_until(
	const struct weft_model *model, struct weft__edge_list list, uint64_t time);

/* The number of a task's activations that begin at or before `time`. */
uint32_t weft__story_activations_until(
	const struct weft_model *model, uint32_t task, uint64_t time);

/* True for what tasks wait for until another one signals: a condition, or a channel. */
static inline bool weft__story_is_condition(const struct weft_model *model, uint32_t task)
{
	return model->tasks.kind[task] == WEFT_KIND_CONDITION ||
		   model->tasks.kind[task] == WEFT_KIND_CHANNEL;
}

/* True if the task's kind has that name, and if its category has it. */
bool weft__story_is_kind(const struct weft_model *model, uint32_t task, const char *kind);

/* True if the task has a label, which begins with that text. */
bool weft__story_label_begins(const struct weft_model *model, uint32_t task, const char *begin);

/* True for node's thread that waits for a signal of the user to start the inspector: its wait is no
 * news. */
bool weft__story_is_helper(const struct weft_model *model, uint32_t task);
bool weft__story_is_of_category(
	const struct weft_model *model, uint32_t task, const char *category);

/* True if the note is a tag of that name with a number. */
bool weft__story_is_tag(const struct weft_model *model, uint32_t note, const char *tag);

/* The only thread of the task's process; WEFT_NONE if it has several, or it is not known whether.
 */
uint32_t weft__story_only_thread(const struct weft_model *model, uint32_t task);

/* The start of a task, as drawn. */
uint64_t weft__story_start_of(const struct weft_story *story, uint32_t task);

/* True if the task has been resolved, has failed or has become another by `time`. */
bool weft__story_is_gone(const struct weft_model *model, uint32_t task, uint64_t time);

/* The task that `task` is at `time`: the last one that it had become by then. */
uint32_t weft__story_become_at(const struct weft_model *model, uint32_t task, uint64_t time);

/* The same for all tasks. */
void weft__story_find_becomes(const struct weft_model *model, uint64_t time, uint32_t *ret_tasks);

/* The last task of each task's chain of becomes; itself if it became nothing. */
void weft__story_find_finals(const struct weft_model *model, uint32_t *ret_finals);

#endif
