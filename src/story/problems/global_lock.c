/* SPDX-License-Identifier: ISC
 *
 * One thread of Python runs at a time: the one that has the global lock. The others wait for a
 * condition of _PyRuntime, for 5 ms at a time, after each of which they ask for the lock again. Who
 * runs meanwhile has it. Two cases are reported:
 *   - A thread waits on and on, because another one is in a function of C that keeps the lock.
 *   - A thread that has little to do waits for a good part of its life, because others compute.
 * Threads that all compute share the lock; that takes longer, and is no fault.
 */
#include <string.h>

#include "story/problems/global_lock.h"
#include "story/problems/runner.h"
#include "story/runs.h"

#define CONDITION  "condition _PyRuntime"
#define PAUSE_NS   100000 /* a thread that was woken, and waits again so soon, had no turn; … */
#define LATE_NS    (5 * WEFT__MS)   /* … nor one whose time was up, although it ran late */
#define KEPT_NS    (500 * WEFT__MS) /* one wait */
#define WAITED_NS  (250 * WEFT__MS) /* all waits … */
#define WAITED_MIN 16               /* … so many, … */
#define LIFE_PART  4                /* … for 1 / part of the thread's life, … */
#define IDLE_TIMES 4                /* … and so many times as long as it runs */

/* The waits of one thread. */
struct hunger {
	uint32_t task, waits;
	uint64_t ns, since, until;       /* all of them */
	uint64_t longest, longest_since; /* one of them */
	bool is_woken;                   /* the last one ended by a signal */
};

bool weft__story_is_global_lock(const struct weft_model *model, uint32_t task)
{
	if (task == WEFT_NONE || model->tasks.kind[task] != WEFT_KIND_CONDITION ||
		model->tasks.label[task] == WEFT_NONE)
		return false;
	const struct weft_slice label = weft_model_string(model, model->tasks.label[task]);
	return label.size == sizeof(CONDITION) - 1 && memcmp(label.bytes, CONDITION, label.size) == 0;
}

/* Stores when a wait began and ended, of which the edge is the read, or the try_read, if it was not
 * read. False: it does not end. */
static bool wait_of(
	const struct weft_story *story, uint32_t edge, uint64_t *ret_since, uint64_t *ret_until)
{
	const struct weft_model *m = story->model;
	const uint32_t task = m->edges.from[edge], first = m->tasks.first_activation[task];
	struct weft__runs runs;
	*ret_since = m->edges.time[edge];
	if (m->edges.type[edge] == WEFT_EDGE_TRY_READ) {
		weft__story_runs_at(story, task, *ret_since, &runs);
		*ret_until = runs.next;
		return runs.next != UINT64_MAX;
	}
	const uint32_t ran = weft__story_activations_until(m, task, *ret_since);
	if (ran < 2)
		return false;
	*ret_since = m->activations.end[first + ran - 2];
	*ret_until = m->activations.start[first + ran - 1];
	return true;
}

static void add_wait(struct hunger *h, uint64_t *since, uint64_t begin, uint64_t end)
{
	if (!h->waits || begin > h->until + (h->is_woken ? PAUSE_NS : LATE_NS)) {
		*since = begin;
		h->since = h->waits++ ? h->since : begin;
	}
	h->ns += end - begin;
	h->until = end;
	if (end - *since > h->longest) {
		h->longest = end - *since;
		h->longest_since = *since;
	}
}

static struct hunger hunger_of(const struct weft_story *story, uint32_t task)
{
	const struct weft_edges *e = &story->model->edges;
	const struct weft__edge_list by = weft__story_edges_by(story->model, task);
	struct hunger h = {.task = task};
	uint64_t since = 0, begin, end;
	for (uint32_t i = 0; i < by.count; i++) {
		const uint32_t edge = by.edges[i];
		const bool is_wait = e->type[edge] == WEFT_EDGE_TRY_READ || e->type[edge] == WEFT_EDGE_READ;
		if (is_wait && weft__story_is_global_lock(story->model, e->to[edge]) &&
			wait_of(story, edge, &begin, &end)) {
			add_wait(&h, &since, begin, end);
			h.is_woken = e->type[edge] == WEFT_EDGE_READ;
		}
	}
	return h;
}

static void report(struct weft__findings *findings, const struct hunger *h, bool is_kept)
{
	const struct weft_model *model = findings->story->model;
	const uint64_t since = is_kept ? h->longest_since : h->since;
	const uint64_t until = is_kept ? h->longest_since + h->longest : h->until;
	uint64_t ran;
	const uint32_t runner = weft__story_find_runner(findings, h->task, since, until, false, &ran);
	if (runner == WEFT_NONE || ran < (is_kept ? h->longest / 2 : h->ns / LIFE_PART))
		return;
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_CONTENTION,
		WEFT_SEVERITY_WARNING, 1, (struct weft__case){runner, since, until});
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 6);
	weft__story_words_add_subject(w, model, runner, 28);
	weft__story_words_add(w, is_kept ? " keeps Python's global lock for " : " runs for ");
	weft__story_words_add_length(w, is_kept ? h->longest : ran);
	w = weft__story_clause(&s, 4);
	weft__story_words_add(w, " from ");
	weft__story_words_add_time(w, model, since);
	w = weft__story_clause(&s, 6);
	weft__story_words_add(w, ", while ");
	weft__story_words_add_task(w, model, h->task, 28);
	weft__story_words_add(w, is_kept ? " waits for it" : " waits for Python's global lock for ");
	if (!is_kept)
		weft__story_words_add_length(w, h->ns);
	weft__story_find(findings, &problem, is_kept ? h->longest : h->ns, &s);
}

static bool starves(const struct weft_model *model, const struct hunger *h)
{
	const struct weft_tasks *t = &model->tasks;
	const uint64_t start = t->start[h->task], end = weft__story_end_of(model, h->task);
	return h->ns >= WAITED_NS && h->waits >= WAITED_MIN && h->ns >= (end - start) / LIFE_PART &&
		   h->ns / IDLE_TIMES >= weft__story_ran_ns(model, h->task, start, end);
}

void weft__story_find_global_lock(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	struct hunger kept = {0}, starved = {0};
	bool has_lock = false;
	for (uint32_t task = 0; task < model->tasks.count && !has_lock; task++)
		has_lock = weft__story_is_global_lock(model, task);
	for (uint32_t task = 0; task < model->tasks.count && has_lock; task++) {
		if (model->tasks.kind[task] != WEFT_KIND_THREAD)
			continue;
		const struct hunger h = hunger_of(findings->story, task);
		if (h.longest >= KEPT_NS && h.longest > kept.longest)
			kept = h;
		if (starves(model, &h) && h.ns > starved.ns)
			starved = h;
	}
	if (kept.longest)
		report(findings, &kept, true);
	if (starved.ns && starved.task != kept.task)
		report(findings, &starved, false);
}
