/* SPDX-License-Identifier: ISC
 *
 * Tasks that failed, and tasks that should have ended and did not. A failure travels from a task to
 * its readers that fail as well: that is one problem, described at the last task, with its origin.
 * If all readers continued, the failure was handled, and so it was if the program tried again with
 * success (retried.h): that is a hint, unless most of the tasks like it fail, as where a program
 * tries the same again and again.
 *
 * Tasks with equal messages are one problem, described at the first; so are tasks with many
 * messages that differ only in numbers, tasks that failed without a message, and tasks of one name
 * that did not end, but up to ALIKE_MAX of these are reported separately. A trace's end cuts off
 * tasks that are under way: those that are no older than similar tasks become are one mild problem.
 */
#include <stdlib.h>
#include <string.h>

#include "story/problems/crashes.h"
#include "story/problems/findings.h"
#include "story/problems/retried.h"

#define ALIKE_MAX    3
#define MESSAGES_MAX 8  /* messages that differ only in numbers, like status 404 and 500 */
#define SHOWN        5  /* tasks shown of those reported as one */
#define HOPS_MAX     64 /* from the last failed task to the origin */
#define READS_MAX    64 /* reads of a task that are examined, from the last one back */

/* A warning: at least this many failures that their readers handle, if half of alike tasks fail. */
#define OFTEN 16

struct ends {
	struct weft__findings *findings;
	const struct weft_model *model;
	struct weft__attempts attempts;
	uint32_t *finals; /* what each task finally became */
	uint32_t *tasks;  /* tasks that failed or did not end */
	uint32_t count;
};

static bool is_bad(const struct weft_tasks *t, uint32_t task)
{
	return (t->flags[task] & WEFT_TASK_FAILED) && t->becomes[task] == WEFT_NONE;
}

static bool never(const struct weft_tasks *t, uint32_t task)
{
	return t->flags[task] & WEFT_TASK_NEVER_RESOLVED;
}

/* True if the trace ended while the task was simply under way. */
static bool is_under_way(const struct ends *ends, uint32_t task)
{
	return never(&ends->model->tasks, task) &&
		   weft__story_alike_is_usual(&ends->findings->alike, task);
}

static bool failed(const struct ends *ends, uint32_t task)
{
	return is_bad(&ends->model->tasks, task) && !never(&ends->model->tasks, task);
}

/* True if `task` may have failed because of `source`, judging by times. */
static bool is_in_time(const struct ends *ends, uint32_t source, uint32_t task)
{
	return source != task && failed(ends, source) && failed(ends, task) &&
		   ends->model->tasks.end[source] <= ends->model->tasks.end[task];
}

/* The failed task that it read last; WEFT_NONE: none, so it is the origin. */
static uint32_t find_source(const struct ends *ends, uint32_t task)
{
	const struct weft_edges *e = &ends->model->edges;
	struct weft__edge_list by = weft__story_edges_by(ends->model, task);
	uint32_t least = by.count > READS_MAX ? by.count - READS_MAX : 0;
	for (uint32_t i = by.count; i > least; i--) {
		uint32_t edge = by.edges[i - 1], source = ends->finals[e->to[edge]];
		if (e->type[edge] == WEFT_EDGE_READ && is_in_time(ends, source, task))
			return source;
	}
	return WEFT_NONE;
}

static uint32_t find_origin(const struct ends *ends, uint32_t task)
{
	for (unsigned hops = 0; hops < HOPS_MAX; hops++) {
		uint32_t source = find_source(ends, task);
		if (source == WEFT_NONE)
			break;
		task = source;
	}
	return task;
}

enum handling {
	UNREAD,    /* no task has read it */
	HANDLED,   /* its readers did not fail */
	RETRIED,   /* no task has read it, but the program tried again with success */
	PASSED_ON, /* a reader failed, too */
};

/* How readers handled a failure. If two tasks fail at one time and have read each other, the one
 * whose source is the other has not passed it on. */
static enum handling handling_of(const struct ends *ends, uint32_t task)
{
	const struct weft_edges *e = &ends->model->edges;
	const struct weft_tasks *t = &ends->model->tasks;
	struct weft__edge_list to = weft__story_edges_to(ends->findings->story, task);
	enum handling handling = UNREAD;
	for (uint32_t i = 0; i < to.count; i++) {
		uint32_t edge = to.edges[i];
		if (e->type[edge] != WEFT_EDGE_READ || e->from[edge] == WEFT_NONE)
			continue;
		uint32_t reader = ends->finals[e->from[edge]];
		if (is_in_time(ends, task, reader) &&
			(t->end[reader] > t->end[task] || find_source(ends, task) != reader))
			return PASSED_ON;
		if (!is_bad(t, reader))
			handling = HANDLED;
	}
	if (handling == UNREAD && weft__story_tried_again(&ends->attempts, ends->model, task))
		return RETRIED;
	return handling;
}

static int list_bad(struct ends *ends)
{
	const struct weft_tasks *t = &ends->model->tasks;
	uint32_t count = 0;
	for (uint32_t task = 0; task < t->count; task++)
		count += is_bad(t, task);
	ends->tasks = malloc((count + (size_t)1) * sizeof(*ends->tasks));
	ends->finals = malloc((t->count + (size_t)1) * sizeof(*ends->finals));
	if (!ends->tasks || !ends->finals)
		return WEFT_ERROR_MEMORY;
	if (count)
		weft__story_find_finals(ends->model, ends->finals);
	for (uint32_t task = 0; task < t->count && count; task++)
		if (is_bad(t, task) && !is_under_way(ends, task) &&
			(never(t, task) || handling_of(ends, task) != PASSED_ON))
			ends->tasks[ends->count++] = task;
	return 0;
}

/* qsort has no context, so the keys are stored with the tasks. */
struct sorted {
	uint64_t key, end;
	uint32_t task, message, origin;
	enum handling handling;
};

/* A key that is equal for similar ends: equal message and equal message of the origin; for unended
 * tasks, kind and name. */
static uint64_t key_of(
	const struct ends *ends, uint32_t task, uint32_t origin, enum handling handling)
{
	const struct weft_model *model = ends->model;
	if (never(&model->tasks, task))
		return UINT64_MAX - weft__story_alike_name(&ends->findings->alike, task);
	uint64_t key = weft__story_alike_hash(weft_model_string(model, model->tasks.message[task]));
	uint64_t began = weft__story_alike_hash(weft_model_string(model, model->tasks.message[origin]));
	return (key ^ (origin != task ? began * 31 : 0) ^ handling * UINT64_C(0x5bd1e995)) >> 1;
}

static struct sorted sort_in(const struct ends *ends, uint32_t task)
{
	const struct weft_tasks *t = &ends->model->tasks;
	struct sorted sorted = {
		.end = t->end[task], .task = task, .message = t->message[task], .origin = task};
	if (!never(t, task)) {
		sorted.origin = find_origin(ends, task);
		sorted.handling = handling_of(ends, task);
	}
	sorted.key = key_of(ends, task, sorted.origin, sorted.handling);
	return sorted;
}

static int compare(uint64_t left, uint64_t right)
{
	return left < right ? -1 : left > right;
}

static int by_end(const void *left, const void *right)
{
	const struct sorted *l = left, *r = right;
	return l->end != r->end ? compare(l->end, r->end) : compare(l->task, r->task);
}

static int by_key(const void *left, const void *right)
{
	const struct sorted *l = left, *r = right;
	if (l->key != r->key)
		return compare(l->key, r->key);
	return l->message != r->message ? compare(l->message, r->message) : by_end(left, right);
}

/* Appends ": connection refused", and the origin, with its message if that differs. */
static void write_why(
	struct weft__sentence *s, const struct weft_model *model, uint32_t task, uint32_t origin)
{
	const struct weft_tasks *t = &model->tasks;
	struct weft_slice message = weft_model_string(model, t->message[task]);
	struct weft_slice began = weft_model_string(model, t->message[origin]);
	bool is_same =
		message.size == began.size && memcmp(message.bytes, began.bytes, began.size) == 0;
	if (message.size) {
		struct weft__words *w = weft__story_clause(s, 8);
		weft__story_words_add(w, ": ");
		weft__story_words_add_text(w, message, origin == task || is_same ? 60 : 32);
	}
	if (origin == task || (is_same && t->label[origin] == WEFT_NONE))
		return;
	struct weft__words *w = weft__story_clause(s, 8);
	weft__story_words_add(w, "; it began with ");
	weft__story_words_add_task(w, model, origin, 24);
	if (began.size && !is_same) {
		weft__story_words_add(w, ": ");
		weft__story_words_add_text(w, began, 40);
	}
}

static void write_ending(struct weft__sentence *s, const struct weft_model *model,
	const struct sorted *sorted, uint32_t count, enum weft_problem_severity severity)
{
	const struct weft_tasks *t = &model->tasks;
	uint32_t task = sorted->task;
	weft__story_sentence_init(s);
	struct weft__words *w = weft__story_clause(s, 6);
	weft__story_words_add_subject(w, model, task, 40);
	if (never(t, task)) {
		weft__story_words_add(w, " is never resolved");
	} else {
		weft__story_words_add(w, " failed");
		w = weft__story_clause(s, 7);
		weft__story_words_add(w, " at ");
		weft__story_words_add_time(w, model, t->end[task]);
		write_why(s, model, task, sorted->origin);
	}
	if (count > 1)
		weft__story_words_add(weft__story_clause(s, 6), ", and %u more like it", count - 1);
	if (severity == WEFT_SEVERITY_WARNING)
		weft__story_words_add(weft__story_clause(s, 5), "; %smost like it fail",
			sorted->handling == HANDLED ? "handled, but " : "");
	else if (sorted->handling == HANDLED)
		weft__story_words_add(weft__story_clause(s, 4), "; %s",
			count > 1 ? "their readers handled them" : "its reader handled it");
	else if (sorted->handling == RETRIED)
		weft__story_words_add(weft__story_clause(s, 4), "; a later try did not fail");
}

/* True if most alike tasks fail like these. */
static bool fails_mostly(const struct ends *ends, uint32_t task, uint32_t count)
{
	const struct weft__alike *alike = &ends->findings->alike;
	uint32_t group = alike->group_of[task];
	return count >= OFTEN && group != WEFT_NONE && count >= alike->groups[group].count / 2;
}

static enum weft_problem_severity severity_of(
	const struct ends *ends, const struct sorted *sorted, uint32_t count)
{
	if (sorted->handling == UNREAD)
		return WEFT_SEVERITY_ERROR;
	return fails_mostly(ends, sorted->task, count) ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT;
}

/* Adds `count` similar ones from `sorted` on as one problem. */
static void add_ending(struct ends *ends, const struct sorted *sorted, uint32_t count)
{
	const struct weft_tasks *t = &ends->model->tasks;
	uint32_t task = sorted->task;
	struct weft__sentence s;
	struct weft_problem problem = weft__story_problem(
		never(t, task) ? WEFT_PROBLEM_NEVER_RESOLVED : WEFT_PROBLEM_FAILED,
		severity_of(ends, sorted, count), count,
		(struct weft__case){task, weft__story_start_of(ends->findings->story, task), t->end[task]});
	uint64_t began = t->end[sorted->origin];
	problem.show_start = began < problem.start ? began : problem.start;
	problem.show_end = problem.end;
	if (sorted->origin != task) {
		struct weft__words words = weft__story_problem_note(&problem.cause, began, sorted->origin);
		weft__story_words_add(&words, "fails first");
		words = weft__story_problem_note(&problem.effect, problem.end, task);
		weft__story_words_add(&words, "fails in turn");
	}
	if (count > 1) /* to show how they follow each other */
		problem.show_end = sorted[count < SHOWN ? count - 1 : SHOWN - 1].end;
	write_ending(&s, ends->model, sorted, count, problem.severity);
	weft__story_find(ends->findings, &problem, count, &s);
}

static uint32_t count_messages(const struct sorted *sorted, uint32_t count)
{
	uint32_t messages = 1;
	for (uint32_t i = 1; i < count; i++)
		messages += sorted[i].message != sorted[i - 1].message;
	return messages;
}

/* Adds those with equal messages; or, if there are many different ones, those that differ only in
 * numbers. */
static void add_alike(struct ends *ends, const struct sorted *sorted, uint32_t count)
{
	bool are_equal = !never(&ends->model->tasks, sorted->task) &&
					 weft_model_string(ends->model, sorted->message).size &&
					 count_messages(sorted, count) == 1;
	if (count > ALIKE_MAX || sorted->handling != UNREAD || are_equal)
		add_ending(ends, sorted, count);
	else
		for (uint32_t i = 0; i < count; i++)
			add_ending(ends, &sorted[i], 1);
}

static void add_endings(struct ends *ends, struct sorted *sorted)
{
	for (uint32_t i = 0, next; i < ends->count; i = next) {
		next = i + 1;
		while (next < ends->count && sorted[next].key == sorted[i].key)
			next++;
		if (count_messages(&sorted[i], next - i) > MESSAGES_MAX) {
			qsort(&sorted[i], next - i, sizeof(*sorted), by_end);
			add_alike(ends, &sorted[i], next - i);
			continue;
		}
		for (uint32_t from = i, to; from < next; from = to) {
			to = from + 1;
			while (to < next && sorted[to].message == sorted[from].message)
				to++;
			add_alike(ends, &sorted[from], to - from);
		}
	}
}

static void add_under_way(struct ends *ends)
{
	const struct weft_tasks *t = &ends->model->tasks;
	const struct weft_story *story = ends->findings->story;
	uint32_t first = WEFT_NONE, count = 0;
	struct weft__sentence s;
	for (uint32_t task = 0; task < t->count; task++) {
		if (!is_bad(t, task) || !is_under_way(ends, task))
			continue;
		if (!count++ || weft__story_start_of(story, task) < weft__story_start_of(story, first))
			first = task;
	}
	if (!count)
		return;
	struct weft_problem problem =
		weft__story_problem(WEFT_PROBLEM_NEVER_RESOLVED, WEFT_SEVERITY_HINT, count,
			(struct weft__case){first, weft__story_start_of(story, first), t->end[first]});
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 4);
	weft__story_words_add_subject(w, ends->model, first, 40);
	if (count > 1)
		weft__story_words_add(w, " and %u more", count - 1);
	weft__story_words_add(w, count > 1 ? " were under way" : " was under way");
	weft__story_words_add(weft__story_clause(&s, 3), " when the trace ended");
	weft__story_words_add(weft__story_clause(&s, 2), ", for no longer than usual");
	weft__story_find(ends->findings, &problem, count, &s);
}

void weft__find_ends(struct weft__findings *findings)
{
	struct ends ends = {.findings = findings, .model = findings->story->model};
	struct sorted *sorted = NULL;
	int error = weft__story_attempts_init(&ends.attempts, ends.model);
	if (!error)
		error = list_bad(&ends);
	if (!error) {
		sorted = malloc((ends.count + (size_t)1) * sizeof(*sorted));
		error = sorted ? 0 : WEFT_ERROR_MEMORY;
	}
	if (error) {
		findings->error = error;
	} else {
		for (uint32_t i = 0; i < ends.count; i++)
			sorted[i] = sort_in(&ends, ends.tasks[i]);
		qsort(sorted, ends.count, sizeof(*sorted), by_key);
		add_endings(&ends, sorted);
		add_under_way(&ends);
	}
	weft__story_find_crashes(findings);
	weft__story_attempts_finish(&ends.attempts);
	free(ends.tasks);
	free(ends.finals);
	free(sorted);
}
