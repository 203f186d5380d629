/* SPDX-License-Identifier: ISC
 *
 * Waits that last until the program's end, as in a program that hangs. A chain of waits is one
 * problem, described at the task that waits for the last one of the chain.
 *
 * Many waits at the end are no fault, and are left out:
 *   - A server waits for its next request when it is stopped: the task waited for is no older than
 *     similar tasks become.
 *   - A program cancels what it waits for just before it ends. A wait for a task that was
 * cancelled, closed or timed out counts only if it goes on for long after that.
 *   - A wait for any of several, if one of these is no older than similar tasks become.
 *   - The trace was cut off, or its program still runs; unless a good part of all alike tasks
 *     waits for the same, as when every third request hangs.
 *   - The waiting task got an answer from the same before, or from one like it, and the program
 * ended successfully: a loop at rest, which waits for the next connection, timer or job from
 * outside. If the program ended by itself and successfully, or if the task may be at rest, the wait
 * is a hint. Where nothing was left that the event loop waited for, only a loop is one that has got
 * its answers from others (answered.h).
 *   - The task waits for what comes from outside (outside.h), such as a listening socket that
 * nobody connects to, and has never got it: a service that had nothing to do. That is a hint, and
 * nothing for a wait for the signal that ended the program.
 *   - The main task of a service waits for ever on purpose (service.h). That is a hint.
 *   - A join waits for tasks of which one waits itself, and is reported.
 *   - The task waits for a resource that tasks have not given back which have ended: that is
 * another problem (unreleased.h).
 *   - Threads of an idle pool wait for a condition that says that there is work: nobody waits for
 * any of them, and the program ended successfully. If it did not, that is a hint. The program's
 * first thread is not in a pool.
 *
 * If nothing was left that could have ended the wait (asleep.h), none of these reasons for a hint
 * counts: the program had hung, however it was ended.
 */
#include <stdlib.h>

#include "story/any.h"
#include "story/elsewhere.h"
#include "story/killed.h"
#include "story/loop_end.h"
#include "story/other_end.h"
#include "story/problems/answered.h"
#include "story/problems/asleep.h"
#include "story/problems/blocked.h"
#include "story/problems/findings.h"
#include "story/problems/interrupted.h"
#include "story/problems/outside.h"
#include "story/problems/reader.h"
#include "story/problems/service.h"
#include "story/problems/unreleased.h"
#include "story/queue_end.h"
#include "story/signallers.h"
#include "story/suspended.h"
#include "story/unheard.h"
#include "story/unreported.h"

/* A wait for a stopped task is long from 1/50 of the trace on. */
#define LONG_PART 50

/* Up to this many alike chains are reported one by one; of more, the longest with their number. */
#define ALIKE_MAX 3

/* Edges of a waiting task that are examined, from the last one back. */
#define READS_MAX 64

/* As if every third request hung: so many tasks that wait for the same, and 1 / OUTAGE_PART of all
 * alike tasks. */
#define OUTAGE_MIN  4
#define OUTAGE_PART 4

/* Tasks of a join that are examined. */
#define JOINED_MAX 1000

/* A program that was killed had hung, if nothing ran any more for half of a wait that long. */
#define HANG_NS (500 * WEFT__MS)

/* Signals that ask a program to end, as numbered on Linux. */
enum {
	HANGUP = 1,
	INTERRUPT = 2,
	TERMINATE = 15
};

struct chains {
	struct weft__findings *findings;
	const struct weft_model *model;
	struct weft__blocked blocked;
	/* For each task, the end of its chain. WEFT_NONE: the task does not wait; IN_WALK: its chain
	 * leads into a circle. */
	uint32_t *last;
	/* For the end of a chain: the task that waits for it the longest, or WEFT_NONE; the number of
	 * tasks that wait for it, directly or not; and the number of those that are not in a pool. */
	uint32_t *first, *waiting, *outside;
	/* The group of alike tasks that has the majority of those that wait, if one has it; how many
	 * more of that group than of others were seen; and the number of its tasks. */
	uint32_t *group, *lead, *alike;
	uint64_t *last_run;                 /* of each buffer: the end of its last activation */
	struct weft__suspension *suspended; /* by buffer; NULL: none is */
	struct weft__killed_child *killed;  /* the same */
	struct chain *list;
	uint32_t count;
};

/* A chain of waits that is reported. */
struct chain {
	uint64_t since;
	uint64_t group; /* of alike tasks that are the ends of chains */
	uint32_t last;
};

static const struct weft_trace_buffer *buffer_of(const struct chains *c, uint32_t task)
{
	const struct weft_model *m = c->model;
	return weft_trace_buffer_at(m->buffers, m->buffer_count, m->tasks.buffer[task]);
}

static bool has_ended(const struct weft_trace_buffer *buffer)
{
	return buffer->ending == WEFT_ENDING_EXIT || buffer->ending == WEFT_ENDING_GONE ||
		   buffer->ending == WEFT_ENDING_CRASHED || buffer->ending == WEFT_ENDING_DESTROYED;
}

static uint64_t since(const struct chains *c, uint32_t task)
{
	return c->model->edges.time[weft__story_blocked_since(&c->blocked, task)];
}

/* ---- Chains ---- */

#define IN_WALK (WEFT_NONE - 1)

/* Finds the end of the task's chain, and stores it for every task on the way. */
static void walk(struct chains *c, uint32_t task)
{
	const uint32_t *next = c->blocked.next;
	uint32_t step = task, last;
	while (c->last[step] == WEFT_NONE && next[step] != WEFT_NONE) {
		c->last[step] = IN_WALK;
		step = next[step];
	}
	last =
		next[step] == WEFT_NONE ? step : c->last[step]; /* IN_WALK: a circle, or a way into one */
	for (step = task; c->last[step] == IN_WALK && next[step] != WEFT_NONE; step = next[step]) {
		if (last == IN_WALK)
			return;
		c->last[step] = last;
	}
}

/* Boyer and Moore's vote: a group that has the majority leads at the end. */
static void vote(struct chains *c, uint32_t task, uint32_t last)
{
	const uint32_t group = c->findings->alike.group_of[task];
	if (c->model->tasks.label[task] == WEFT_NONE)
		return;
	if (c->lead[last] == 0)
		c->group[last] = group;
	c->lead[last] += c->group[last] == group ? 1 : -1u;
}

static void count_alike(struct chains *c)
{
	for (uint32_t task = 0; task < c->model->tasks.count; task++) {
		uint32_t last = c->last[task];
		if (last < IN_WALK)
			c->alike[last] += c->findings->alike.group_of[task] == c->group[last];
	}
}

static void find_last_runs(struct chains *c)
{
	const struct weft_tasks *t = &c->model->tasks;
	for (uint32_t task = 0; task < t->count; task++) {
		const uint32_t end = t->end_activation[task], buffer = t->buffer[task];
		if (end == t->first_activation[task] || buffer >= c->model->buffer_count)
			continue;
		const uint64_t time = c->model->activations.end[end - 1];
		c->last_run[buffer] = time > c->last_run[buffer] ? time : c->last_run[buffer];
	}
}

/* True if the task waits as the threads of an idle pool do. A callback of a loop, which blocks its
 * thread with such a wait, does not. */
static bool may_be_in_pool(const struct chains *c, uint32_t task, uint32_t last)
{
	const struct weft_tasks *t = &c->model->tasks;
	const bool blocks =
		t->kind[task] != WEFT_KIND_THREAD && weft__story_is_of_category(c->model, last, "thread");
	return c->blocked.next[task] == last && t->parent[task] != WEFT_NONE && !blocks;
}

static void count_waits(struct chains *c)
{
	for (uint32_t task = 0; task < c->model->tasks.count; task++) {
		uint32_t last = c->last[task];
		if (last >= IN_WALK)
			continue;
		c->waiting[last]++;
		vote(c, task, last);
		c->outside[last] += !may_be_in_pool(c, task, last);
		if (c->blocked.next[task] == last &&
			(c->first[last] == WEFT_NONE || since(c, task) < since(c, c->first[last])))
			c->first[last] = task;
	}
}

/* True if the task waits for any of several, one of which is no older than usual. */
static bool may_go_on(const struct chains *c, uint32_t task)
{
	if (!weft__story_blocked_any(&c->blocked, task))
		return false;
	struct weft__edge_list any =
		weft__story_any_of(c->model, weft__story_blocked_since(&c->blocked, task));
	for (uint32_t i = 0; i < any.count; i++)
		if (weft__story_alike_is_usual(
				&c->findings->alike, c->blocked.final[c->model->edges.to[any.edges[i]]]))
			return true;
	return false;
}

/* The task that holds the resource for which the task waits; WEFT_NONE: it waits for none. */
static uint32_t holder_of(const struct chains *c, uint32_t task)
{
	const uint32_t next = c->blocked.next[task];
	if (next == WEFT_NONE || weft__story_blocked_any(&c->blocked, task))
		return WEFT_NONE;
	const uint32_t source =
		c->blocked.final[c->model->edges.to[weft__story_blocked_since(&c->blocked, task)]];
	return weft__model_is_resource(c->model->tasks.kind[source]) && next != source ? next
																				   : WEFT_NONE;
}

/* True if the task, or the promise that it reads, waits for a job from outside. */
static bool is_out_of_work(const struct chains *c, uint32_t task)
{
	const uint32_t *next = c->blocked.next;
	for (unsigned hops = 0; hops < 2 && next[task] != WEFT_NONE; hops++)
		task = next[task];
	return weft__story_comes_from_outside(c->model, task) == WEFT__OUTSIDE;
}

/* A worker that holds what others wait for, and waits for its next job, is to blame itself. */
static void end_at_workers(struct chains *c)
{
	for (uint32_t task = 0; task < c->model->tasks.count; task++) {
		uint32_t step = holder_of(c, task), next;
		if (step == WEFT_NONE || !is_out_of_work(c, step))
			continue;
		for (; step != WEFT_NONE; step = next) {
			next = c->blocked.next[step];
			c->blocked.next[step] = WEFT_NONE;
		}
	}
}

static int find_chains(struct chains *c)
{
	const uint32_t tasks = c->model->tasks.count;
	const size_t room = tasks + (size_t)1;
	c->last = malloc(7 * room * sizeof(*c->last));
	c->last_run = calloc(c->model->buffer_count + (size_t)1, sizeof(*c->last_run));
	if (!c->last || !c->last_run)
		return WEFT_ERROR_MEMORY;
	c->first = c->last + room;
	c->waiting = c->last + 2 * room;
	c->outside = c->last + 3 * room;
	c->group = c->last + 4 * room;
	c->lead = c->last + 5 * room;
	c->alike = c->last + 6 * room;
	for (uint32_t task = 0; task < tasks; task++) {
		c->last[task] = c->first[task] = c->group[task] = WEFT_NONE;
		c->waiting[task] = c->outside[task] = c->lead[task] = c->alike[task] = 0;
		if (may_go_on(c, task) || weft__story_is_helper(c->model, task))
			c->blocked.next[task] = WEFT_NONE;
	}
	end_at_workers(c);
	for (uint32_t task = 0; task < tasks; task++)
		walk(c, task);
	count_waits(c);
	count_alike(c);
	find_last_runs(c);
	int error = weft__story_find_suspended(c->model, c->model->summary.end, &c->suspended);
	return error ? error : weft__story_find_killed(c->findings->story, &c->killed);
}

/* ---- Which of them are reported ---- */

static bool is_stopped(const struct chains *c, uint32_t task)
{
	return c->model->tasks.flags[task] & WEFT_TASK_STOPPED;
}

/* True if the wait for a stopped task goes on for long. */
static bool is_forgotten(const struct chains *c, uint32_t last)
{
	const struct weft_model_summary *summary = &c->model->summary;
	uint64_t stop = c->model->tasks.end[last], start = since(c, c->first[last]);
	uint64_t from = stop > start ? stop : start, end = c->model->tasks.end[c->first[last]];
	return end > from && end - from >= (summary->end - summary->start) / LONG_PART;
}

/* True if many tasks wait for the same, since the first half of the trace, and they are a good part
 * of all alike tasks, most of which end: it is as if every third request hung. */
static bool is_outage(const struct chains *c, uint32_t last)
{
	const uint32_t group = c->group[last], count = c->alike[last];
	const struct weft_model_summary *summary = &c->model->summary;
	if (c->waiting[last] < OUTAGE_MIN || c->model->tasks.kind[last] == WEFT_KIND_CONDITION ||
		since(c, c->first[last]) > summary->start + (summary->end - summary->start) / 2)
		return false;
	if (group == WEFT_NONE || count < OUTAGE_MIN)
		return false;
	const struct weft__alike_group *alike = &c->findings->alike.groups[group];
	return count <= alike->count && count >= alike->all / OUTAGE_PART;
}

/* True if the program ended because nothing was left that could go on. Threads themselves may wait
 * for what is no part of its loop. */
static bool is_for_ever(const struct chains *c, uint32_t last)
{
	return c->model->tasks.kind[c->first[last]] != WEFT_KIND_THREAD &&
		   weft__story_loop_ended(c->model, c->model->tasks.buffer[last]);
}

/* True for a lock that another thread had at the fork (WEFT_TAG_HELD_AT_FORK). */
static bool is_copy(const struct chains *c, uint32_t last, struct weft__elsewhere *ret)
{
	return weft__story_held_elsewhere(
			   c->findings->story, last, c->model->tasks.end[last] - 1, ret) &&
		   ret->is_copy;
}

/* True if the trace shows for certain that nothing goes on. */
static bool is_stuck(const struct chains *c, uint32_t last)
{
	struct weft__elsewhere it;
	return weft__story_is_suspended(c->model, c->suspended, last) || is_copy(c, last, &it);
}

static bool is_reported(const struct chains *c, uint32_t last)
{
	if (c->first[last] == WEFT_NONE)
		return false;
	const bool is_over =
		has_ended(buffer_of(c, last)) ||
		(buffer_of(c, last)->ending == WEFT_ENDING_RUNNING && is_outage(c, last)) ||
		is_stuck(c, last) || weft__story_is_asleep(c->findings, last);
	return is_over && !(c->model->tasks.flags[last] & WEFT_TASK_NEVER_RESOLVED) &&
		   (is_stopped(c, last) ? is_forgotten(c, last)
								: is_for_ever(c, last) || is_stuck(c, last) ||
									  !weft__story_alike_is_usual(&c->findings->alike, last));
}

/* The resource at the end of a chain: the last task, or what that waited for last, if the only
 * holder has ended. WEFT_NONE: none. */
static uint32_t resource_at(const struct chains *c, uint32_t last)
{
	const struct weft_edges *e = &c->model->edges;
	struct weft__edge_list by = weft__story_edges_by(c->model, last);
	if (!weft__model_is_resource(c->model->tasks.kind[last])) {
		const uint32_t edge = by.count ? by.edges[by.count - 1] : WEFT_NONE;
		last = edge != WEFT_NONE && e->type[edge] == WEFT_EDGE_TRY_READ ? e->to[edge] : WEFT_NONE;
	}
	return last != WEFT_NONE && weft__model_is_resource(c->model->tasks.kind[last]) ? last
																					: WEFT_NONE;
}

/* True if tasks that have ended hold the resource for which the chain waits. */
static bool is_left(struct chains *c, uint32_t last)
{
	struct weft__holders left;
	const uint32_t resource = resource_at(c, last);
	if (resource == WEFT_NONE)
		return false;
	int error = weft__story_left_holds(c->findings->story, resource, &left);
	bool is = left.count > 0;
	weft__model_holders_finish(&left);
	if (error)
		c->findings->error = error;
	return is && !error;
}

/* True if the end of the chain is a join, and one of the tasks that it waits for waits itself in a
 * chain that is reported. */
static bool is_reported_elsewhere(const struct chains *c, uint32_t last)
{
	const struct weft_edges *e = &c->model->edges;
	struct weft__edge_list by = weft__story_edges_by(c->model, last);
	if (c->model->tasks.kind[last] != WEFT_KIND_JOIN)
		return false;
	for (uint32_t i = 0; i < by.count && i < JOINED_MAX; i++) {
		if (e->type[by.edges[i]] != WEFT_EDGE_TRY_READ || e->to[by.edges[i]] == WEFT_NONE)
			continue;
		uint32_t source = c->last[c->blocked.final[e->to[by.edges[i]]]];
		if (source < IN_WALK && source != last && is_reported(c, source))
			return true;
	}
	return false;
}

static int by_group(const void *left, const void *right)
{
	const struct chain *l = left, *r = right;
	if (l->group != r->group)
		return l->group < r->group ? -1 : 1;
	if (l->since != r->since)
		return l->since < r->since ? -1 : 1;
	return l->last < r->last ? -1 : l->last > r->last;
}

static int list_chains(struct chains *c)
{
	const uint32_t tasks = c->model->tasks.count;
	uint32_t count = 0;
	for (uint32_t task = 0; task < tasks; task++)
		count += is_reported(c, task);
	c->list = malloc((count + (size_t)1) * sizeof(*c->list));
	if (!c->list)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < tasks && count; task++)
		if (is_reported(c, task) && !is_reported_elsewhere(c, task) && !is_left(c, task))
			c->list[c->count++] = (struct chain){
				since(c, c->first[task]), weft__story_alike_name(&c->findings->alike, task), task};
	qsort(c->list, c->count, sizeof(*c->list), by_group);
	return 0;
}

/* ---- Reporting ---- */

/* "until the program was killed by signal 9" */
static void write_end(struct weft__words *words, const struct chains *c, uint32_t task)
{
	const struct weft_trace_buffer *buffer = buffer_of(c, task);
	char ending[128];
	if (!has_ended(buffer))
		return;
	if (is_for_ever(c, task)) {
		weft__story_words_add(words, "; nothing was left that could end it");
		return;
	}
	weft_trace_format_ending(buffer, ending, sizeof(ending));
	weft__story_words_add(words, ", until %s", buffer->wait_status ? ending : "the program ended");
}

/* ", cancelled at 3.09 ms," */
static void write_stop(struct weft__words *words, const struct chains *c, uint32_t task)
{
	const struct weft_tasks *t = &c->model->tasks;
	if (!is_stopped(c, task))
		return;
	weft__story_words_add(
		words, ", %s at ", weft_outcome_name((enum weft_outcome)t->outcome[task]));
	weft__story_words_add_time(words, c->model, t->end[task]);
	weft__story_words_add(words, ",");
}

/* True if the waiting task has read the same before, or a task like it. */
static bool is_at_rest(const struct chains *c, uint32_t task)
{
	const struct weft_edges *e = &c->model->edges;
	const uint32_t *group_of = c->findings->alike.group_of;
	struct weft__edge_list by = weft__story_edges_by(c->model, task);
	uint32_t source = c->blocked.final[e->to[weft__story_blocked_since(&c->blocked, task)]];
	uint32_t least = by.count > READS_MAX ? by.count - READS_MAX : 0;
	for (uint32_t i = by.count; i > least; i--) {
		uint32_t read = c->blocked.final[e->to[by.edges[i - 1]]];
		if (e->type[by.edges[i - 1]] == WEFT_EDGE_READ &&
			(read == source || (group_of[read] != WEFT_NONE && group_of[read] == group_of[source])))
			return true;
	}
	return false;
}

/* The number of messages that `to` has received, of one sender or, with WEFT_NONE, of all; and the
 * time of the first one. */
static uint32_t count_messages(
	const struct weft_story *story, uint32_t to, uint32_t sender, uint64_t *ret_first)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list list = weft__story_edges_to(story, to);
	uint32_t count = 0;
	*ret_first = UINT64_MAX;
	for (uint32_t i = 0; i < list.count; i++) {
		const uint32_t edge = list.edges[i];
		if (e->type[edge] == WEFT_EDGE_RECEIVE &&
			(sender == WEFT_NONE || e->from[edge] == sender) && !count++)
			*ret_first = e->time[edge];
	}
	return count;
}

/* True if the task is the first to send on the connection, and sends about as often as it gets
 * something: it waits for an answer. One that reads first waits for its next job, one that gets
 * more for news. Not all messages are recorded. */
static bool has_asked(const struct chains *c, uint32_t task)
{
	const struct weft_story *story = c->findings->story;
	const struct weft_edges *e = &c->model->edges;
	const uint32_t wait = weft__story_blocked_since(&c->blocked, task), source = e->to[wait];
	struct weft__other_end other;
	uint64_t first_sent, first_got;
	if (!weft__story_other_end(story, source, e->time[wait], &other))
		return false;
	const uint32_t sent = count_messages(story, other.end, task, &first_sent);
	const uint32_t got = count_messages(story, source, WEFT_NONE, &first_got);
	return sent && first_sent < first_got && sent >= got / 2;
}

static bool is_idle_pool(const struct chains *c, uint32_t last)
{
	return c->model->tasks.kind[last] == WEFT_KIND_CONDITION && !c->outside[last];
}

/* The beginning of the wait; and the end of what it waits for, if that was stopped. */
static void set_notes(
	const struct chains *c, uint32_t task, uint32_t last, struct weft_problem *problem)
{
	const struct weft_tasks *t = &c->model->tasks;
	struct weft__words words = weft__story_problem_note(&problem->effect, problem->start, task);
	weft__story_words_add(&words, "begins to wait");
	if (!is_stopped(c, last))
		return;
	words = weft__story_problem_note(&problem->cause, t->end[last], last);
	weft__story_words_add(&words, "%s", weft_outcome_name((enum weft_outcome)t->outcome[last]));
}

/* True for a signal that asks a program to end. */
static bool is_asked(int signal_number)
{
	return signal_number == HANGUP || signal_number == INTERRUPT || signal_number == TERMINATE;
}

/* True if a service waits for its next job, as far as the trace shows. */
static bool waits_for_job(const struct chains *c, uint32_t last)
{
	const enum weft__job_origin outside = weft__story_comes_from_outside(c->model, last);
	const bool may_be =
		outside == WEFT__OUTSIDE || is_asked(buffer_of(c, last)->wait_status & 0x7f);
	return outside != WEFT__INSIDE && may_be && !is_outage(c, last);
}

/* False for what comes from outside, such as the next connection or job: an idle server that is
 * stopped has not hung. A signal that asks a program to end says less than one that kills it. */
static bool is_inside(const struct chains *c, uint32_t last, int signal_number)
{
	const unsigned kind = c->model->tasks.kind[last];
	if (!weft_kind_name(kind) || kind == WEFT_KIND_TIMER || kind == WEFT_KIND_CONDITION ||
		kind == WEFT_KIND_QUEUE || kind == WEFT_KIND_CHANNEL)
		return false;
	return !is_asked(signal_number) || c->waiting[last] > 1;
}

/* True if nothing runs any more for most of the wait until the program is killed. */
static bool is_hang(const struct chains *c, uint32_t task, const struct weft_trace_buffer *buffer)
{
	const struct weft_tasks *t = &c->model->tasks;
	const uint64_t start = since(c, task), half = start + (t->end[task] - start) / 2;
	const int signal_number = buffer->wait_status & 0x7f;
	if (!signal_number || t->end[task] - start < HANG_NS ||
		!is_inside(c, c->last[task], signal_number))
		return false;
	return t->buffer[task] < c->model->buffer_count && c->last_run[t->buffer[task]] <= half;
}

/* The threads of a pool are idle even if the program hangs. */
static bool is_asleep(const struct chains *c, uint32_t last)
{
	return weft__story_is_asleep(c->findings, last) && !is_idle_pool(c, last);
}

/* True if only the waiting task could let the one go on that used to end its waits; or a pipe does
 * not end because its own process keeps it open; or nobody in its process has the lock; or the
 * process is suspended that should go on. */
static bool is_own_fault(const struct chains *c, uint32_t task, uint32_t last)
{
	const struct weft_story *story = c->findings->story;
	const uint64_t at = c->model->tasks.end[task] - 1;
	const uint32_t by = weft__story_only_signaller(story, last, at);
	return (by != WEFT_NONE && weft__story_signaller_waits_for(story, by, task, at)) ||
		   weft__story_keeps_own_end(story, last, at) ||
		   weft__story_is_unreported(story, last, at) || is_stuck(c, last);
}

/* Adds which thread had the lock when the wait began, and had ended by then. False if none had. */
static bool write_ended_holder(struct weft__sentence *s, const struct chains *c, uint32_t last)
{
	const struct weft_model *model = c->model;
	struct weft__elsewhere it;
	if (!weft__story_held_elsewhere(c->findings->story, last, model->tasks.end[last] - 1, &it) ||
		it.task == WEFT_NONE || !weft__story_is_gone(model, it.task, it.time))
		return false;
	struct weft__words *w = weft__story_clause(s, WEFT__WORTH_MOST);
	weft__story_words_add(w, "; ");
	weft__story_words_add_task(w, model, it.task, 16);
	weft__story_words_add(w, " had it, and ended at ");
	weft__story_words_add_time(w, model, model->tasks.end[it.task]);
	return true;
}

/* Adds the signal that came before the wait began. False if there was none, or if it may have been
 * for an earlier wait. */
static bool write_unheard(
	struct weft__sentence *s, const struct chains *c, uint32_t task, uint32_t last)
{
	struct weft__unheard it;
	if (!weft__story_unheard_before(c->model, last, since(c, task), &it) ||
		it.sender == WEFT_NONE || it.is_one_of_many)
		return false;
	struct weft__words *w = weft__story_clause(s, 7);
	weft__story_words_add(w, "; ");
	weft__story_words_add_task(w, c->model, it.sender, 16);
	weft__story_words_add(w, " signalled it ");
	weft__story_words_add_length(w, since(c, task) - it.time);
	weft__story_words_add(w, " before");
	return true;
}

/* Adds why nothing ended the wait, as far as the trace shows. False if it does not. */
static bool write_reason(
	struct weft__sentence *s, const struct chains *c, uint32_t task, uint32_t last)
{
	const struct weft_story *story = c->findings->story;
	const uint64_t at = c->model->tasks.end[task] - 1;
	struct weft__elsewhere it;
	if (weft__story_add_signaller(s, story, last, at, 7) ||
		weft__story_add_queue_user(s, story, last, at, 7))
		return true;
	if (weft__story_is_suspended(c->model, c->suspended, last)) {
		weft__story_add_suspended(s, c->model, c->suspended, last, 8);
		return true;
	}
	if (is_copy(c, last, &it)) {
		weft__story_add_holder_at_fork(s, c->model, &it, 8);
		return true;
	}
	if (weft__story_add_unreported(s, story, last, at, 8) || write_ended_holder(s, c, last) ||
		write_unheard(s, c, task, last))
		return true;
	if (!weft__story_keeps_own_end(story, last, at))
		return weft__story_add_killed(s, c->model, c->killed, last, WEFT__WORTH_MOST);
	weft__story_words_add(weft__story_clause(s, 6), "; its own process keeps the writing end open");
	return true;
}

/* The task that the sentence is about: of a promise its only reader. A task has a name of its own.
 */
static uint32_t named_for(const struct chains *c, uint32_t task)
{
	if (c->model->tasks.kind[task] == WEFT_KIND_TASK)
		return task;
	const uint32_t reader = weft__story_only_reader(c->findings->story, task);
	return reader == WEFT_NONE ? task : reader;
}

/* True if the main task of a service, and nobody else, waits for what nobody has touched. */
static bool keeps_service(const struct chains *c, uint32_t named, const struct chain *chain)
{
	const struct weft_story *story = c->findings->story;
	return c->waiting[chain->last] <= 1u + (named != c->first[chain->last]) &&
		   weft__story_is_main_of_service(story, named) &&
		   weft__story_is_unused(story, chain->last, chain->since);
}

static enum weft_problem_severity severity_of(
	const struct chains *c, const struct chain *chain, bool is_success, bool may_rest)
{
	const uint32_t task = c->first[chain->last];
	if (is_asleep(c, chain->last))
		return WEFT_SEVERITY_ERROR;
	if (!is_success && is_own_fault(c, task, chain->last))
		return WEFT_SEVERITY_WARNING;
	if (may_rest || waits_for_job(c, chain->last) || keeps_service(c, named_for(c, task), chain))
		return WEFT_SEVERITY_HINT;
	if (!has_ended(buffer_of(c, task)))
		return WEFT_SEVERITY_WARNING;
	if (is_outage(c, chain->last) || (is_hang(c, task, buffer_of(c, chain->last)) &&
										 !weft__story_comes_from_outside(c->model, chain->last)))
		return WEFT_SEVERITY_ERROR;
	return is_success && !is_for_ever(c, chain->last) ? WEFT_SEVERITY_HINT : WEFT_SEVERITY_WARNING;
}

/* " in 'Queue.get'": the wait has no name but that of the only task that reads it.
 */
static void write_promise(struct weft__words *w, const struct weft_model *model, uint32_t promise)
{
	if (model->tasks.label[promise] == WEFT_NONE)
		return;
	weft__story_words_add(w, " in ");
	weft__story_words_add_task(w, model, promise, 28);
	weft__story_words_add(w, ",");
}

/* True for a sleep that was cut off before it was over, or a timer before it was due. If others
 * wait for the sleeper, it is the reason for that. */
static bool is_own_sleep(const struct chains *c, uint32_t last, uint32_t others)
{
	const struct weft_model *model = c->model;
	struct weft_story_timer timer;
	if (others || model->tasks.kind[last] != WEFT_KIND_TIMER)
		return false;
	if (weft_story_timer(model, last, &timer))
		return timer.due >= model->tasks.end[last];
	return weft__story_is_of_category(model, last, "thread");
}

static void report_chain(const struct chains *c, const struct chain *chain, uint32_t alike)
{
	const struct weft_trace_buffer *buffer = buffer_of(c, chain->last);
	const uint32_t task = c->first[chain->last], named = named_for(c, task);
	const bool is_success = buffer->ending == WEFT_ENDING_EXIT && !(buffer->wait_status & 0xffff);
	const bool is_long = c->model->tasks.end[task] - chain->since >= HANG_NS;
	const bool may_rest =
		is_for_ever(c, chain->last)
			? weft__story_answered_by_others(c->findings, &c->blocked, chain->last)
			: (is_at_rest(c, task) && !(is_long && has_asked(c, task))) ||
				  is_idle_pool(c, chain->last);
	const bool is_signal =
		(buffer->wait_status & 0x7f) && weft__story_is_for_signals(c->model, chain->last);
	const bool is_for_good = is_asleep(c, chain->last);
	const uint32_t others = c->waiting[chain->last] - 1 - (named != task);
	if ((is_success && may_rest && !is_stopped(c, chain->last) && !is_for_good) || is_signal ||
		is_own_sleep(c, chain->last, others))
		return;
	struct weft_problem problem =
		weft__story_problem(WEFT_PROBLEM_UNANSWERED, severity_of(c, chain, is_success, may_rest),
			alike, (struct weft__case){named, chain->since, c->model->tasks.end[task]});
	problem.edge = weft__story_blocked_since(&c->blocked, task);
	struct weft__sentence s;
	problem.show_start = weft__story_start_of(c->findings->story, named);
	problem.show_end = problem.end;
	set_notes(c, task, chain->last, &problem);
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 7);
	weft__story_words_add_subject(w, c->model, named, 32);
	if (named != task)
		write_promise(w, c->model, task);
	weft__story_blocked_describe(&c->blocked, task, w);
	write_stop(weft__story_clause(&s, 5), c, chain->last);
	w = weft__story_clause(&s, 5);
	weft__story_words_add(w, " for ");
	weft__story_words_add_length(w, problem.end - problem.start);
	write_end(weft__story_clause(&s, 4), c, chain->last);
	const bool has_reason = write_reason(&s, c, task, chain->last);
	if (is_for_good)
		weft__story_words_add(
			weft__story_clause(&s, has_reason ? 4 : 6), "; nothing is left that could end this");
	if (others)
		weft__story_words_add(weft__story_clause(&s, 5), "; %u more %s for that", others,
			others == 1 ? "waits" : "wait");
	if (alike > 1)
		weft__story_words_add(weft__story_clause(&s, 5), "; %u more like it", alike - 1);
	weft__story_find(c->findings, &problem, problem.end - problem.start, &s);
}

/* Adds all chains of a group as cases of the problem. */
static void add_cases(const struct chains *c, const struct chain *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t task = c->first[list[i].last];
		weft__story_find_case(c->findings, task, list[i].since, c->model->tasks.end[task]);
	}
}

static void report_chains(const struct chains *c)
{
	for (uint32_t i = 0, next; i < c->count; i = next) {
		next = i + 1;
		while (next < c->count && c->list[next].group == c->list[i].group)
			next++;
		uint32_t alike = next - i;
		if (alike > ALIKE_MAX)
			add_cases(c, &c->list[i], alike);
		for (uint32_t k = 0; k < (alike > ALIKE_MAX ? 1 : alike); k++)
			report_chain(c, &c->list[i + k], alike > ALIKE_MAX ? alike : 1);
	}
}

void weft__find_unanswered(struct weft__findings *findings)
{
	struct chains c = {.findings = findings, .model = findings->story->model};
	int error = weft__story_blocked_init(&c.blocked, findings->story);
	if (!error)
		error = find_chains(&c);
	if (!error)
		error = list_chains(&c);
	if (!error) {
		report_chains(&c);
		weft__story_find_interrupted(findings, &c.blocked);
	} else {
		findings->error = error;
	}
	free(c.list);
	free(c.last);
	free(c.last_run);
	free(c.suspended);
	free(c.killed);
	weft__story_blocked_finish(&c.blocked);
}
