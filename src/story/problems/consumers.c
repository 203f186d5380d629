/* SPDX-License-Identifier: ISC
 *
 * Queues of a list, a lock and a condition, whose length no event says. A consumer waits for the
 * condition when the queue is empty, and each producer signals it. Where many signals in a row met
 * no waiter (WEFT_TAG_UNHEARD), the queue was not empty all the while.
 *
 * It has grown if it takes the consumers long to empty it after the last signal. A producer that
 * waits for its consumers, as for a reply or for room, is not faster than they are. One that runs
 * most of the time prepares a batch, perhaps, which the consumers may well take longer to handle.
 */
#include "story/problems/consumers.h"

#include <inttypes.h>

#include <weft/ends.h>

#include "base/search.h"
#include "story/problems/findings.h"
#include "story/problems/global_lock.h"
#include "story/problems/ran.h"
#include "story/problems/runner.h"
#include "story/unheard.h"

#define LEAST_SHARE 10               /* signals without a waiter for 1 / share of the trace, … */
#define LEAST_NS    (100 * WEFT__MS) /* … or this long */
#define STEADY      4                /* … also after 1 / STEADY of that time */
#define LEFT        4                /* emptying the queue takes 1 / LEFT of that time or more */
#define CONSUMERS   32
#define SAMPLES     64                  /* of what a consumer does */
#define LOOKED_MAX  4096                /* edges that are examined of one task */
#define LOOKED_ALL  (UINT32_C(1) << 24) /* … and of all tasks of a trace */

struct series {
	uint32_t condition, producer;
	uint32_t consumers[CONSUMERS], count;
	uint64_t since, last_tag;
	uint64_t last, until; /* the last signal, and when the queue is empty, as far as known */
	uint64_t signals;
	bool is_emptied, is_counted;
	bool may_be_batch; /* the producer runs most of the time */
};

struct consumers {
	struct weft__findings *findings;
	const struct weft_model *model;
	uint32_t left; /* number of edges that may still be examined */
};

/* Counts an examined edge. False if there were too many: hostile traces repeat signals and edges.
 */
static bool may_look(struct consumers *c)
{
	return c->left && c->left--;
}

static bool is_wait(unsigned type)
{
	return type == WEFT_EDGE_TRY_READ || type == WEFT_EDGE_READ;
}

static void add_consumer(struct series *it, uint32_t task)
{
	for (uint32_t i = 0; i < it->count; i++)
		if (it->consumers[i] == task)
			return;
	if (it->count < CONSUMERS)
		it->consumers[it->count++] = task;
}

/* Finds who has waited for the condition before the signals, and since when nobody does. */
static bool find_consumers(struct consumers *c, struct series *it, uint64_t first_tag)
{
	const struct weft_edges *e = &c->model->edges;
	const struct weft__edge_list to = weft__story_edges_to(c->findings->story, it->condition);
	const uint32_t until = weft__story_edges_until(c->model, to, first_tag);
	for (uint32_t i = until; i > 0 && until - i < LOOKED_MAX && may_look(c); i--) {
		const uint32_t edge = to.edges[i - 1], task = e->from[edge];
		if (!is_wait(e->type[edge]) || task == WEFT_NONE || task == it->producer ||
			weft__story_is_gone(c->model, task, first_tag))
			continue;
		it->since = it->count ? it->since : e->time[edge];
		add_consumer(it, task);
	}
	return it->count;
}

static bool is_consumer(const struct series *it, uint32_t task)
{
	for (uint32_t i = 0; i < it->count; i++)
		if (it->consumers[i] == task)
			return true;
	return false;
}

/* True if one of the consumers wakes the task, or what it waits for; or if that is not known. */
static bool is_woken_by_them(struct consumers *c, const struct series *it, uint32_t task)
{
	const struct weft_edges *e = &c->model->edges;
	const struct weft__edge_list to = weft__story_edges_to(c->findings->story, task);
	uint32_t looked = 0;
	for (uint32_t i = weft__story_edges_until(c->model, to, it->since);
		 i < to.count && e->time[to.edges[i]] < it->until && looked < LOOKED_MAX; i++, looked++) {
		const unsigned type = e->type[to.edges[i]];
		if (!may_look(c))
			return true;
		if ((weft__story_wakes(type) || type == WEFT_EDGE_RESOLVE) &&
			is_consumer(it, e->from[to.edges[i]]))
			return true;
	}
	return false;
}

/* True if the producer waits for what a consumer does, other than for its end, or for the lock of
 * the queue, which both take. */
static bool waits_for_them(struct consumers *c, const struct series *it)
{
	const struct weft_edges *e = &c->model->edges;
	const struct weft__edge_list by = weft__story_edges_by(c->model, it->producer);
	uint32_t looked = 0;
	if (is_woken_by_them(c, it, it->producer))
		return true;
	for (uint32_t i = weft__story_edges_until(c->model, by, it->since);
		 i < by.count && e->time[by.edges[i]] < it->last_tag && looked < LOOKED_MAX;
		 i++, looked++) {
		const uint32_t edge = by.edges[i], source = e->to[edge];
		if (is_wait(e->type[edge]) && source != WEFT_NONE && !is_consumer(it, source) &&
			c->model->tasks.kind[source] != WEFT_KIND_LOCK && is_woken_by_them(c, it, source))
			return true;
	}
	return false;
}

/* ---- Where the consumers spend their time ---- */

struct use {
	uint32_t label, task, count; /* of samples in which it waits for tasks with that label */
};

/* Adds a sample. WEFT_NONE for a consumer that runs. */
static void add_use(struct use uses[SAMPLES], const struct weft_model *model, uint32_t task)
{
	const uint32_t label = task == WEFT_NONE ? WEFT_NONE : model->tasks.label[task];
	uint32_t i = 0;
	while (i < SAMPLES && uses[i].count &&
		   !(uses[i].label == label && (uses[i].task == WEFT_NONE) == (task == WEFT_NONE)))
		i++;
	if (i == SAMPLES)
		return;
	uses[i] = (struct use){label, task, uses[i].count + 1};
}

static bool runs_at(const struct weft_model *model, uint32_t task, uint64_t time)
{
	const uint32_t runs = weft__story_activations_until(model, task, time);
	return runs && model->activations.end[model->tasks.first_activation[task] + runs - 1] > time;
}

/* Finds the waits or work that take most of the consumers' time. False if none does. */
static bool find_use(const struct consumers *c, const struct series *it, struct use *ret_use)
{
	struct use uses[SAMPLES] = {{0}};
	struct weft_story_wait wait;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		const uint32_t task = it->consumers[i % it->count];
		const uint64_t at = it->since + (it->until - it->since) / SAMPLES * i + 1;
		if (runs_at(c->model, task, at))
			add_use(uses, c->model, WEFT_NONE);
		else if (weft_story_wait_at(c->findings->story, task, at, &wait) &&
				 wait.source != WEFT_NONE)
			add_use(uses, c->model, wait.source);
	}
	*ret_use = uses[0];
	for (uint32_t i = 1; i < SAMPLES; i++)
		*ret_use = uses[i].count > ret_use->count ? uses[i] : *ret_use;
	return ret_use->count > SAMPLES / 2;
}

/* True for what a thread waits for when it has nothing to do. */
static bool is_idle(const struct consumers *c, const struct use *use)
{
	return use->task != WEFT_NONE && (weft__story_is_condition(c->model, use->task) ||
										 c->model->tasks.kind[use->task] == WEFT_KIND_THREAD);
}

/* "; it runs most of the time, in deflate", "; it is mostly in sleep 4 ms" */
static void write_use(struct weft__sentence *s, const struct consumers *c, const struct series *it,
	const struct use *use)
{
	const struct weft_model *model = c->model;
	struct weft__ran_most ran;
	struct weft__words *w = weft__story_clause(s, 8);
	weft__story_words_add(w, it->count == 1 ? "; it " : "; they ");
	if (use->task != WEFT_NONE) {
		weft__story_words_add(w, it->count == 1 ? "mostly waits for " : "mostly wait for ");
		weft__story_words_add_task(w, model, use->task, 28);
		return;
	}
	weft__story_words_add(w, it->count == 1 ? "runs most of the time" : "run most of the time");
	if (!weft__story_ran_most(model, it->consumers[0], it->since, it->until, &ran))
		return;
	w = weft__story_clause(s, 8);
	weft__story_words_add(w, ", in ");
	weft__story_words_add_text(w, ran.function, 28);
}

/* ---- The problem ---- */

/* " with the 799 signals of condition ready" */
static void write_signals(
	struct weft__sentence *s, const struct consumers *c, const struct series *it)
{
	struct weft__words *w = weft__story_clause(s, WEFT__WORTH_MOST);
	weft__story_words_add(w, it->count == 1 ? " does not keep up with " : " do not keep up with ");
	weft__story_words_add(w, it->is_counted ? "" : "more than ");
	weft__story_words_add_number(w, it->signals);
	weft__story_words_add(w, " signals of ");
	weft__story_words_add_task(w, c->model, it->condition, 28);
	w = weft__story_clause(s, 6);
	weft__story_words_add(w, " from ");
	weft__story_words_add_time(w, c->model, it->since);
	weft__story_words_add(w, " on");
}

static void report(const struct consumers *c, const struct series *it, const struct use *use)
{
	const struct weft_model *model = c->model;
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_QUEUE,
		it->is_emptied && !it->may_be_batch ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT,
		(uint32_t)it->signals, (struct weft__case){it->consumers[0], it->since, it->until});
	struct weft__words note = weft__story_problem_note(&problem.cause, it->since, it->consumers[0]);
	weft__story_words_add(&note, "waits for the condition for the last time");
	note = weft__story_problem_note(&problem.effect, it->last_tag, it->condition);
	weft__story_words_add(&note, "signalled again and again, nobody waits");
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, WEFT__WORTH_MOST);
	weft__story_words_add_subject(w, model, it->consumers[0], 24);
	if (it->count > 1)
		weft__story_words_add(w, " and %" PRIu32 " more", it->count - 1);
	write_signals(&s, c, it);
	if (use)
		write_use(&s, c, it, use);
	weft__story_find(c->findings, &problem, it->signals, &s);
}

/* Without a wait after the last signal, the queue was emptied if its consumers end, and the
 * producer may have signalled until its own end. */
static void guess_end(const struct consumers *c, struct series *it)
{
	uint64_t end = 0;
	it->is_emptied = true;
	for (uint32_t i = 0; i < it->count; i++) {
		const uint32_t task = it->consumers[i];
		const uint64_t ended = weft__story_end_of(c->model, task);
		it->is_emptied = it->is_emptied && (c->model->tasks.flags[task] & WEFT_TASK_RESOLVED);
		end = ended > end ? ended : end;
	}
	it->until = end;
	it->last = weft__story_end_of(c->model, it->producer);
	it->last = it->last < end ? it->last : end;
}

/* The notes of the wait that follows the signals. False if there are none. */
static bool read_end(const struct consumers *c, struct series *it, uint32_t note)
{
	const struct weft_notes *n = &c->model->notes;
	const uint32_t first = c->model->tasks.first_note[it->condition];
	struct weft__unheard last;
	if (!weft__story_unheard_by_note(c->model, it->condition, note, &last))
		return false;
	it->is_emptied = true;
	it->until = n->time[note];
	it->last = last.time;
	for (uint32_t i = note; i > first && note - i < 2; i--)
		if (weft__story_is_tag(c->model, i - 1, WEFT_TAG_SIGNALLED_TIMES) && n->value[i - 1] > 0) {
			it->signals = (uint64_t)n->value[i - 1];
			it->is_counted = true;
		}
	return true;
}

/* `note`: of the wait that follows, or the last one of the condition. */
static void look_at_series(
	struct consumers *c, struct series *it, uint64_t first_tag, uint32_t note)
{
	const uint64_t least = weft__story_least_ns(c->findings, LEAST_SHARE, LEAST_NS);
	struct use use;
	if (it->producer == WEFT_NONE || !find_consumers(c, it, first_tag))
		return;
	if (!read_end(c, it, note))
		guess_end(c, it);
	const uint64_t fed = it->last - it->since;
	if (fed < least || it->last_tag - it->since < fed / STEADY || waits_for_them(c, it) ||
		(it->is_emptied && it->until - it->last < fed / LEFT))
		return;
	it->may_be_batch = weft__story_ran_ns(c->model, it->producer, it->since, it->last) > fed / 2;
	const bool has_use = find_use(c, it, &use);
	if (!has_use || !is_idle(c, &use))
		report(c, it, has_use ? &use : NULL);
}

static bool is_unheard(const struct weft_model *model, uint32_t note)
{
	return weft__story_is_tag(model, note, WEFT_TAG_UNHEARD) && model->notes.value[note] > 0;
}

/* A number that is not greater than the one before begins another series. */
static void look_at_condition(struct consumers *c, uint32_t condition)
{
	const struct weft_notes *n = &c->model->notes;
	const struct weft_tasks *t = &c->model->tasks;
	const uint32_t end = t->end_note[condition];
	uint32_t note = t->first_note[condition];
	while (note < end) {
		struct series it = {.condition = condition, .producer = WEFT_NONE};
		uint64_t first_tag = 0;
		for (; note < end && !weft__story_is_tag(c->model, note, WEFT_TAG_SIGNALLED_BEFORE);
			 note++) {
			if (weft__story_is_tag(c->model, note, WEFT_TAG_SIGNALLED_BY))
				it.producer =
					weft_model_find_task(c->model, t->buffer[condition], (uint64_t)n->value[note]);
			if (!is_unheard(c->model, note))
				continue;
			first_tag =
				(uint64_t)n->value[note] > it.signals && it.signals ? first_tag : n->time[note];
			it.signals = (uint64_t)n->value[note];
			it.last_tag = n->time[note];
		}
		if (first_tag)
			look_at_series(c, &it, first_tag, note < end ? note : end - 1);
		note++;
	}
}

void weft__story_find_slow_consumers(struct weft__findings *findings)
{
	struct consumers c = {findings, findings->story->model, LOOKED_ALL};
	for (uint32_t task = 0; task < c.model->tasks.count && !findings->error; task++)
		if (c.model->tasks.kind[task] == WEFT_KIND_CONDITION &&
			!weft__story_is_global_lock(c.model, task))
			look_at_condition(&c, task);
}
