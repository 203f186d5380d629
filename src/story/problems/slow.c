/* SPDX-License-Identifier: ISC
 *
 * Tasks that lived far longer than alike ones. Lifetimes vary widely, so a task is reported only if
 * it is far beyond the median and beyond the slowest tenth, and in a long trace also beyond 99 of
 * 100; or if it is one of many that all take about equally long, as when every fifth request runs
 * into the same timer. A slow task delays all that wait for it: of overlapping slow tasks, the
 * shortest is reported, since it is closest to the cause.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sort.h"
#include "story/blocking.h"
#include "story/problems/findings.h"
#include "story/problems/reader.h"

#define OF_MEDIAN   8 /* ratio to the median */
#define OF_TENTH    4
#define OF_99       8 /* ratio to 99 of 100, of a task shorter than 1 / LEAST_SHARE of the trace */
#define LEAST_SHARE 200            /* 1 / share of a trace: shorter ones are not reported, … */
#define LEAST_NS    (5 * WEFT__MS) /* … and in a long trace shorter ones than this */
#define LOOKED_MAX  64
#define NAMED_MAX   10
#define MANY        8 /* tasks that take about equally long: … */
#define ABOUT       4 /* … three quarters of them differ by at most 1 / ABOUT */
#define BIRTH_EDGES 4 /* of a process's first thread, one of which may come from its parent */
#define WAITERS_MIN 4 /* minimum number of waiters that are reported */

/* The slowest task of a group. */
struct slow {
	uint32_t task, count;
	bool is_recurring; /* MANY take about equally long; `task` is the slowest of them */
	uint64_t life_ns, usual_ns;
	uint64_t least_ns; /* of these many */
	uint32_t
		runner; /* the task that ran for half of its life or more without a pause, or WEFT_NONE */
	uint64_t runner_ns;
	uint64_t off_ns; /* the part of it without a processor */
};

struct sorting {
	struct weft__findings *findings;
	const struct weft_story *story;
	const struct weft_model *model;
	const struct weft__alike *alike;
	uint64_t share_ns;            /* 1 / LEAST_SHARE of the trace */
	uint64_t least_ns;            /* shorter tasks are not reported */
	uint64_t *lives;              /* with room for twice as many */
	struct slow slow[LOOKED_MAX]; /* longest first */
	uint32_t slow_count;
};

/* Inserts a task among the longest ones. */
static void keep(struct sorting *s, const struct slow *slow)
{
	uint32_t index = s->slow_count;
	if (index == LOOKED_MAX) {
		if (s->slow[--index].life_ns >= slow->life_ns)
			return;
	} else {
		s->slow_count++;
	}
	for (; index > 0 && s->slow[index - 1].life_ns < slow->life_ns; index--)
		s->slow[index] = s->slow[index - 1];
	s->slow[index] = *slow;
}

/* The life of a task that was cancelled, closed or timed out does not say how long its work takes,
 * nor that of a task which may have ended before: its end's tag comes last. */
static bool is_stopped(const struct sorting *s, uint32_t member)
{
	const struct weft_tasks *t = &s->model->tasks;
	const uint32_t task = s->alike->members[member], end = t->end_note[task];
	return (t->flags[task] & WEFT_TASK_STOPPED) ||
		   (t->first_note[task] < end &&
			   weft__story_is_tag(s->model, end - 1, WEFT_TAG_ENDED_BEFORE));
}

static bool is_one_of(const struct sorting *s, const struct weft__alike_group *group,
	uint32_t member, uint64_t least_ns)
{
	uint64_t life = s->alike->lives[member];
	return life / OF_MEDIAN >= group->p50_ns && life >= least_ns && !is_stopped(s, member);
}

/* Finds tasks far beyond the median that take about equally long, if there are many. */
static bool find_timed(struct sorting *s, const struct weft__alike_group *group, struct slow *slow)
{
	const uint64_t *lives = s->alike->lives;
	uint32_t count = 0;
	for (uint32_t i = group->first; i < group->first + group->count; i++)
		if (is_one_of(s, group, i, s->least_ns))
			s->lives[count++] = lives[i];
	if (count < MANY)
		return false;
	weft__sort_u64(s->lives, s->lives + count, count);
	uint64_t low = s->lives[count / 8], high = s->lives[count - 1 - count / 8];
	if (high - low > high / ABOUT) /* not counting the outermost eighths */
		return false;
	slow->usual_ns = group->p50_ns;
	slow->is_recurring = true;
	slow->least_ns = low - low / ABOUT;
	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		if (!is_one_of(s, group, i, slow->least_ns))
			continue;
		if (slow->task == WEFT_NONE || lives[i] > slow->life_ns) {
			slow->task = s->alike->members[i];
			slow->life_ns = lives[i];
		}
		slow->count++;
	}
	return true;
}

/* True if a task is long for its group: in a long trace, a little part of many tasks always is. */
static bool stands_out(
	const struct sorting *s, const struct weft__alike_group *group, uint64_t life)
{
	return life / OF_MEDIAN >= group->p50_ns && life / OF_TENTH >= group->p90_ns &&
		   (life >= s->share_ns || life / OF_99 >= group->p99_ns) && life >= s->least_ns && life;
}

/* True for a thread whose process has forked those of others in the group: it is as long as all of
 * them, and does something else. */
static bool has_forked(
	const struct sorting *s, const struct weft__alike_group *group, uint32_t task)
{
	const struct weft_edges *e = &s->model->edges;
	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		const uint32_t member = s->alike->members[i];
		struct weft__edge_list to = weft__story_edges_to(s->story, member);
		for (uint32_t k = 0; k < to.count && k < BIRTH_EDGES; k++)
			if (e->type[to.edges[k]] == WEFT_EDGE_RECEIVE && e->from[to.edges[k]] == task &&
				s->model->tasks.buffer[member] != s->model->tasks.buffer[task])
				return true;
	}
	return false;
}

static bool is_parent(const struct sorting *s, const struct weft__alike_group *group, uint32_t task)
{
	return s->model->tasks.kind[task] == WEFT_KIND_THREAD && has_forked(s, group, task);
}

static void find_slowest(
	const struct sorting *s, const struct weft__alike_group *group, struct slow *slow)
{
	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		uint64_t life = s->alike->lives[i];
		if (!stands_out(s, group, life) || is_stopped(s, i) ||
			is_parent(s, group, s->alike->members[i]))
			continue;
		slow->count++;
		if (slow->task == WEFT_NONE || life > slow->life_ns) {
			slow->task = s->alike->members[i];
			slow->life_ns = life;
		}
	}
	slow->usual_ns = group->p50_ns;
}

static void look_at_group(struct sorting *s, const struct weft__alike_group *group)
{
	struct slow slow = {.task = WEFT_NONE, .runner = WEFT_NONE};
	if (group->count < WEFT__ALIKE_MIN)
		return;
	/* A timer takes as long as it was set for: late.c. Tasks of which the trace lacks the begin are
	 * not alike, and how long they take is unknown. */
	const unsigned kind = s->model->tasks.kind[s->alike->members[group->first]];
	if (kind == WEFT_KIND_TIMER || kind == WEFT_KIND_PREEXISTING)
		return;
	if (!find_timed(s, group, &slow))
		find_slowest(s, group, &slow);
	if (slow.count && slow.life_ns > 0)
		keep(s, &slow);
}

/* True if two lifetimes overlap, except for a fifth of the longer one. */
static bool are_one_story(const struct sorting *s, const struct slow *a, const struct slow *b)
{
	uint64_t a_start = weft__story_start_of(s->story, a->task),
			 b_start = weft__story_start_of(s->story, b->task);
	uint64_t a_end = a_start + a->life_ns, b_end = b_start + b->life_ns;
	uint64_t start = a_start > b_start ? a_start : b_start, end = a_end < b_end ? a_end : b_end;
	uint64_t longer = a->life_ns > b->life_ns ? a->life_ns : b->life_ns;
	return end > start && end - start >= longer - longer / 5;
}

/* Appends the share of garbage collection, if it is half of the lifetime or more. */
static void write_gc(
	struct weft__sentence *t, const struct weft_model *model, const struct weft_problem *problem)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < model->band_count && model->bands[i].start < problem->end; i++) {
		const struct weft_band_period *band = &model->bands[i];
		uint64_t start = band->start > problem->start ? band->start : problem->start;
		uint64_t end = band->end < problem->end ? band->end : problem->end;
		if (band->kind == WEFT_BAND_GC && end > start)
			sum += end - start;
	}
	if (sum < (problem->end - problem->start) / 2 || sum == 0)
		return;
	struct weft__words *w = weft__story_clause(t, 6);
	weft__story_words_add(w, ", ");
	weft__story_words_add_length(w, sum);
	weft__story_words_add(w, " of it in GC");
}

static void write_waiters(struct weft__sentence *t, const struct weft_story *story, uint32_t task)
{
	struct weft__edge_list to = weft__story_edges_to(story, task);
	uint32_t reads = 0, tries = 0;
	for (uint32_t i = 0; i < to.count; i++) {
		reads += story->model->edges.type[to.edges[i]] == WEFT_EDGE_READ;
		tries += story->model->edges.type[to.edges[i]] == WEFT_EDGE_TRY_READ;
	}
	uint32_t waiters = reads > tries ? reads : tries;
	if (waiters >= WAITERS_MIN)
		weft__story_words_add(
			weft__story_clause(t, 5), ", and %" PRIu32 " tasks wait for it", waiters);
}

/* True if tasks on this thread keep `task` from running. If its process has several threads, that
 * is known only if the task itself has run there. */
static bool is_on_thread(const struct weft_model *model, uint32_t task, uint32_t thread)
{
	const uint32_t end = model->tasks.end_activation[task];
	const uint32_t only = weft__story_only_thread(model, task);
	if (only != WEFT_NONE)
		return only == thread;
	return end > model->tasks.first_activation[task] &&
		   model->activations.thread[end - 1] == thread;
}

static void see_runner(
	const struct sorting *s, struct slow *slow, uint32_t runner, uint32_t activation)
{
	const struct weft_activations *a = &s->model->activations;
	uint64_t start = weft__story_start_of(s->story, slow->task), end = start + slow->life_ns;
	uint64_t from = a->start[activation] > start ? a->start[activation] : start;
	uint64_t to = a->end[activation] < end ? a->end[activation] : end;
	if (to <= from || to - from < slow->life_ns / 2 || to - from <= slow->runner_ns ||
		!is_on_thread(s->model, slow->task, a->thread[activation]))
		return;
	slow->runner = runner;
	slow->runner_ns = to - from;
	slow->off_ns = weft__story_preempted_ns(s->model, a->thread[activation], from, to);
}

/* Finds tasks that ran for half or more of the lifetime of a reported one. */
static void find_runners(struct sorting *s, const uint32_t *named, uint32_t count)
{
	const struct weft_activations *a = &s->model->activations;
	const uint32_t *first = s->model->tasks.first_activation;
	const uint32_t *end = s->model->tasks.end_activation;
	for (uint32_t task = 0; task < s->model->tasks.count; task++)
		for (uint32_t i = first[task]; i < end[task]; i++)
			for (uint32_t k = 0; k < count && a->end[i] - a->start[i] >= s->least_ns / 2; k++)
				see_runner(s, &s->slow[named[k]], task, i);
}

static void write_runner(
	struct weft__sentence *t, const struct weft_model *model, const struct slow *slow)
{
	if (slow->runner == WEFT_NONE || slow->is_recurring)
		return;
	if (slow->runner == slow->task) {
		weft__story_words_add(weft__story_clause(t, 5), ", running all along or preempted");
		return;
	}
	struct weft__words *w = weft__story_clause(t, 8);
	weft__story_words_add(w, ", while ");
	weft__story_words_add_subject(w, model, slow->runner, 28);
	weft__story_words_add(w, " runs for ");
	weft__story_words_add_length(w, slow->runner_ns);
	weft__story_words_add(w, " of it");
}

/* Adds a period for each of many tasks, and stores the numbers of these tasks in their group in
 * `s->lives`. */
static void list_recurring(struct sorting *s, const struct slow *slow)
{
	const struct weft__alike *alike = s->alike;
	const struct weft__alike_group *group = &alike->groups[alike->group_of[slow->task]];
	uint32_t count = 0;
	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		uint32_t task = alike->members[i];
		if (!is_one_of(s, group, i, slow->least_ns))
			continue;
		weft__story_find_period(
			s->findings, weft__story_start_of(s->story, task), s->model->tasks.end[task]);
		s->lives[count++] = i - group->first;
	}
}

/* The number of tasks in the group with the slow task's very name, if all slow ones have it and
 * some others do not; else 0. `s->lives` has the numbers of the slow ones. */
static uint32_t count_named(
	const struct sorting *s, const struct weft__alike_group *group, const struct slow *slow)
{
	const uint32_t *members = &s->alike->members[group->first], *labels = s->model->tasks.label;
	uint32_t count = 0;
	for (uint32_t i = 0; i < slow->count; i++)
		if (labels[members[s->lives[i]]] != labels[slow->task])
			return 0;
	for (uint32_t i = 0; i < group->count; i++)
		count += labels[members[i]] == labels[slow->task];
	return count < group->count ? count : 0;
}

/* Writes which of a group's tasks are slow: those of one name, "every 20th", "the first 12" or
 * "30". Its tasks are in the order of their first mention. */
static void write_recurring(struct sorting *s, struct weft__sentence *t, const struct slow *slow)
{
	const struct weft__alike *alike = s->alike;
	const struct weft__alike_group *group = &alike->groups[alike->group_of[slow->task]];
	struct weft__words *w = weft__story_clause(t, 8);
	list_recurring(s, slow);
	const uint64_t *numbers = s->lives;
	uint64_t rhythm = weft__story_rhythm(numbers, slow->count);
	uint32_t named = count_named(s, group, slow);
	weft__story_words_add(w, "; ");
	if (named) {
		weft__story_words_add(
			w, "%" PRIu32 " of the %" PRIu32 " with this name are so slow", slow->count, named);
		return;
	}
	if (rhythm == 1 && numbers[slow->count - 1] - numbers[0] == slow->count - 1) {
		weft__story_words_add(w,
			numbers[0] ? "%" PRIu32 " in a row are so slow" : "the first %" PRIu32 " are so slow",
			slow->count);
	} else if (rhythm > 1) {
		weft__story_words_add(w, "every ");
		weft__story_words_add_ordinal(w, rhythm);
		weft__story_words_add(w, " is so slow");
	} else {
		weft__story_words_add(
			w, "%" PRIu32 " of %" PRIu32 " are so slow", slow->count, group->count);
		return;
	}
	weft__story_words_add(
		weft__story_clause(t, 3), " (%" PRIu32 " of %" PRIu32 ")", slow->count, group->count);
}

static struct weft_problem problem_of(const struct sorting *s, const struct slow *slow)
{
	return weft__story_problem(WEFT_PROBLEM_SLOW, WEFT_SEVERITY_HINT, slow->count,
		(struct weft__case){slow->task, weft__story_start_of(s->story, slow->task),
			s->model->tasks.end[slow->task]});
}

static void set_notes(struct weft_problem *problem, const struct slow *slow)
{
	struct weft__words words =
		weft__story_problem_note(&problem->cause, problem->start, problem->task);
	weft__story_words_add(&words, "begins");
	words = weft__story_problem_note(&problem->effect, problem->end, problem->task);
	weft__story_words_add(&words, "ends after ");
	weft__story_words_add_length(&words, slow->life_ns);
	weft__story_words_add(&words, slow->is_recurring ? ", most after " : ", others after ");
	weft__story_words_add_length(&words, slow->usual_ns);
}

/* Writes "task 17 'GET /item/4' takes 31 ms", or of a promise with one reader, "task 17 'GET
 * /item/4' waits 31 ms for sleep". A reader that runs meanwhile does not wait. */
static void write_subject(
	struct weft__words *w, const struct weft_story *story, const struct slow *slow)
{
	uint32_t reader = slow->is_recurring ? WEFT_NONE : weft__story_only_reader(story, slow->task);
	reader = reader == slow->runner ? WEFT_NONE : reader;
	weft__story_words_add_subject(w, story->model, reader == WEFT_NONE ? slow->task : reader, 36);
	weft__story_words_add(w, reader == WEFT_NONE ? " takes " : " waits ");
	weft__story_words_add_length(w, slow->life_ns);
	if (reader == WEFT_NONE)
		return;
	weft__story_words_add(w, " for ");
	weft__story_words_add_other(w, story->model, slow->task, reader, 24);
}

/* Adds the slow tasks of the group as cases, the slowest one first. */
static void add_cases(const struct sorting *s, const struct slow *slow)
{
	const struct weft_tasks *t = &s->model->tasks;
	const struct weft__alike_group *group = &s->alike->groups[s->alike->group_of[slow->task]];
	uint32_t count = 1;
	weft__story_find_case(
		s->findings, slow->task, weft__story_start_of(s->story, slow->task), t->end[slow->task]);
	for (uint32_t i = group->first; i < group->first + group->count && count < slow->count; i++) {
		const uint32_t task = s->alike->members[i];
		const bool is_one = slow->is_recurring
								? is_one_of(s, group, i, slow->least_ns)
								: stands_out(s, group, s->alike->lives[i]) && !is_stopped(s, i);
		if (!is_one || task == slow->task)
			continue;
		weft__story_find_case(
			s->findings, task, weft__story_start_of(s->story, task), t->end[task]);
		count++;
	}
}

static void report_slow(struct sorting *s, const struct slow *slow)
{
	const struct weft_model *model = s->model;
	struct weft__sentence t;
	struct weft_problem problem = problem_of(s, slow);
	set_notes(&problem, slow);
	weft__story_sentence_init(&t);
	write_subject(weft__story_clause(&t, 9), s->story, slow);
	struct weft__words *w;
	w = weft__story_clause(&t, 8);
	weft__story_words_add(w, " from ");
	weft__story_words_add_time(w, model, problem.start);
	write_gc(&t, model, &problem);
	write_runner(&t, model, slow);
	write_waiters(&t, s->story, slow->task);
	if (slow->is_recurring)
		write_recurring(s, &t, slow);
	w = weft__story_clause(&t, 7);
	weft__story_words_add(w, slow->is_recurring ? "; most take " : "; others like it take ");
	weft__story_words_add_length(w, slow->usual_ns);
	if (slow->count > 1 && !slow->is_recurring)
		weft__story_words_add(weft__story_clause(&t, 3),
			slow->count > 2 ? ", %" PRIu32 " more are slow" : ", 1 more is slow", slow->count - 1);
	add_cases(s, slow);
	weft__story_find(s->findings, &problem, slow->life_ns, &t);
}

/* Reports from the shortest to the longest: a longer one that overlaps a shorter one is the same
 * problem. */
static void report_all(struct sorting *s)
{
	uint32_t named[LOOKED_MAX], count = 0;
	for (uint32_t i = s->slow_count; i > 0; i--) {
		bool known = false;
		for (uint32_t k = 0; k < count && !known; k++)
			known = are_one_story(s, &s->slow[named[k]], &s->slow[i - 1]);
		if (!known)
			named[count++] = i - 1;
	}
	uint32_t from = count > NAMED_MAX ? count - NAMED_MAX : 0;
	find_runners(s, named + from, count - from);
	for (uint32_t k = from; k < count; k++) {
		const struct slow *slow = &s->slow[named[k]];
		/* Other programs had the processor for most of the time: no fault of this one. */
		if (slow->is_recurring || slow->off_ns <= slow->life_ns / 2)
			report_slow(s, slow);
	}
}

void weft__find_slow(struct weft__findings *findings)
{
	const struct weft__alike *alike = &findings->alike;
	struct sorting s = {
		.findings = findings,
		.story = findings->story,
		.model = findings->story->model,
		.alike = alike,
		.share_ns = (findings->story->model->summary.end - findings->story->model->summary.start) /
					LEAST_SHARE,
		.least_ns = weft__story_least_ns(findings, LEAST_SHARE, LEAST_NS),
	};
	uint32_t most = 0;
	for (uint32_t g = 0; g < alike->group_count; g++)
		if (alike->groups[g].count > most)
			most = alike->groups[g].count;
	s.lives = malloc((2 * (size_t)most + 1) * sizeof(*s.lives));
	if (!s.lives) {
		findings->error = WEFT_ERROR_MEMORY;
		return;
	}
	for (uint32_t g = 0; g < alike->group_count; g++)
		look_at_group(&s, &alike->groups[g]);
	report_all(&s);
	free(s.lives);
}
