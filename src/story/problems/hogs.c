/* SPDX-License-Identifier: ISC
 *
 * Tasks that run for very long without a pause while others wait for the same thread. The waiters
 * show afterwards: they existed by half of that time, and run on that thread soon after it. Tasks
 * that the hog itself made did not wait for it, nor did those of which it is a part, such as the
 * thread's own, and that only go on after it. Without waiters, a run that is an exception on its
 * thread is a hint (stalls.h). The time in which other programs had the processor does not count,
 * as far as it was measured.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "story/blocking.h"
#include "story/problems/findings.h"
#include "story/problems/ran.h"
#include "story/problems/stalls.h"
#include "story/problems/stuck.h"

#define LONG_SHARE  50               /* 1 / share of a trace: minimum length of a stretch, … */
#define LONG_NS     (10 * WEFT__MS)  /* … and in a long trace this length */
#define GRAVE_SHARE 20               /* 1 / share of a trace: length of a grave one, … */
#define GRAVE_NS    (100 * WEFT__MS) /* … and in a long trace this length */
#define BUSY_NS     (10 * WEFT__MS)  /* a grave one is at least that long */
#define FAR_LONGER  8                /* ratio to the mean stretch */
#define OUTLIER     64 /* ratio to the mean stretch, for one with a backlog instead of waiters */
#define WAITERS_MIN 3
#define BACKLOG_MIN 8   /* tasks that run soon after an outlier: the backlog that it caused */
#define SOON_PART   32  /* soon: within 1 / SOON_PART of the length of the outlier */
#define LOOKED_MAX  512 /* candidates; of more, the longest */
#define BLOCKED_MAX 64  /* stretches for which calls that block are looked for */
#define STALLS_MAX  8   /* of these, examined for stalls without waiters */
#define NAMED_MAX   5
#define LEVELS_MAX  64 /* of the forest of creations that are looked at above a task */
#define RUNS_MIN    16 /* activations needed to know how long a task runs */
#define TAKEN_MAX   UINT64_C(100000000) /* ns: the operating system preempts for no longer */

struct stretch {
	uint32_t task, thread;
	uint64_t start, end;
	uint64_t off_ns; /* without a processor, and not in a call that is known to block */
	uint32_t waiters, last_waiter;
	uint32_t backlog, last_of_backlog; /* tasks that run at once after it */
	uint64_t gc_ns;                    /* the part of it in garbage collection */
	uint64_t blocked_ns; /* the part of it in calls that block the thread, most of it in … */
	uint32_t blocked_in; /* … this task; or WEFT_NONE */
	bool is_stall;       /* an exception on its thread, for which no task waited */
};

struct looking {
	struct weft__findings *findings;
	const struct weft_model *model;
	struct stretch list[LOOKED_MAX]; /* sorted by thread and end */
	uint32_t count;
	uint64_t least_ns, grave_ns;
	uint64_t sum_ns, others; /* of all other stretches */
	uint32_t blocked_looked;
};

static uint64_t busy_ns(const struct stretch *s)
{
	const uint64_t length = s->end - s->start;
	return s->off_ns < length ? length - s->off_ns : 0;
}

static int by_length(const void *left, const void *right)
{
	const struct stretch *l = left, *r = right;
	uint64_t of_left = busy_ns(l), of_right = busy_ns(r);
	if (of_left != of_right)
		return of_left > of_right ? -1 : 1;
	return l->start < r->start ? -1 : l->start > r->start;
}

/* Makes room for further candidates: drops the shorter half of them, and shorter ones from now on.
 */
static void keep_longest(struct looking *l)
{
	qsort(l->list, l->count, sizeof(*l->list), by_length);
	l->count /= 2;
	l->least_ns = busy_ns(&l->list[l->count]) + 1;
	for (uint32_t i = l->count; i < LOOKED_MAX; i++) {
		l->sum_ns += busy_ns(&l->list[i]);
		l->others++;
	}
}

/* Extends a stretch over calls that block the thread, to the activation that is returned. */
static uint32_t add_blocked(const struct weft_model *model, uint32_t activation, struct stretch *s)
{
	struct weft__blocking blocking;
	uint64_t longest = 0;
	while (activation + 1 < model->tasks.end_activation[s->task] &&
		   weft__story_blocks_thread(model, s->task, activation, &blocking)) {
		uint64_t length = blocking.until - model->activations.end[activation];
		s->blocked_ns += length;
		if (length > longest) {
			longest = length;
			s->blocked_in = blocking.source;
		}
		s->end = model->activations.end[++activation];
	}
	return activation;
}

/* A call that blocks is the task's own doing. */
static void find_off_cpu(struct looking *l, struct stretch *s)
{
	uint32_t name;
	uint64_t blocked_ns = 0;
	s->off_ns = weft_model_off_cpu_between(l->model, s->task, s->thread, s->start, s->end);
	if (s->off_ns > (s->end - s->start) / 2 && l->blocked_looked++ < BLOCKED_MAX)
		weft__story_blocked_span(l->model, s->thread, s->start, s->end, &name, &blocked_ns);
	s->off_ns -= blocked_ns < s->off_ns ? blocked_ns : s->off_ns;
}

static void list_stretches(struct looking *l)
{
	const struct weft_activations *a = &l->model->activations;
	const uint32_t *first = l->model->tasks.first_activation;
	const uint32_t *end = l->model->tasks.end_activation;
	const bool may_block = weft__story_may_block(l->model);
	for (uint32_t task = 0; task < l->model->tasks.count; task++)
		for (uint32_t i = first[task]; i < end[task]; i++) {
			struct stretch s = {task, a->thread[i], a->start[i], a->end[i], 0, 0, WEFT_NONE, 0,
				WEFT_NONE, 0, 0, WEFT_NONE, false};
			if (may_block)
				i = add_blocked(l->model, i, &s);
			if (s.end - s.start >= l->least_ns)
				find_off_cpu(l, &s);
			uint64_t length = busy_ns(&s);
			if (length < l->least_ns) {
				l->sum_ns += length;
				l->others++;
			} else {
				if (l->count == LOOKED_MAX)
					keep_longest(l);
				l->list[l->count++] = s;
			}
		}
}

static int by_end(const void *left, const void *right)
{
	const struct stretch *l = left, *r = right;
	if (l->thread != r->thread)
		return l->thread < r->thread ? -1 : 1;
	if (l->end != r->end)
		return l->end < r->end ? -1 : 1;
	return l->task < r->task ? -1 : l->task > r->task;
}

struct thread_list {
	const struct stretch *list;
	uint32_t thread;
};

static bool is_over(const void *context, uint32_t row, uint64_t time)
{
	const struct thread_list *of_thread = context;
	const struct stretch *s = &of_thread->list[row];
	return s->thread < of_thread->thread || (s->thread == of_thread->thread && s->end <= time);
}

/* The last stretch of a thread that has ended by a time, or NULL. */
static struct stretch *find_before(struct looking *l, uint32_t thread, uint64_t time)
{
	const struct thread_list of_thread = {l->list, thread};
	uint32_t low = weft__search(&of_thread, 0, l->count, is_over, time);
	return low && l->list[low - 1].thread == thread ? &l->list[low - 1] : NULL;
}

/* True if an activation could not have been on another thread: of several threads, the task's last
 * one was on the same. A job that waits in a pool runs on any of its threads. */
static bool is_bound(const struct weft_model *model, uint32_t task, uint32_t i)
{
	const uint32_t *thread = model->activations.thread;
	return weft__story_only_thread(model, task) != WEFT_NONE ||
		   (i > model->tasks.first_activation[task] && thread[i - 1] == thread[i]);
}

/* True for the first thing that a thread does: nothing has piled up before. */
static bool is_start_up(const struct weft_model *model, const struct stretch *s)
{
	return s->start <= model->presences[s->thread].start;
}

/* Counts a task that runs after a stretch, if it waited for the thread; or as part of the backlog,
 * if it runs at once. A task's activations are in order, so each is counted once. */
static void count_waiter(const struct looking *l, struct stretch *s, uint32_t task, uint32_t i)
{
	uint64_t length = s->end - s->start, after = l->model->activations.start[i] - s->end;
	bool was_there = l->model->tasks.start[task] <= s->start + length / 2;
	if (was_there && after <= length / 2 && s->last_waiter != task && is_bound(l->model, task, i)) {
		s->waiters++;
		s->last_waiter = task;
	}
	if (after <= length / SOON_PART && s->last_of_backlog != task && !is_start_up(l->model, s)) {
		s->backlog++;
		s->last_of_backlog = task;
	}
}

static bool is_above(const struct weft_model *model, uint32_t task, uint32_t hog)
{
	const uint32_t *parent = model->tasks.parent;
	uint32_t above = parent[hog];
	for (uint32_t level = 0; level < LEVELS_MAX && above != WEFT_NONE && above != task; level++)
		above = parent[above];
	return above == task;
}

/* True if the first act of an activation is to read what another task than the hog has done. */
static bool has_other_reason(
	const struct weft_model *model, uint32_t task, uint32_t i, uint32_t hog)
{
	const struct weft_edges *e = &model->edges;
	const uint64_t start = model->activations.start[i];
	struct weft__edge_list by = weft__story_edges_by(model, task);
	uint32_t first = start ? weft__story_edges_until(model, by, start - 1) : 0;
	if (first >= by.count || e->time[by.edges[first]] > model->activations.end[i])
		return false;
	return e->type[by.edges[first]] == WEFT_EDGE_READ && e->to[by.edges[first]] != hog;
}

/* True if the hog made the task, or during the stretch one above it in the forest of creations, as
 * a program that starts makes its first requests. */
static bool is_made_by(const struct weft_tasks *t, uint32_t task, const struct stretch *s)
{
	uint32_t made = task;
	for (uint32_t level = 0; level < LEVELS_MAX && made != WEFT_NONE;
		 level++, made = t->parent[made])
		if (t->parent[made] == s->task)
			return made == task || t->start[made] >= s->start;
	return false;
}

/* False for the hog, for what it has made, and for those above it in the forest of creations that
 * only go on because it has ended. */
static bool may_wait(
	const struct weft_model *model, uint32_t task, uint32_t i, const struct stretch *s)
{
	return task != s->task && !is_made_by(&model->tasks, task, s) &&
		   (!is_above(model, task, s->task) || has_other_reason(model, task, i, s->task));
}

static void count_waiters(struct looking *l)
{
	const struct weft_activations *a = &l->model->activations;
	const struct weft_tasks *t = &l->model->tasks;
	for (uint32_t task = 0; task < t->count; task++)
		for (uint32_t i = t->first_activation[task]; i < t->end_activation[task]; i++) {
			struct stretch *s = find_before(l, a->thread[i], a->start[i]);
			if (s && may_wait(l->model, task, i, s))
				count_waiter(l, s, task, i);
		}
}

/* Counts pauses for garbage collection, which are another problem. */
static void count_pauses(struct looking *l)
{
	for (uint32_t i = 0; i < l->model->band_count; i++) {
		const struct weft_band_period *band = &l->model->bands[i];
		if (band->kind != WEFT_BAND_GC)
			continue;
		struct stretch *s = find_before(l, band->thread, band->start);
		for (s = s ? s + 1 : l->list; s < l->list + l->count; s++) {
			uint64_t start = band->start > s->start ? band->start : s->start;
			uint64_t end = band->end < s->end ? band->end : s->end;
			if (s->thread > band->thread || (s->thread == band->thread && s->start >= band->end))
				break;
			if (s->thread == band->thread && end > start)
				s->gc_ns += end - start;
		}
	}
}

static bool is_waited_for(const struct looking *l, const struct stretch *s)
{
	uint64_t length = busy_ns(s), mean = l->others ? l->sum_ns / l->others : 0;
	bool is_outlier = l->others && length / OUTLIER >= mean;
	bool has_waiters = s->waiters >= WAITERS_MIN || (is_outlier && s->backlog >= BACKLOG_MIN);
	return has_waiters && length / FAR_LONGER >= mean && s->gc_ns < length / 2;
}

static bool is_one(const struct looking *l, const struct stretch *s)
{
	return s->is_stall || is_waited_for(l, s);
}

/* Marks the longest stretches that are exceptions on their threads. */
static void mark_stalls(struct looking *l)
{
	uint32_t examined = 0;
	for (uint32_t i = 0; i < l->count && examined < STALLS_MAX; i++) {
		struct stretch *s = &l->list[i];
		uint64_t length = busy_ns(s);
		if (length < LONG_NS || s->gc_ns >= length / 2 || is_waited_for(l, s))
			continue;
		const struct weft__long_run run = {s->task, s->thread, s->start, s->end};
		s->is_stall = weft__story_is_stall(l->model, &run);
		examined++;
	}
}

/* True if the task runs often, and hardly ever that long: perhaps it was preempted by the operating
 * system. */
static bool is_unlike_itself(const struct looking *l, const struct stretch *stretch)
{
	const struct weft_activations *a = &l->model->activations;
	uint32_t first = l->model->tasks.first_activation[stretch->task];
	uint32_t end = l->model->tasks.end_activation[stretch->task];
	uint32_t group = l->findings->alike.group_of[stretch->task];
	uint64_t length = busy_ns(stretch);
	if (length > TAKEN_MAX)
		return false;
	if (group != WEFT_NONE && l->findings->alike.groups[group].count >= WEFT__ALIKE_MIN)
		return l->findings->alike.groups[group].p90_ns <= length / FAR_LONGER;
	uint32_t runs = end - first, longer = 0;
	for (uint32_t i = first; i < end; i++)
		longer += a->end[i] - a->start[i] > length / FAR_LONGER;
	return runs >= RUNS_MIN && longer <= runs / RUNS_MIN;
}

/* The number of stretches similar to the first one, which is reported. */
static uint32_t count_alike(struct looking *l, const struct stretch *stretch)
{
	const uint32_t *group_of = l->findings->alike.group_of;
	uint32_t group = group_of[stretch->task], count = 0;
	for (const struct stretch *s = stretch; s < l->list + l->count; s++) {
		if (!is_one(l, s) || (s != stretch && (group == WEFT_NONE || group_of[s->task] != group)))
			continue;
		count++;
		weft__story_find_period(l->findings, s->start, s->end);
		weft__story_find_case(l->findings, s->task, s->start, s->end);
	}
	return count;
}

static bool is_reported(const struct looking *l, const struct stretch *stretch)
{
	const uint32_t *group_of = l->findings->alike.group_of;
	for (const struct stretch *s = l->list; s < stretch; s++)
		if (is_one(l, s) && group_of[s->task] != WEFT_NONE &&
			group_of[s->task] == group_of[stretch->task])
			return true;
	return false;
}

/* The span that takes most of a stretch, if it takes a quarter of it or more. One of which the
 * trace has no end takes an unknown part. */
static bool find_span(
	const struct weft_model *m, const struct stretch *s, uint32_t *ret_name, uint64_t *ret_ns)
{
	uint32_t count = weft_model_span_count(m, s->task);
	*ret_ns = 0;
	for (uint32_t i = weft_model_span_after(m, s->task, s->start); i < count; i++) {
		struct weft_span span = weft_model_span(m, s->task, i);
		uint64_t start = span.start > s->start ? span.start : s->start;
		uint64_t end = span.end < s->end ? span.end : s->end;
		if (!span.is_at_most && end > start && end - start > *ret_ns) {
			*ret_ns = end - start;
			*ret_name = span.name;
		}
		if (span.depth == 0 && span.end >= s->end)
			break;
	}
	return *ret_ns > 0 && *ret_ns >= (s->end - s->start) / 4;
}

/* Appends " ('deflate' for 24 ms of it)". */
static void write_span(
	struct weft__sentence *s, const struct weft_model *m, const struct stretch *stretch)
{
	uint32_t name;
	uint64_t ns;
	bool is_found =
		find_span(m, stretch, &name, &ns) ||
		(weft__story_blocked_span(m, stretch->thread, stretch->start, stretch->end, &name, &ns) &&
			ns >= (stretch->end - stretch->start) / 4);
	if (!is_found)
		return;
	struct weft__words *w = weft__story_clause(s, 6);
	weft__story_words_add(w, " ('");
	weft__story_words_add_text(w, weft_model_string(m, name), 24);
	weft__story_words_add(w, "' for ");
	weft__story_words_add_length(w, ns);
	weft__story_words_add(w, " of it)");
}

/* Appends " (29 ms of it off CPU)", which explains the length. */
static void write_off_cpu(struct weft__sentence *s, uint64_t off_ns)
{
	if (!off_ns)
		return;
	struct weft__words *w = weft__story_clause(s, 7);
	weft__story_words_add(w, " (");
	weft__story_words_add_length(w, off_ns);
	weft__story_words_add(w, " of it off CPU)");
}

/* Appends " (in parse in 24 of 30 samples, mostly in the kernel)". */
static void write_ran(
	struct weft__sentence *s, const struct weft_model *model, const struct stretch *stretch)
{
	struct weft__ran_most most;
	if (!weft__story_ran_most(model, stretch->task, stretch->start, stretch->end, &most))
		return;
	struct weft__words *w = weft__story_clause(s, 7);
	weft__story_words_add(w, " (in ");
	weft__story_words_add_text(w, most.function, 48);
	weft__story_words_add(w, " in %" PRIu32 " of %" PRIu32 " samples%s)", most.count, most.of,
		most.in_kernel > most.count / 2 ? ", mostly in the kernel" : "");
}

static void write_effect(
	struct weft__sentence *s, const struct weft_model *model, const struct stretch *stretch)
{
	struct weft__words *w = weft__story_clause(s, 5);
	if (stretch->is_stall)
		weft__story_words_add(w, "; nothing else can run%s meanwhile",
			model->thread_count > 1 ? " on its thread" : "");
	else if (stretch->waiters >= WAITERS_MIN)
		weft__story_words_add(w, ", while %" PRIu32 " tasks wait for their turn", stretch->waiters);
	else
		weft__story_words_add(w, ", and %" PRIu32 " tasks run at once after it", stretch->backlog);
}

/* True if it waits for a lock, no longer than its holder may have had no processor. What is wrong
 * with the lock is a problem of its own. */
static bool waits_for_lock(const struct looking *l, const struct stretch *s)
{
	return s->blocked_in != WEFT_NONE && l->model->tasks.kind[s->blocked_in] == WEFT_KIND_LOCK &&
		   s->end - s->start <= TAKEN_MAX;
}

/* On a busy machine, the operating system often takes the processor for some ms. */
static enum weft_problem_severity severity_of(const struct looking *l, const struct stretch *s)
{
	uint64_t length = busy_ns(s);
	const bool has_waiters = s->waiters >= WAITERS_MIN;
	const bool has_backlog = s->backlog >= BACKLOG_MIN && length >= GRAVE_NS;
	bool is_grave = length >= l->grave_ns && length >= BUSY_NS && (has_waiters || has_backlog) &&
					!waits_for_lock(l, s);
	return is_grave ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT;
}

static bool is_blocked(const struct stretch *s)
{
	return s->blocked_ns > (s->end - s->start) / 2;
}

/* "task 5 'report' holds its thread for 80 ms, blocked in timer 32 'sleep 79.9 ms'" */
static void write_blocked(
	struct weft__sentence *s, const struct weft_model *model, const struct stretch *stretch)
{
	struct weft__words *w = weft__story_clause(s, WEFT__WORTH_MOST);
	weft__story_words_add(w, " holds its thread for ");
	weft__story_words_add_length(w, stretch->end - stretch->start);
	w = weft__story_clause(s, 9);
	weft__story_words_add(w, ", blocked in ");
	weft__story_words_add_subject(w, model, stretch->blocked_in, 24);
}

static void set_notes(struct weft_problem *problem, const struct stretch *stretch)
{
	struct weft__words words =
		weft__story_problem_note(&problem->cause, problem->start, problem->task);
	weft__story_words_add(&words, "begins to run");
	words = weft__story_problem_note(&problem->effect, problem->end, problem->task);
	weft__story_words_add(&words, "stops after ");
	weft__story_words_add_length(&words, problem->end - problem->start);
	if (stretch->waiters >= WAITERS_MIN)
		weft__story_words_add(&words, ", %" PRIu32 " tasks waited", stretch->waiters);
}

static void add_hog(struct looking *l, const struct stretch *stretch)
{
	const struct weft_model *model = l->model;
	uint64_t length = stretch->end - stretch->start;
	uint64_t off_ns = weft_model_off_cpu_between(
		model, stretch->task, stretch->thread, stretch->start, stretch->end);
	uint32_t count = count_alike(l, stretch);
	struct weft__sentence s;
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_HOG, severity_of(l, stretch),
		count, (struct weft__case){stretch->task, stretch->start, stretch->end});
	problem.thread = stretch->thread;
	set_notes(&problem, stretch);
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 6);
	weft__story_words_add_subject(w, model, stretch->task, is_blocked(stretch) ? 24 : 36);
	if (is_blocked(stretch)) {
		write_blocked(&s, model, stretch);
	} else {
		weft__story_words_add(w, " runs for ");
		weft__story_words_add_length(w, length);
		weft__story_words_add(w, " at a stretch");
		write_off_cpu(&s, stretch->off_ns);
		write_span(&s, model, stretch);
		write_ran(&s, model, stretch);
	}
	w = weft__story_clause(&s, 8);
	weft__story_words_add(w, " from ");
	weft__story_words_add_time(w, model, stretch->start);
	write_effect(&s, model, stretch);
	if (count > 1)
		weft__story_words_add(
			weft__story_clause(&s, 4), "; the longest of %" PRIu32 " such runs", count);
	if (count == 1 && !off_ns && is_unlike_itself(l, stretch))
		weft__story_words_add(weft__story_clause(&s, 4), "; or it was preempted");
	if (l->others) {
		w = weft__story_clause(&s, 2);
		weft__story_words_add(w, "; on average it is ");
		weft__story_words_add_length(w, l->sum_ns / l->others);
	}
	weft__story_find(l->findings, &problem, busy_ns(stretch), &s);
}

static void find_hogs(struct looking *l)
{
	uint32_t named = 0;
	list_stretches(l);
	if (!l->count)
		return;
	qsort(l->list, l->count, sizeof(*l->list), by_end);
	count_waiters(l);
	count_pauses(l);
	qsort(l->list, l->count, sizeof(*l->list), by_length);
	mark_stalls(l);
	for (uint32_t i = 0; i < l->count && named < NAMED_MAX; i++) {
		const struct stretch *s = &l->list[i];
		if (!is_one(l, s) || is_reported(l, s))
			continue;
		add_hog(l, s);
		named++;
	}
}

void weft__find_hogs(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	struct looking *l = malloc(sizeof(*l));
	if (!l) {
		findings->error = WEFT_ERROR_MEMORY;
		return;
	}
	*l = (struct looking){
		.findings = findings,
		.model = model,
		.least_ns = weft__story_least_ns(findings, LONG_SHARE, LONG_NS) + 1,
		.grave_ns = weft__story_least_ns(findings, GRAVE_SHARE, GRAVE_NS) + 1,
	};
	find_hogs(l);
	free(l);
	weft__story_find_stuck(findings);
}
