/* SPDX-License-Identifier: ISC
 *
 * Tasks that queue for one resource, or wait for one that a task holds for far longer than usual;
 * and resources that are too scarce all the time.
 *
 * If the holder is in a deadlock, that is the problem, and nothing is said here.
 */
#include <inttypes.h>

#include "base/search.h"
#include "base/sort.h"
#include "story/holders.h"
#include "story/problems/blocked.h"
#include "story/blocking.h"
#include "story/problems/displaced.h"
#include "story/problems/findings.h"
#include "story/problems/global_lock.h"
#include "story/problems/holds.h"
#include "story/problems/kept.h"
#include "story/problems/starvation.h"

#define EDGES_MIN    2  /* a lock that is taken, and waited for */
#define QUEUE_MIN    8  /* tasks that wait at once */
#define HOLDS_MIN    8  /* holds needed to know what is usual */
#define FAR_LONGER   8  /* times as long as usual */
#define LEAST_SHARE  50 /* 1 / share of a trace: a hold or wait that long is reported, … */
#define LEAST_NS     (10 * WEFT__MS)  /* … and in a long trace one of that length */
#define TAKEN_MAX    (250 * WEFT__MS) /* the operating system preempts for no longer */
#define RARE_PART    16               /* 1 / part of the holds: these are exceptions */
#define SCARCE_MIN   32               /* holds of a resource that is scarce all the time; … */
#define SCARCE_MEAN  2                /* tasks that wait for it on average, … */
#define SCARCE_SHARE 10               /* for 1 / share of the trace, or ten times LEAST_NS */

struct contention {
	struct weft__findings *findings;
	const struct weft_model *model;
	struct weft__resource_holds holds;
	struct weft__blocked blocked;
	bool has_blocked; /* `blocked` was made, when it was first needed */
};

static const struct weft__timed_hold *longest_hold(const struct contention *c)
{
	const struct weft__timed_hold *longest = &c->holds.list[0];
	for (uint32_t i = 1; i < c->holds.count; i++)
		if (c->holds.list[i].end - c->holds.list[i].start > longest->end - longest->start)
			longest = &c->holds.list[i];
	return longest;
}

static uint64_t usual_hold(struct contention *c, uint64_t *ret_sum)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < c->holds.count; i++)
		sum += c->holds.lengths[i] = c->holds.list[i].end - c->holds.list[i].start;
	weft__sort_u64(c->holds.lengths, c->holds.lengths + c->holds.count, c->holds.count);
	*ret_sum = sum;
	return c->holds.lengths[(c->holds.count - 1) / 2];
}

/* Appends the task that held it for far longer than usual. */
static void write_holder(struct weft__sentence *s, const struct contention *c, uint32_t semaphore,
	const struct weft__timed_hold *hold, uint64_t usual_ns)
{
	struct weft__words *w = weft__story_clause(s, 6);
	weft__story_words_add_subject(w, c->model, hold->task, 28);
	weft__story_words_add(w, " holds ");
	weft__story_words_add_task(w, c->model, semaphore, 24);
	weft__story_words_add(w, " for ");
	weft__story_words_add_length(w, hold->end - hold->start);
	w = weft__story_clause(s, 6);
	weft__story_words_add(w, " from ");
	weft__story_words_add_time(w, c->model, hold->start);
	if (hold->is_left)
		weft__story_words_add(weft__story_clause(s, 5), " and never releases it");
	w = weft__story_clause(s, 4);
	weft__story_words_add(w, ", most for ");
	weft__story_words_add_length(w, usual_ns);
}

/* The number of tasks that wait during a hold. Uses `lengths`. */
static uint32_t count_waiters_in(struct contention *c, const struct weft__timed_hold *hold)
{
	uint64_t *tasks = c->holds.lengths;
	uint32_t count = 0, different = 0;
	for (uint32_t i = 0; i < c->holds.waits; i++) {
		const struct weft__timed_wait *wait = &c->holds.wait_list[i];
		if (wait->start < hold->end && wait->end > hold->start)
			tasks[count++] = wait->task;
	}
	weft__sort_u64(tasks, tasks + count, count);
	for (uint32_t i = 0; i < count; i++)
		different += i == 0 || tasks[i] != tasks[i - 1];
	return different;
}

/* Writes "lock A is held 80 % of the time; up to 9 tasks wait for it at once, most at 3 ms; longest
 * held by worker 5, for 30 ms". */
static void write_queue(struct weft__sentence *s, const struct contention *c, uint32_t semaphore,
	double share, uint32_t queue, uint64_t time)
{
	struct weft__words *w = weft__story_clause(s, 6);
	const struct weft__timed_hold *longest = longest_hold(c);
	weft__story_words_add_subject(w, c->model, semaphore, 32);
	if (!c->holds.is_shared) {
		weft__story_words_add(w, " is held ");
		weft__story_words_add_real(w, share * 100, 3);
		weft__story_words_add(w, " %% of the time");
	}
	weft__story_words_add(weft__story_clause(s, 5),
		"%s up to %" PRIu32 " tasks wait for it at once", c->holds.is_shared ? ":" : ";", queue);
	w = weft__story_clause(s, 4);
	weft__story_words_add(w, ", most at ");
	weft__story_words_add_time(w, c->model, time);
	w = weft__story_clause(s, 5);
	weft__story_words_add(w, "; longest held by ");
	weft__story_words_add_task(w, c->model, longest->task, 24);
	weft__story_words_add(w, longest->is_left ? ", never released since " : ", for ");
	if (longest->is_left)
		weft__story_words_add_time(w, c->model, longest->start);
	else
		weft__story_words_add_length(w, longest->end - longest->start);
}

/* The middle one of the times for which tasks waited before they held it; `ret_sum`: of all. */
static uint64_t usual_wait(struct contention *c, uint64_t *ret_sum)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < c->holds.count; i++)
		sum += c->holds.lengths[i] = c->holds.list[i].start - c->holds.list[i].since;
	weft__sort_u64(c->holds.lengths, c->holds.lengths + c->holds.count, c->holds.count);
	*ret_sum = sum;
	return c->holds.lengths[(c->holds.count - 1) / 2];
}

static struct weft_problem contention_of(
	uint32_t task, uint64_t start, uint64_t end, uint32_t waiters)
{
	return weft__story_problem(WEFT_PROBLEM_CONTENTION, WEFT_SEVERITY_WARNING, waiters,
		(struct weft__case){task, start, end});
}

/* Reports a resource that is too scarce all the time, as a pool with few connections: tasks wait
 * for it longer than they hold it, and on average several wait. */
static void look_at_scarcity(
	struct contention *c, uint32_t resource, uint32_t queue, uint64_t usual_ns)
{
	uint64_t sum, wait_ns = usual_wait(c, &sum), start = c->holds.list[0].since;
	uint64_t end = c->holds.list[c->holds.count - 1].start, length = end > start ? end - start : 0;
	if (c->holds.count < SCARCE_MIN || wait_ns <= usual_ns || sum / SCARCE_MEAN < length ||
		length < weft__story_least_ns(c->findings, SCARCE_SHARE, LEAST_NS * 10))
		return;
	struct weft__sentence s;
	struct weft_problem problem = contention_of(resource, start, end, queue);
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 6);
	weft__story_words_add_subject(w, c->model, resource, 32);
	weft__story_words_add(w, ": most tasks wait ");
	weft__story_words_add_length(w, wait_ns);
	weft__story_words_add(w, " to hold it for ");
	weft__story_words_add_length(w, usual_ns);
	weft__story_words_add(weft__story_clause(&s, 5), "; %u wait on average, %" PRIu32 " at most",
		(unsigned)(sum / length), queue);
	weft__story_find(c->findings, &problem, queue, &s);
}

static void set_notes(struct weft_problem *problem, const char *cause, const char *effect)
{
	struct weft__words words =
		weft__story_problem_note(&problem->cause, problem->start, problem->task);
	weft__story_words_add(&words, "%s", cause);
	words = weft__story_problem_note(&problem->effect, problem->end, problem->task);
	weft__story_words_add(&words, "%s", effect);
}

static bool is_in_circle(const struct weft__blocked *b, uint32_t task)
{
	uint32_t step = task;
	for (uint32_t steps = 0; steps <= b->model->tasks.count; steps++) {
		if (b->next[step] == WEFT_NONE || (weft__story_blocked_any(b, step) && !b->is_locked[step]))
			return false;
		step = b->next[step];
		if (step == task)
			return true;
	}
	return false;
}

/* True if the hold lasts until the trace's end because its task is in a deadlock. */
static bool is_deadlocked(struct contention *c, const struct weft__timed_hold *hold)
{
	if (hold->is_left || hold->end < c->model->summary.end)
		return false;
	if (!c->has_blocked) {
		int error = weft__story_blocked_init(&c->blocked, c->findings->story);
		c->has_blocked = true;
		if (error)
			c->findings->error = error;
	}
	return !c->findings->error && is_in_circle(&c->blocked, c->blocked.final[hold->task]);
}

/* For how long of the hold its task had no processor, as far as that is known. */
static uint64_t off_cpu_in(const struct contention *c, const struct weft__timed_hold *hold)
{
	const struct weft_tasks *t = &c->model->tasks;
	uint32_t runs = weft__story_activations_until(c->model, hold->task, hold->end);
	if (!runs)
		return 0;
	uint32_t thread = c->model->activations.thread[t->first_activation[hold->task] + runs - 1];
	return weft__story_preempted_ns(c->model, thread, hold->start, hold->end);
}

/* For how long of the hold some thread of its process had no processor. A job of a pool may wait
 * for that one, as for the lock of Python's interpreter. */
static uint64_t any_off_cpu_in(const struct contention *c, const struct weft__timed_hold *hold)
{
	return c->holds.is_shared ? weft__story_most_preempted_ns(c->model,
									c->model->tasks.buffer[hold->task], hold->start, hold->end)
							  : 0;
}

/* True if the holder gave the lock back with a wait for a condition, or before it, by a release
 * that the trace does not show: another task took the lock during that wait, or the wait lasts for
 * all of the hold. The hold is no longer than the operating system takes the processor. False if
 * the part before the wait is far too long by itself. */
static bool gives_back_to_wait(
	struct contention *c, const struct weft__timed_hold *hold, uint64_t usual_ns)
{
	struct weft__timed_hold before = *hold;
	struct weft_story_wait wait;
	if (hold->end - hold->start > TAKEN_MAX || hold->end == hold->start ||
		!weft_story_wait_at(c->findings->story, hold->task, hold->end - 1, &wait) ||
		wait.source == WEFT_NONE || wait.until < hold->end ||
		c->model->tasks.kind[wait.source] != WEFT_KIND_CONDITION)
		return false;
	if (wait.since <= hold->start)
		return true;
	before.end = wait.since;
	const uint64_t length = before.end - before.start;
	return hold->is_taken_over && length <= (hold->end - hold->start) / 2 &&
		   (length < weft__story_least_ns(c->findings, LEAST_SHARE, LEAST_NS) ||
			   length / FAR_LONGER < usual_ns || !count_waiters_in(c, &before));
}

/* True if so much of the run around the hold was without a processor that this may have been most
 * of the hold. */
static bool may_have_lost(
	const struct contention *c, const struct weft__timed_hold *hold, uint32_t activation)
{
	const struct weft_activations *a = &c->model->activations;
	return weft__story_preempted_ns(c->model, a->thread[activation], a->start[activation],
			   a->end[activation]) > (hold->end - hold->start) / 2;
}

/* True if the task is a thread or a job of a pool that ran all the while, for no longer than the
 * operating system takes the processor, and had none for as long, or hardly any other hold is that
 * long. */
static bool may_be_preempted(
	const struct contention *c, const struct weft__timed_hold *hold, uint64_t usual_ns)
{
	const struct weft_activations *a = &c->model->activations;
	const uint64_t length = hold->end - hold->start;
	uint32_t runs = weft__story_activations_until(c->model, hold->task, hold->start), alike = 0;
	const bool is_thread = c->model->tasks.kind[hold->task] == WEFT_KIND_THREAD;
	if (!runs || (!is_thread && !c->holds.is_shared) || length > TAKEN_MAX ||
		length / FAR_LONGER < usual_ns)
		return false;
	for (uint32_t i = 0; i < c->holds.count; i++)
		alike += c->holds.list[i].end - c->holds.list[i].start >= length / FAR_LONGER;
	uint32_t last = c->model->tasks.first_activation[hold->task] + runs - 1;
	return a->end[last] >= hold->end &&
		   (alike <= 1 + c->holds.count / RARE_PART || may_have_lost(c, hold, last));
}

/* True if the hold is as long as it is because a thread had no processor: it is no fault of the
 * program, unless the rest is very long, too. */
static bool is_lost_time(const struct weft__timed_hold *hold, uint64_t off_ns)
{
	const uint64_t length = hold->end - hold->start;
	return off_ns > length / 2 && length < off_ns + TAKEN_MAX;
}

static void report_long_hold(struct contention *c, uint32_t resource,
	const struct weft__timed_hold *hold, uint64_t usual_ns, uint32_t waits)
{
	struct weft__sentence s;
	struct weft_problem problem = contention_of(hold->task, hold->start, hold->end, waits);
	const uint64_t off_ns = off_cpu_in(c, hold), any_off_ns = any_off_cpu_in(c, hold);
	const bool was_off = is_lost_time(hold, off_ns);
	const bool was_other_off = !was_off && is_lost_time(hold, any_off_ns);
	const bool may_be_off =
		!was_off && !was_other_off &&
		(may_be_preempted(c, hold, usual_ns) || gives_back_to_wait(c, hold, usual_ns));
	if (was_off || was_other_off || may_be_off)
		problem.severity = WEFT_SEVERITY_HINT;
	set_notes(&problem, "takes it", hold->is_left ? "is still not given back" : "gives it back");
	weft__story_sentence_init(&s);
	write_holder(&s, c, resource, hold, usual_ns);
	if (may_be_off)
		weft__story_words_add(weft__story_clause(&s, 5), "; or it was preempted");
	if (was_off || was_other_off) {
		struct weft__words *w = weft__story_clause(&s, 5);
		weft__story_words_add(
			w, was_off ? ", without a processor for " : ", while a thread had no processor for ");
		weft__story_words_add_length(w, was_off ? off_ns : any_off_ns);
		weft__story_words_add(w, " of it");
	}
	weft__story_words_add(weft__story_clause(&s, 5), "; %" PRIu32 " %s for it meanwhile", waits,
		waits == 1 ? "task waits" : "tasks wait");
	weft__story_find(c->findings, &problem, waits, &s);
}

/* The maximum number of simultaneous holds. Uses `lengths`. */
static uint32_t most_holders(struct contention *c)
{
	const struct weft__resource_holds *h = &c->holds;
	uint32_t most = 0;
	for (uint32_t i = 0; i < h->count; i++)
		h->lengths[i] = h->list[i].end;
	weft__sort_u64(h->lengths, h->lengths + h->count, h->count);
	for (uint32_t i = 0, ended = 0; i < h->count; i++) {
		while (ended < i && h->lengths[ended] <= h->list[i].start)
			ended++;
		most = i + 1 - ended > most ? i + 1 - ended : most;
	}
	return most;
}

static bool is_promise(const struct weft_model *model, uint32_t task)
{
	return model->tasks.first_activation[task] == model->tasks.end_activation[task];
}

/* `sum` is that of all holds, in ns; the queue was longest at `time`. A limit to several holders
 * may be meant so; if promises wait for it, queues.c says what there is to say. */
static void report_queue(
	struct contention *c, uint32_t resource, uint64_t sum, uint32_t queue, uint64_t time)
{
	struct weft__sentence s;
	uint64_t start = c->holds.list[0].start, end = c->holds.list[c->holds.count - 1].end;
	struct weft_problem problem = contention_of(resource, start, end, queue);
	const double holders = (double)sum / (double)(end - start + 1);
	if (c->holds.is_shared && most_holders(c) > 1) {
		if (is_promise(c->model, c->holds.wait_list[0].task))
			return;
		problem.severity = WEFT_SEVERITY_HINT;
	}
	weft__story_sentence_init(&s);
	write_queue(&s, c, resource, holders, queue, time);
	weft__story_find(c->findings, &problem, queue, &s);
}

static uint64_t longest_wait(const struct contention *c)
{
	uint64_t longest = 0;
	for (uint32_t i = 0; i < c->holds.waits; i++) {
		const uint64_t length = c->holds.wait_list[i].end - c->holds.wait_list[i].start;
		longest = length > longest ? length : longest;
	}
	return longest;
}

/* Tasks that arrive together form a short queue in any program: a queue counts if a wait is long.
 */
static void look_at_holds(struct contention *c, uint32_t resource, uint32_t queue, uint64_t time)
{
	const struct weft__timed_hold *longest = longest_hold(c);
	uint64_t sum = 0, usual_ns = usual_hold(c, &sum), length = longest->end - longest->start;
	uint64_t least = weft__story_least_ns(c->findings, LEAST_SHARE, LEAST_NS);
	uint32_t waits = count_waiters_in(c, longest);
	bool is_far = length / FAR_LONGER >= usual_ns && waits;
	const bool is_queue = queue >= QUEUE_MIN && longest_wait(c) >= least;
	if (c->holds.is_shared && longest->is_left && is_queue)
		is_far = false; /* others hold it, too: the queue says more */
	if (is_far && is_deadlocked(c, longest))
		return;
	if (!is_queue && (!is_far || length < least))
		look_at_scarcity(c, resource, queue, usual_ns);
	else if (is_far)
		report_long_hold(c, resource, longest, usual_ns, waits);
	else
		report_queue(c, resource, sum, queue, time);
}

static void look_at_task(struct contention *c, uint32_t task)
{
	uint64_t time = 0;
	int error = weft__story_resource_holds_read(&c->holds, task);
	if (error) {
		c->findings->error = error;
		return;
	}
	if (weft__story_look_for_kept(c->findings, &c->holds, task) ||
		(c->model->tasks.kind[task] == WEFT_KIND_POOL &&
			weft__story_look_for_displaced(c->findings, &c->holds, task)))
		return;
	uint32_t queue = weft__story_resource_holds_queue(&c->holds, &time);
	if (c->holds.count < HOLDS_MIN)
		return;
	weft__story_look_for_starvation(c->findings, &c->holds, task);
	if (queue)
		look_at_holds(c, task, queue, time);
}

static bool may_be_one(const struct weft__findings *findings, uint32_t task)
{
	return weft__model_is_resource(findings->story->model->tasks.kind[task]) &&
		   weft__story_edges_to(findings->story, task).count >= EDGES_MIN;
}

void weft__find_contention(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	size_t most = 0;
	weft__story_find_global_lock(findings);
	for (uint32_t task = 0; task < model->tasks.count; task++) {
		size_t edges = weft__story_edges_to(findings->story, task).count;
		if (may_be_one(findings, task) && edges > most)
			most = edges;
	}
	if (!most)
		return;
	struct contention c = {.findings = findings, .model = model};
	int error = weft__story_resource_holds_init(&c.holds, findings->story, most);
	if (error)
		findings->error = error;
	for (uint32_t task = 0; task < model->tasks.count && !error; task++)
		if (may_be_one(findings, task))
			look_at_task(&c, task);
	if (c.has_blocked)
		weft__story_blocked_finish(&c.blocked);
	weft__story_resource_holds_finish(&c.holds);
}
