/* SPDX-License-Identifier: ISC
 *
 * Declarations that the finders of problems share: the list that they add to.
 * include/weft/problems.def says which finder finds what; list.c calls them.
 */
#ifndef WEFT_STORY_PROBLEMS_FINDINGS_H
#define WEFT_STORY_PROBLEMS_FINDINGS_H

#include <weft/error.h>
#include <weft/problems.h>
#include <weft/text.h>

#include "story/alike.h"
#include "story/index.h"
#include "story/words.h"

#define WEFT__MS UINT64_C(1000000) /* ns */

struct weft__finding {
	struct weft_problem problem;
	uint64_t weight; /* rank among problems of equal severity */
	size_t text;     /* offset of the sentence */
	uint32_t first_case, case_count;
};

/* One of the findings that are one problem: a task, or for which task a program waited, and its
 * time. */
struct weft__case {
	uint32_t task;
	uint64_t start, end; /* ns */
};

struct weft__findings {
	const struct weft_story *story;
	struct weft__alike alike; /* while the finders run */
	struct weft__finding *list;
	uint32_t count;
	size_t capacity;
	struct weft_text text;
	struct weft_problem_period *periods;
	uint32_t period_count, periods_taken;
	size_t period_capacity;
	struct weft__case *cases;
	uint32_t case_count, cases_taken;
	size_t case_capacity;
	struct weft__asleep *asleep; /* of each buffer; NULL: not looked at yet, see asleep.h */
	uint32_t *threads; /* the tasks that are threads; NULL: not looked at yet, see runner.h */
	uint32_t thread_count;
	int error;
	uint32_t first, last; /* range of tasks that finders with unit TASKS examine */
};

/* The least length of something that a finder reports: 1 / share of the trace, but in a long trace
 * `most_ns`, because a stall of 200 ms matters in an hour as much as in a second. */
static inline uint64_t weft__story_least_ns(
	const struct weft__findings *findings, uint64_t share, uint64_t most_ns)
{
	const struct weft_model_summary *summary = &findings->story->model->summary;
	uint64_t least = (summary->end - summary->start) / share;
	return least < most_ns ? least : most_ns;
}

/* The end of what the trace knows of a task: that of its process, which may end before the trace.
 */
static inline uint64_t weft__story_record_end(const struct weft_model *model, uint32_t task)
{
	const struct weft_trace_buffer *buffer =
		weft_trace_buffer_at(model->buffers, model->buffer_count, model->tasks.buffer[task]);
	const uint64_t end = model->summary.end;
	return buffer->end_ns && buffer->end_ns < end ? buffer->end_ns : end;
}

/* The end of a task; of one that has not ended, that of its record. */
static inline uint64_t weft__story_end_of(const struct weft_model *model, uint32_t task)
{
	return model->tasks.flags[task] & WEFT_TASK_RESOLVED ? model->tasks.end[task]
														 : weft__story_record_end(model, task);
}

/* A problem of similar findings, of which `shown` is the first, or the worst. */
static inline struct weft_problem weft__story_problem(enum weft_problem_type type,
	enum weft_problem_severity severity, uint32_t count, struct weft__case shown)
{
	return (struct weft_problem){
		.type = type,
		.severity = severity,
		.count = count,
		.start = shown.start,
		.end = shown.end,
		.task = shown.task,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
		.edge = WEFT_NONE,
	};
}

/* Adds a problem, and writes its sentence; unless missing events may explain it, see dark.h. */
void weft__story_find(struct weft__findings *findings, const struct weft_problem *problem,
	uint64_t weight, struct weft__sentence *sentence);

/* Sets a note of a problem; the caller appends its words to the result. Without a task there is
 * no such note. */
struct weft__words weft__story_problem_note(
	struct weft_problem_note *note, uint64_t time, uint32_t task);

/* Adds a period of the problem that is added next; periods are sorted then. */
void weft__story_find_period(struct weft__findings *findings, uint64_t start, uint64_t end);

/* Adds a case of the problem that is added next, the one that it names first: with these, its
 * reason can be found (incidents.h). */
void weft__story_find_case(
	struct weft__findings *findings, uint32_t task, uint64_t start, uint64_t end);

/* The distance between numbers in ascending order, if there are 4 or more and all distances differ
 * by at most an eighth of it; 0 otherwise. */
uint64_t weft__story_rhythm(const uint64_t *numbers, uint32_t count);

/* Appends "2nd", "23rd", "111th". */
void weft__story_words_add_ordinal(struct weft__words *words, uint64_t number);

/* The indices of a list of at most WEFT_PROBLEMS_MAX problems, the gravest first. */
void weft__story_problems_order(const struct weft_problems *problems, uint32_t *ret_order);

/* The finders. Each stores an error in `findings`. */
#define PROBLEM(identifier, name, plural, rank, hint_rank, order, unit, finder, meaning) \
	void weft__find_##finder(struct weft__findings *findings);
#include <weft/problems.def>
#undef PROBLEM

#endif
