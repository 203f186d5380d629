/* SPDX-License-Identifier: ISC
 *
 * Tasks that queue for one resource, or wait for one that a task holds for far longer than usual. A
 * task that takes a resource (or reads a semaphore) holds it until it gives it back (signals it),
 * or ends; or, if it never gives it back, until the trace's end. A task that runs again with that
 * read had waited since it last ran. So had a task that runs and, before any other action, reads
 * what another held when it stopped running.
 *
 * If the holder is in a deadlock, that is the problem, and nothing is said here.
 *
 * A task starves if, while it waits, tasks that came later get the semaphore again and again.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "story/holders.h"
#include "story/problems/blocked.h"
#include "story/problems/findings.h"
#include "story/problems/unreleased.h"

#define QUEUE_MIN    8  /* tasks that wait at once */
#define HOLDS_MIN    8  /* holds needed to know what is usual */
#define FAR_LONGER   8  /* times as long as usual */
#define LEAST_SHARE  50 /* 1 / share of a trace: a hold or wait that long is reported, … */
#define LEAST_NS     (10 * WEFT__MS) /* … and in a long trace one of that length */
#define PASSED_MIN   8               /* times that later tasks get it first */
#define SCARCE_MIN   32              /* holds of a resource that is scarce all the time; … */
#define SCARCE_MEAN  2               /* tasks that wait for it on average, … */
#define SCARCE_SHARE 10              /* for 1 / share of the trace, or ten times LEAST_NS */

struct hold {
	uint64_t since, start, end; /* when its task began to wait for it */
	uint32_t task;
	bool is_left; /* the task ended without giving it back */
};

#define HAND_OVER_NS 100000 /* a waiting thread has a mutex that soon after it was given back */
#define QUEUE_MAX    256    /* holds that are examined for the wait of one thread */

/* Holds before the last one that may still go on, of a resource with several holders. */
#define OPEN_MAX 256

/* The waits and holds of one resource. */
struct contention {
	struct weft__findings *findings;
	const struct weft_model *model;
	uint64_t *starts, *ends; /* of waits; with room for twice as many */
	struct hold *holds;
	uint64_t *lengths; /* of holds; with room for twice as many */
	uint32_t waits, hold_count;
	bool is_shared;  /* it may have several holders at once */
	uint32_t nested; /* how often the holder of a lock has taken it again */
	struct weft__blocked blocked;
	bool has_blocked; /* `blocked` was made, when it was first needed */
};

static uint64_t end_of(const struct weft_model *model, uint32_t task)
{
	bool ends = model->tasks.flags[task] & WEFT_TASK_RESOLVED;
	return ends ? model->tasks.end[task] : model->summary.end;
}

static bool has_begun(const void *holds, uint32_t row, uint64_t time)
{
	return ((const struct hold *)holds)[row].start <= time;
}

/* True if another task held it at that time. */
static bool was_held(const struct contention *c, uint32_t task, uint64_t time)
{
	uint32_t low = weft__search(c->holds, 0, c->hold_count, has_begun, time);
	return low && c->holds[low - 1].end > time && c->holds[low - 1].task != task;
}

/* The time of the task's last act before `time`, but not before `from`. */
static uint64_t last_act(
	const struct weft_model *model, uint32_t task, uint64_t from, uint64_t time)
{
	struct weft__edge_list by = weft__edges_by(model, task);
	uint32_t before = time ? weft__edges_until(model, by, time - 1) : 0;
	uint64_t acted = before ? model->edges.time[by.edges[before - 1]] : 0;
	return acted > from ? acted : from;
}

/* When a task began to wait that runs all the while, like a thread that waits for a mutex: it takes
 * the resource as soon as others give it back, so it has waited for as long as these handed it over
 * to each other without a break, but not since before its own last act. */
static uint64_t queued_since(
	const struct contention *c, uint32_t task, uint64_t time, uint64_t acted)
{
	uint64_t since = time;
	uint32_t least = c->hold_count > QUEUE_MAX ? c->hold_count - QUEUE_MAX : 0;
	for (uint32_t i = c->hold_count; i > least && since > acted && !c->is_shared; i--) {
		const struct hold *before = &c->holds[i - 1];
		if (before->task == task || before->end + HAND_OVER_NS < since)
			break;
		since = before->start;
	}
	return since > acted ? since : acted;
}

/* When the task began to wait: when it stopped running before a read that made it run, or that is
 * its first action; otherwise when it could have had the resource. */
static uint64_t waits_since(const struct contention *c, uint32_t task, uint64_t time)
{
	const struct weft_activations *a = &c->model->activations;
	uint32_t first = c->model->tasks.first_activation[task];
	uint32_t runs = weft__activations_until(c->model, task, time);
	if (!runs)
		return time;
	uint64_t ran = runs > 1 ? a->end[first + runs - 2] : c->model->tasks.start[task];
	uint64_t runs_since = a->start[first + runs - 1];
	if (runs_since == time)
		return ran;
	uint64_t acted = last_act(c->model, task, runs_since, time);
	return acted == runs_since && was_held(c, task, ran) ? ran : queued_since(c, task, time, acted);
}

static void add_wait(struct contention *c, uint64_t start, uint64_t end)
{
	if (end <= start)
		return;
	c->starts[c->waits] = start;
	c->ends[c->waits++] = end;
}

/* Ends the last hold of the task, or with WEFT_NONE of any, if it was not over. */
static void end_hold(struct contention *c, uint32_t task, uint64_t time)
{
	uint32_t looked = c->is_shared ? OPEN_MAX : 1;
	for (uint32_t i = c->hold_count; i > 0 && looked > 0; i--, looked--) {
		struct hold *hold = &c->holds[i - 1];
		if (hold->end <= time || (task != WEFT_NONE && hold->task != task))
			continue;
		hold->end = time;
		return;
	}
}

/* True if the holder of a lock takes it again. */
static bool is_nested(const struct contention *c, uint32_t resource, uint32_t task, uint64_t time)
{
	const struct hold *last = c->hold_count ? &c->holds[c->hold_count - 1] : NULL;
	return c->model->tasks.kind[resource] == WEFT_KIND_LOCK && last && last->task == task &&
		   last->end > time;
}

static void release(struct contention *c, uint32_t task, uint64_t time)
{
	if (c->nested && c->holds[c->hold_count - 1].task == task)
		c->nested--;
	else
		end_hold(c, task, time);
}

static void take(struct contention *c, uint32_t resource, uint32_t task, uint64_t time)
{
	if (is_nested(c, resource, task, time)) {
		c->nested++;
		return;
	}
	c->nested = 0;
	if (!c->is_shared)
		end_hold(c, WEFT_NONE, time);
	uint64_t since = waits_since(c, task, time);
	add_wait(c, since, time);
	c->holds[c->hold_count++] = (struct hold){since, time, end_of(c->model, task), task, false};
}

static void read_edges(struct contention *c, uint32_t resource)
{
	const struct weft_edges *e = &c->model->edges;
	const unsigned kind = c->model->tasks.kind[resource];
	struct weft__edge_list to = weft__edges_to(c->findings->story, resource);
	c->waits = c->hold_count = c->nested = 0;
	c->is_shared = kind == WEFT_KIND_POOL || kind == WEFT_KIND_QUEUE;
	for (uint32_t i = 0; i < to.count; i++) {
		uint32_t edge = to.edges[i], task = e->from[edge];
		uint64_t time = e->time[edge];
		if (e->type[edge] == WEFT_EDGE_SIGNAL) {
			release(c, task, time);
		} else if (e->type[edge] == WEFT_EDGE_READ && task != WEFT_NONE) {
			take(c, resource, task, time);
		} else if (e->type[edge] == WEFT_EDGE_TRY_READ && task != WEFT_NONE) {
			add_wait(c, time, end_of(c->model, task));
		}
	}
}

/* Lets the holds last that were never given back. */
static void extend_left_holds(struct contention *c, uint32_t resource)
{
	struct weft__holders left;
	int error = weft__left_holds(c->findings->story, resource, &left);
	if (error)
		c->findings->error = error;
	for (uint32_t k = 0; k < left.count; k++) {
		const struct weft__hold *hold = &left.list[k];
		uint32_t i = weft__search(c->holds, 0, c->hold_count, has_begun, hold->since);
		for (; i > 0 && c->holds[i - 1].start == hold->since; i--)
			if (c->holds[i - 1].task == hold->task) {
				c->holds[i - 1].end = c->model->summary.end;
				c->holds[i - 1].is_left = true;
			}
	}
	weft__holders_finish(&left);
}

/* The maximum number of simultaneous waits, and its time. */
static uint32_t find_longest_queue(struct contention *c, uint64_t *ret_time)
{
	uint32_t most = 0, queue = 0;
	weft__sort_u64(c->starts, c->starts + c->waits, c->waits);
	weft__sort_u64(c->ends, c->ends + c->waits, c->waits);
	for (uint32_t i = 0, ended = 0; i < c->waits; i++) {
		while (c->ends[ended] <= c->starts[i]) {
			ended++;
			queue--;
		}
		if (++queue > most) {
			most = queue;
			*ret_time = c->starts[i];
		}
	}
	return most;
}

static const struct hold *longest_hold(const struct contention *c)
{
	const struct hold *longest = &c->holds[0];
	for (uint32_t i = 1; i < c->hold_count; i++)
		if (c->holds[i].end - c->holds[i].start > longest->end - longest->start)
			longest = &c->holds[i];
	return longest;
}

static uint64_t usual_hold(struct contention *c, uint64_t *ret_sum)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < c->hold_count; i++)
		sum += c->lengths[i] = c->holds[i].end - c->holds[i].start;
	weft__sort_u64(c->lengths, c->lengths + c->hold_count, c->hold_count);
	*ret_sum = sum;
	return c->lengths[(c->hold_count - 1) / 2];
}

/* Appends the task that held it for far longer than usual. */
static void write_holder(struct weft__sentence *s, const struct contention *c, uint32_t semaphore,
	const struct hold *hold, uint64_t usual_ns)
{
	struct weft__words *w = weft__clause(s, 6);
	weft__words_add_subject(w, c->model, hold->task, 28);
	weft__words_add(w, " holds ");
	weft__words_add_task(w, c->model, semaphore, 24);
	weft__words_add(w, " for ");
	weft__words_add_length(w, hold->end - hold->start);
	w = weft__clause(s, 6);
	weft__words_add(w, " from ");
	weft__words_add_time(w, c->model, hold->start);
	if (hold->is_left)
		weft__words_add(weft__clause(s, 5), " and never releases it");
	w = weft__clause(s, 4);
	weft__words_add(w, ", most for ");
	weft__words_add_length(w, usual_ns);
}

/* The number of waits that overlap a hold; starts and ends are sorted. */
static uint32_t count_waits_in(const struct contention *c, const struct hold *hold)
{
	size_t begun = weft__lower_bound_u64(c->starts, c->waits, hold->end);
	size_t over = weft__lower_bound_u64(c->ends, c->waits, hold->start + 1);
	return begun > over ? (uint32_t)(begun - over) : 0;
}

/* Writes "lock A is held 80 % of the time; up to 9 tasks wait for it at once, most at 3 ms; longest
 * held by worker 5, for 30 ms". */
static void write_queue(struct weft__sentence *s, const struct contention *c, uint32_t semaphore,
	double share, uint32_t queue, uint64_t time)
{
	struct weft__words *w = weft__clause(s, 6);
	const struct hold *longest = longest_hold(c);
	weft__words_add_subject(w, c->model, semaphore, 32);
	if (!c->is_shared) {
		weft__words_add(w, " is held ");
		weft__words_add_real(w, share * 100, 3);
		weft__words_add(w, " %% of the time");
	}
	weft__words_add(weft__clause(s, 5), "%s up to %" PRIu32 " tasks wait for it at once",
		c->is_shared ? ":" : ";", queue);
	w = weft__clause(s, 4);
	weft__words_add(w, ", most at ");
	weft__words_add_time(w, c->model, time);
	w = weft__clause(s, 5);
	weft__words_add(w, "; longest held by ");
	weft__words_add_task(w, c->model, longest->task, 24);
	weft__words_add(w, longest->is_left ? ", never released since " : ", for ");
	if (longest->is_left)
		weft__words_add_time(w, c->model, longest->start);
	else
		weft__words_add_length(w, longest->end - longest->start);
}

/* The middle one of the times for which tasks waited before they held it; `ret_sum`: of all. */
static uint64_t usual_wait(struct contention *c, uint64_t *ret_sum)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < c->hold_count; i++)
		sum += c->lengths[i] = c->holds[i].start - c->holds[i].since;
	weft__sort_u64(c->lengths, c->lengths + c->hold_count, c->hold_count);
	*ret_sum = sum;
	return c->lengths[(c->hold_count - 1) / 2];
}

/* Reports a resource that is too scarce all the time, as a pool with few connections: tasks wait
 * for it longer than they hold it, and on average several wait. */
static void look_at_scarcity(
	struct contention *c, uint32_t resource, uint32_t queue, uint64_t usual_ns)
{
	uint64_t sum, wait_ns = usual_wait(c, &sum), start = c->holds[0].since;
	uint64_t end = c->holds[c->hold_count - 1].start, length = end > start ? end - start : 0;
	if (c->hold_count < SCARCE_MIN || wait_ns <= usual_ns || sum / SCARCE_MEAN < length ||
		length < weft__least_ns(c->findings, SCARCE_SHARE, LEAST_NS * 10))
		return;
	struct weft__sentence s;
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_CONTENTION,
		.severity = WEFT_SEVERITY_WARNING,
		.count = queue,
		.start = start,
		.end = end,
		.task = resource,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
		.edge = WEFT_NONE,
	};
	weft__sentence_init(&s);
	struct weft__words *w = weft__clause(&s, 6);
	weft__words_add_subject(w, c->model, resource, 32);
	weft__words_add(w, ": most tasks wait ");
	weft__words_add_length(w, wait_ns);
	weft__words_add(w, " to hold it for ");
	weft__words_add_length(w, usual_ns);
	weft__words_add(weft__clause(&s, 5), "; %u wait on average, %" PRIu32 " at most",
		(unsigned)(sum / length), queue);
	weft__find(c->findings, &problem, queue, &s);
}

static void set_notes(struct weft_problem *problem, const char *cause, const char *effect)
{
	struct weft__words words = weft__problem_note(&problem->cause, problem->start, problem->task);
	weft__words_add(&words, "%s", cause);
	words = weft__problem_note(&problem->effect, problem->end, problem->task);
	weft__words_add(&words, "%s", effect);
}

static bool is_in_circle(const struct weft__blocked *b, uint32_t task)
{
	uint32_t step = task;
	for (uint32_t steps = 0; steps <= b->model->tasks.count; steps++) {
		if (b->next[step] == WEFT_NONE || weft__blocked_any(b, step))
			return false;
		step = b->next[step];
		if (step == task)
			return true;
	}
	return false;
}

/* True if the hold lasts until the trace's end because its task is in a deadlock. */
static bool is_deadlocked(struct contention *c, const struct hold *hold)
{
	if (hold->is_left || hold->end < c->model->summary.end)
		return false;
	if (!c->has_blocked) {
		int error = weft__blocked_init(&c->blocked, c->findings->story);
		c->has_blocked = true;
		if (error)
			c->findings->error = error;
	}
	return !c->findings->error && is_in_circle(&c->blocked, c->blocked.final[hold->task]);
}

static void look_at_holds(struct contention *c, uint32_t semaphore, uint32_t queue, uint64_t time)
{
	const struct hold *longest = longest_hold(c);
	uint64_t sum = 0, usual_ns = usual_hold(c, &sum), length = longest->end - longest->start;
	uint64_t least = weft__least_ns(c->findings, LEAST_SHARE, LEAST_NS);
	uint32_t waits = count_waits_in(c, longest);
	bool is_far = length / FAR_LONGER >= usual_ns && waits;
	if (c->is_shared && longest->is_left && queue >= QUEUE_MIN)
		is_far = false; /* others hold it, too: the queue says more */
	if (is_far && is_deadlocked(c, longest))
		return;
	if (queue < QUEUE_MIN && (!is_far || length < least)) {
		look_at_scarcity(c, semaphore, queue, usual_ns);
		return;
	}
	if (is_far)
		queue = waits;
	struct weft__sentence s;
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_CONTENTION,
		.severity = WEFT_SEVERITY_WARNING,
		.count = queue,
		.start = is_far ? longest->start : c->holds[0].start,
		.end = is_far ? longest->end : c->holds[c->hold_count - 1].end,
		.task = is_far ? longest->task : semaphore,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
		.edge = WEFT_NONE,
	};
	weft__sentence_init(&s);
	if (is_far) {
		set_notes(
			&problem, "takes it", longest->is_left ? "is still not given back" : "gives it back");
		write_holder(&s, c, semaphore, longest, usual_ns);
		weft__words_add(weft__clause(&s, 5), "; %" PRIu32 " %s for it meanwhile", queue,
			queue == 1 ? "task waits" : "tasks wait");
	} else {
		double share = (double)sum / (double)(problem.end - problem.start + 1);
		write_queue(&s, c, semaphore, share, queue, time);
	}
	weft__find(c->findings, &problem, queue, &s);
}

/* The hold with the longest wait before it. */
static uint32_t longest_wait(const struct contention *c)
{
	uint32_t found = 0;
	for (uint32_t i = 1; i < c->hold_count; i++)
		if (c->holds[i].start - c->holds[i].since > c->holds[found].start - c->holds[found].since)
			found = i;
	return found;
}

/* The number of holds by tasks that came later than the owner of hold `at`; `ret_other`: the task
 * with most of them. */
static uint32_t count_passed(const struct contention *c, uint32_t at, uint32_t *ret_other)
{
	const struct hold *waited = &c->holds[at];
	uint32_t passed = 0, same = 0;
	*ret_other = WEFT_NONE;
	for (uint32_t i = at; i > 0 && c->holds[i - 1].start > waited->since; i--) {
		const struct hold *hold = &c->holds[i - 1];
		if (hold->since < waited->since || hold->task == waited->task)
			continue;
		if (!passed++)
			*ret_other = hold->task;
		same += hold->task == *ret_other;
	}
	if (same < passed - passed / 4)
		*ret_other = WEFT_NONE;
	return passed;
}

static void write_passed(
	struct weft__sentence *s, const struct weft_model *model, uint32_t passed, uint32_t other)
{
	struct weft__words *w = weft__clause(s, 5);
	weft__words_add(w, ", while ");
	if (other == WEFT_NONE)
		weft__words_add(w, "others");
	else
		weft__words_add_task(w, model, other, 24);
	weft__words_add(w, " had it %" PRIu32 " times", passed);
	weft__words_add(weft__clause(s, 4), " and came later");
}

static void look_for_starvation(struct contention *c, uint32_t semaphore)
{
	const struct weft_model *model = c->model;
	uint32_t at = longest_wait(c), other;
	const struct hold *waited = &c->holds[at];
	uint64_t length = waited->start - waited->since;
	uint32_t passed = count_passed(c, at, &other);
	if (passed < PASSED_MIN || length < weft__least_ns(c->findings, LEAST_SHARE, LEAST_NS))
		return;
	struct weft__sentence s;
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_STARVATION,
		.severity = WEFT_SEVERITY_WARNING,
		.count = passed,
		.start = waited->since,
		.end = waited->start,
		.task = waited->task,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
		.edge = WEFT_NONE,
	};
	set_notes(&problem, "begins to wait", "gets it");
	weft__sentence_init(&s);
	struct weft__words *w = weft__clause(&s, 6);
	weft__words_add_subject(w, model, waited->task, 32);
	weft__words_add(w, " waits ");
	weft__words_add_length(w, length);
	weft__words_add(w, " for ");
	weft__words_add_task(w, model, semaphore, 24);
	w = weft__clause(&s, 6);
	weft__words_add(w, " from ");
	weft__words_add_time(w, model, waited->since);
	write_passed(&s, model, passed, other);
	weft__find(c->findings, &problem, passed, &s);
}

static void look_at(struct contention *c, uint32_t task)
{
	uint64_t time = 0;
	read_edges(c, task);
	extend_left_holds(c, task);
	uint32_t queue = find_longest_queue(c, &time);
	if (c->hold_count < HOLDS_MIN)
		return;
	look_for_starvation(c, task);
	if (queue)
		look_at_holds(c, task, queue, time);
}

static bool may_be_one(const struct weft__findings *findings, uint32_t task)
{
	return weft__is_resource(findings->story->model->tasks.kind[task]) &&
		   weft__edges_to(findings->story, task).count >= QUEUE_MIN;
}

void weft__find_contention(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	size_t most = 0;
	for (uint32_t task = 0; task < model->tasks.count; task++) {
		size_t edges = weft__edges_to(findings->story, task).count;
		if (may_be_one(findings, task) && edges > most)
			most = edges;
	}
	if (!most)
		return;
	struct contention c = {
		.findings = findings,
		.model = model,
		.starts = malloc(2 * most * sizeof(*c.starts)),
		.ends = malloc(2 * most * sizeof(*c.ends)),
		.holds = malloc(most * sizeof(*c.holds)),
		.lengths = malloc(2 * most * sizeof(*c.lengths)),
	};
	if (!c.starts || !c.ends || !c.holds || !c.lengths)
		findings->error = WEFT_ERROR_MEMORY;
	else
		for (uint32_t task = 0; task < model->tasks.count; task++)
			if (may_be_one(findings, task))
				look_at(&c, task);
	if (c.has_blocked)
		weft__blocked_finish(&c.blocked);
	free(c.starts);
	free(c.ends);
	free(c.holds);
	free(c.lengths);
}
