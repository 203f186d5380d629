/* SPDX-License-Identifier: ISC
 *
 * Tasks that poll: they run again and again at short, regular intervals, each time for a small part
 * of the interval, and without effect: they resolve, signal, create and note nothing, apart from
 * the promise of each sleep. A task that has an effect in at most one of 100 runs also polls. A
 * task that hardly pauses, and takes half of the time of a thread on which other tasks run, too,
 * spins.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sort.h"
#include "story/problems/busy.h"
#include "story/problems/findings.h"

#define RUNS_MIN      100
#define INTERVAL_MAX  UINT64_C(12000000) /* ns: less than a frame of a screen at 60 Hz */
#define SHORT_PART    8                  /* the median run is at most 1 / part of the interval */
#define ABOUT         4                  /* quartiles differ by at most 1 / ABOUT of the median */
#define ACTS_PART     100                /* at most one effect in this many runs */
#define SHARE         4                  /* it lasts at least 1 / SHARE of the trace */
#define SPIN_SHARE    2                  /* a spinning task runs for 1 / SPIN_SHARE of the time */
#define SPIN_RUNS     1000
#define SPIN_OTHERS   16                  /* minimum runs of other tasks on its thread meanwhile */
#define BUSY_INTERVAL UINT64_C(20000)     /* ns: a wait that sleeps takes longer */
#define BUSY_NS       UINT64_C(250000000) /* of such intervals: a warning */
#define FOUND_MAX     3
#define SHOWN         16 /* runs that are shown */

struct polling {
	struct weft__findings *findings;
	const struct weft_model *model;
	uint64_t *lengths; /* room for two values for each run of a task: half is scratch to sort */
};

/* True for a task that does nothing itself, as the promise of a sleep. */
static bool may_be_sleep(const struct weft_model *model, uint32_t task)
{
	const struct weft_tasks *t = &model->tasks;
	return t->end_activation[task] == t->first_activation[task] &&
		   t->end_edge[task] == t->first_edge[task];
}

/* True if `child` runs about as often as its creator: that is a loop which drives the child. */
static bool is_run_by(const struct weft_model *model, uint32_t child, uint32_t runs)
{
	const struct weft_tasks *t = &model->tasks;
	uint64_t child_runs = t->end_activation[child] - t->first_activation[child];
	return child_runs * 4 >= (uint64_t)runs * 3 && child_runs * 3 <= (uint64_t)runs * 4;
}

/* The number of a task's effects. A task that sleeps makes a promise each time and reads it; that
 * does not count. */
static uint32_t count_acts(const struct polling *p, uint32_t task)
{
	const struct weft_model *m = p->model;
	const struct weft_edges *e = &m->edges;
	struct weft__edge_list by = weft__story_edges_by(m, task);
	struct weft__edge_list made = weft__story_edges_made(p->findings->story, task);
	uint32_t acts = m->tasks.end_note[task] - m->tasks.first_note[task];
	uint32_t reads = 0, sleeps = 0, runs = m->tasks.end_activation[task];
	runs -= m->tasks.first_activation[task];
	for (uint32_t i = 0; i < by.count; i++)
		if (e->type[by.edges[i]] == WEFT_EDGE_READ)
			reads++;
		else
			acts += e->type[by.edges[i]] != WEFT_EDGE_TRY_READ &&
					e->type[by.edges[i]] != WEFT_EDGE_WAIT_ANY;
	for (uint32_t i = 0; i < made.count; i++) {
		sleeps += may_be_sleep(m, e->to[made.edges[i]]);
		acts += is_run_by(m, e->to[made.edges[i]], runs) ? runs : 0;
	}
	acts += made.count - sleeps;
	return acts + (sleeps > reads ? sleeps - reads : reads - sleeps);
}

/* The median of the lengths, or 0 if the quartiles differ too much. */
static uint64_t regular_length(struct polling *p, uint32_t count)
{
	weft__sort_u64(p->lengths, p->lengths + count, count);
	uint64_t low = p->lengths[count / 4], high = p->lengths[count - 1 - count / 4];
	uint64_t median = p->lengths[count / 2];
	return high - low <= median / ABOUT ? median : 0;
}

static uint64_t find_interval(struct polling *p, uint32_t task)
{
	const struct weft_activations *a = &p->model->activations;
	uint32_t first = p->model->tasks.first_activation[task];
	uint32_t count = p->model->tasks.end_activation[task] - first - 1;
	for (uint32_t i = 0; i < count; i++)
		p->lengths[i] = a->start[first + i + 1] - a->start[first + i];
	return regular_length(p, count);
}

static uint64_t usual_run(struct polling *p, uint32_t task)
{
	const struct weft_activations *a = &p->model->activations;
	uint32_t first = p->model->tasks.first_activation[task];
	uint32_t count = p->model->tasks.end_activation[task] - first;
	for (uint32_t i = 0; i < count; i++)
		p->lengths[i] = a->end[first + i] - a->start[first + i];
	weft__sort_u64(p->lengths, p->lengths + count, count);
	return p->lengths[count / 2];
}

/* A problem of this type, without its sentence. */
static struct weft_problem problem_of(const struct weft_model *model, uint32_t task, uint32_t runs)
{
	const struct weft_activations *a = &model->activations;
	uint32_t first = model->tasks.first_activation[task];
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_POLLING, WEFT_SEVERITY_HINT,
		runs, (struct weft__case){task, a->start[first], a->end[first + runs - 1]});
	problem.show_start = a->start[first];
	problem.show_end = a->end[first + SHOWN];
	problem.thread = a->thread[first];
	struct weft__words words = weft__story_problem_note(&problem.cause, problem.start, task);
	weft__story_words_add(&words, "wakes up, without visible effect");
	words = weft__story_problem_note(&problem.effect, a->start[first + 1], task);
	weft__story_words_add(&words, "again, after ");
	weft__story_words_add_length(&words, a->start[first + 1] - problem.start);
	return problem;
}

static void add_spinning(struct polling *p, uint32_t task, uint32_t runs, uint64_t ran_ns)
{
	struct weft__sentence s;
	struct weft_problem problem = problem_of(p->model, task, runs);
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 6);
	weft__story_words_add_subject(w, p->model, task, 36);
	weft__story_words_add(w, " runs for ");
	weft__story_words_add_real(w, (double)ran_ns * 100 / (double)(problem.end - problem.start), 3);
	weft__story_words_add(w, " %% of the time, in ");
	weft__story_words_add_number(w, runs);
	weft__story_words_add(w, " pieces");
	weft__story_words_add(weft__story_clause(&s, 5), ", without visible effect: it spins");
	weft__story_find(p->findings, &problem, runs, &s);
}

/* True if other tasks run so often on the same thread between the task's first and last run. */
static bool has_others(
	const struct weft_model *model, const uint32_t task, uint32_t runs, uint32_t least)
{
	const struct weft_activations *a = &model->activations;
	const struct weft_tasks *t = &model->tasks;
	uint32_t first = t->first_activation[task], others = 0;
	uint64_t start = a->start[first], end = a->end[first + runs - 1];
	for (uint32_t other = 0; other < t->count && others < least; other++)
		for (uint32_t i = t->first_activation[other]; i < t->end_activation[other]; i++)
			others += other != task && a->thread[i] == a->thread[first] && a->start[i] >= start &&
					  a->end[i] <= end;
	return others >= least;
}

/* True if each wait is over at once, for long, and what the thread does is not seen at other tasks:
 * it does nothing but call the function that waits. */
static bool hardly_waits(
	const struct weft_model *model, uint32_t task, uint32_t runs, uint64_t interval_ns)
{
	return interval_ns <= BUSY_INTERVAL && interval_ns * runs >= BUSY_NS &&
		   !has_others(model, task, runs, runs / ACTS_PART + 1);
}

static void add_polling(
	struct polling *p, uint32_t task, uint32_t runs, uint64_t interval_ns, uint64_t run_ns)
{
	const struct weft_model *model = p->model;
	struct weft__sentence s;
	struct weft_problem problem = problem_of(model, task, runs);
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 6);
	weft__story_words_add_subject(w, model, task, 36);
	weft__story_words_add(w, " wakes up ");
	weft__story_words_add_number(w, runs);
	weft__story_words_add(w, " times, every ");
	weft__story_words_add_length(w, interval_ns);
	w = weft__story_clause(&s, 4);
	weft__story_words_add(w, ", for ");
	weft__story_words_add_length(w, run_ns);
	weft__story_words_add(w, " each");
	const bool is_busy = hardly_waits(model, task, runs, interval_ns);
	if (is_busy)
		problem.severity = WEFT_SEVERITY_WARNING;
	weft__story_words_add(
		weft__story_clause(&s, 5), is_busy ? ", without visible effect: it hardly waits"
										   : ", without visible effect: it polls");
	weft__story_find(p->findings, &problem, runs, &s);
}

static bool spins(const struct polling *p, uint32_t task, uint32_t runs, uint64_t ran_ns)
{
	const struct weft_activations *a = &p->model->activations;
	uint32_t first = p->model->tasks.first_activation[task];
	uint64_t time = a->end[first + runs - 1] - a->start[first];
	if (p->model->tasks.flags[task] & WEFT_TASK_RESOLVED)
		return false; /* it has a result: perhaps it calculates, and yields meanwhile */
	return runs >= SPIN_RUNS && ran_ns >= time / SPIN_SHARE &&
		   has_others(p->model, task, runs, SPIN_OTHERS);
}

static bool look_at_task(struct polling *p, uint32_t task)
{
	const struct weft_model *m = p->model;
	uint32_t first = m->tasks.first_activation[task];
	uint32_t runs = m->tasks.end_activation[task] - first;
	uint64_t trace_ns = m->summary.end - m->summary.start;
	if (runs < RUNS_MIN || count_acts(p, task) > runs / ACTS_PART ||
		m->activations.end[first + runs - 1] - m->activations.start[first] < trace_ns / SHARE)
		return false;
	uint64_t ran_ns = weft_model_running_ns(m, task);
	if (spins(p, task, runs, ran_ns)) {
		add_spinning(p, task, runs, ran_ns);
		return true;
	}
	uint64_t interval_ns = find_interval(p, task);
	if (!interval_ns || interval_ns > INTERVAL_MAX)
		return false;
	uint64_t run_ns = usual_run(p, task);
	if (run_ns > interval_ns / SHORT_PART)
		return false;
	add_polling(p, task, runs, interval_ns, run_ns);
	return true;
}

static uint32_t most_runs(const struct weft_model *model)
{
	const struct weft_tasks *t = &model->tasks;
	uint32_t most = 0;
	for (uint32_t task = 0; task < t->count; task++)
		if (t->end_activation[task] - t->first_activation[task] > most)
			most = t->end_activation[task] - t->first_activation[task];
	return most;
}

void weft__find_polling(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	uint32_t most = most_runs(model), found = 0;
	weft__story_find_busy_loops(findings);
	if (most < RUNS_MIN)
		return;
	struct polling p = {findings, model, malloc(2 * (size_t)most * sizeof(*p.lengths))};
	if (!p.lengths) {
		findings->error = WEFT_ERROR_MEMORY;
		return;
	}
	for (uint32_t task = 0; task < model->tasks.count && found < FOUND_MAX; task++)
		found += look_at_task(&p, task);
	free(p.lengths);
}
