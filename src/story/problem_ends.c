/* SPDX-License-Identifier: ISC
 *
 * Tasks that failed, and tasks that should have ended and did not. A failure travels: who reads
 * what failed mostly fails with the same message, so tasks with one message are one story; so are
 * those with very many that differ in their numbers only. Up to ALIKE_MAX of them are told one by
 * one; of more, the first, with their number. Whatever has an end cuts through what is under way
 * then: tasks that were no older than others like them become are one story, too, and a mild one.
 */
#include <stdlib.h>

#include "story/problems.h"

#define ALIKE_MAX    3
#define OF_TENTH     4 /* times as old as nine tenths become, or as old as any: not only under way */
#define MESSAGES_MAX 8 /* that differ in their numbers only: status 404 is not 500 */
#define SHOWN        5 /* of those told as one */

struct ends {
	struct weft__findings *findings;
	const struct weft_model *model;
	uint32_t *tasks; /* that ended badly */
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

/* The trace ended amid it. */
static bool is_under_way(const struct ends *ends, uint32_t task)
{
	const struct weft__alike *alike = &ends->findings->alike;
	if (!never(&ends->model->tasks, task) || alike->group_of[task] == WEFT_NONE)
		return false;
	const struct weft__alike_group *group = &alike->groups[alike->group_of[task]];
	uint64_t age = weft__life_of(ends->findings->story, task);
	return group->count >= WEFT__ALIKE_MIN &&
		   (age / OF_TENTH <= group->p90_ns || age <= group->longest_ns);
}

static int list_bad(struct ends *ends)
{
	const struct weft_tasks *t = &ends->model->tasks;
	uint32_t count = 0;
	for (uint32_t task = 0; task < t->count; task++)
		count += is_bad(t, task);
	ends->tasks = malloc((count + (size_t)1) * sizeof(*ends->tasks));
	if (!ends->tasks)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < t->count; task++)
		if (is_bad(t, task) && !is_under_way(ends, task))
			ends->tasks[ends->count++] = task;
	return 0;
}

/* qsort has no context: what is compared goes with it. */
struct sorted {
	uint64_t key, end;
	uint32_t task, message;
};

/* Equal for tasks whose ends are alike: by message; those without an end by kind and name. */
static uint64_t key_of(const struct ends *ends, uint32_t task)
{
	const struct weft_model *model = ends->model;
	if (never(&model->tasks, task))
		return UINT64_MAX - ends->findings->alike.group_of[task];
	return weft__alike_hash(weft_model_string(model, model->tasks.message[task])) >> 1;
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

static void say_ending(
	struct weft__sentence *s, const struct weft_model *model, uint32_t task, uint32_t count)
{
	const struct weft_tasks *t = &model->tasks;
	struct weft_slice message = weft_model_string(model, t->message[task]);
	weft__sentence_init(s);
	struct weft__words *w = weft__clause(s, 4);
	weft__say_subject(w, model, task, 40);
	if (never(t, task)) {
		weft__say(w, " is never resolved");
	} else {
		weft__say(w, " failed");
		w = weft__clause(s, 1);
		weft__say(w, " at ");
		weft__say_time(w, model, t->end[task]);
		if (message.size) {
			w = weft__clause(s, 3);
			weft__say(w, ": ");
			weft__say_text(w, message, 60);
		}
	}
	if (count > 1)
		weft__say(weft__clause(s, 2), ", and %u more like it", count - 1);
}

/* `count` alike ones from `sorted` on, as one problem. */
static void add_ending(struct ends *ends, const struct sorted *sorted, uint32_t count)
{
	const struct weft_tasks *t = &ends->model->tasks;
	uint32_t task = sorted->task;
	struct weft__sentence s;
	struct weft_problem problem = {
		.type = never(t, task) ? WEFT_PROBLEM_NEVER_RESOLVED : WEFT_PROBLEM_FAILED,
		.severity = WEFT_SEVERITY_ERROR,
		.count = count,
		.start = weft__start_of(ends->findings->story, task),
		.end = t->end[task],
		.task = task,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
		.edge = WEFT_NONE,
	};
	if (count > 1) { /* how they follow each other */
		problem.show_start = problem.start;
		problem.show_end = sorted[count < SHOWN ? count - 1 : SHOWN - 1].end;
	}
	say_ending(&s, ends->model, task, count);
	weft__find(ends->findings, &problem, count, &s);
}

static uint32_t count_messages(const struct sorted *sorted, uint32_t count)
{
	uint32_t messages = 1;
	for (uint32_t i = 1; i < count; i++)
		messages += sorted[i].message != sorted[i - 1].message;
	return messages;
}

/* Those of one message; or of one but for its numbers, if it has many different ones. */
static void add_alike(struct ends *ends, const struct sorted *sorted, uint32_t count)
{
	if (count > ALIKE_MAX)
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
		if (!count++ || weft__start_of(story, task) < weft__start_of(story, first))
			first = task;
	}
	if (!count)
		return;
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_NEVER_RESOLVED,
		.severity = WEFT_SEVERITY_HINT,
		.count = count,
		.start = weft__start_of(story, first),
		.end = t->end[first],
		.task = first,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
		.edge = WEFT_NONE,
	};
	weft__sentence_init(&s);
	struct weft__words *w = weft__clause(&s, 4);
	weft__say_subject(w, ends->model, first, 40);
	if (count > 1)
		weft__say(w, " and %u more", count - 1);
	weft__say(w, count > 1 ? " were under way" : " was under way");
	weft__say(weft__clause(&s, 3), " when the trace ended");
	weft__say(weft__clause(&s, 2), ", for no longer than usual");
	weft__find(ends->findings, &problem, count, &s);
}

void weft__find_ends(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	struct ends ends = {.findings = findings, .model = model};
	struct sorted *sorted = NULL;
	int error = list_bad(&ends);
	if (!error) {
		sorted = malloc((ends.count + (size_t)1) * sizeof(*sorted));
		error = sorted ? 0 : WEFT_ERROR_MEMORY;
	}
	if (error) {
		findings->error = error;
	} else {
		for (uint32_t i = 0; i < ends.count; i++)
			sorted[i] =
				(struct sorted){key_of(&ends, ends.tasks[i]), model->tasks.end[ends.tasks[i]],
					ends.tasks[i], model->tasks.message[ends.tasks[i]]};
		qsort(sorted, ends.count, sizeof(*sorted), by_key);
		add_endings(&ends, sorted);
		add_under_way(&ends);
	}
	free(ends.tasks);
	free(sorted);
}
