/* SPDX-License-Identifier: ISC
 *
 * Thundering herds: a signal wakes many tasks at once, most of which find nothing to do and wait
 * for the same again. If a task reads what was signalled, and its next action is to read or want it
 * again, it found nothing to do.
 *
 * Where a library makes a promise for each waiter, one task resolves many existing promises at
 * once, and most of their readers next want another promise like it. Even tasks that found work may
 * all do that, if the trace does not show their work. So in this case at least one task has to do
 * something else, as the first one of a herd does.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "story/problems/findings.h"

#define HERD_MIN       8 /* tasks */
#define BACK_PART      4 /* all but 1 / BACK_PART of them go back */
#define TIMES_MIN      3
#define FOUND_MAX      3
#define EDGES_MAX      64 /* edges of a promise for one waiter: one with more is something else */
#define DISTANCE_RATIO 2  /* minimum ratio of the time between herds to the length of a herd */
#define BUSY_RATIO     4  /* minimum ratio of the mean run of tasks that get on to that of others */

/* The tasks that one signal wakes. */
struct burst {
	bool is_open;
	uint64_t start, end; /* from the signal until the last task has run */
	uint64_t before;     /* the signal before it */
	uint32_t owed;       /* tasks that earlier signals are still to wake */
	uint32_t woken, back;
	/* Tasks with a signal for each: what the last one of those that go back waits for, what the
	 * last one of the others reads, and how long these and those run. */
	uint32_t wanted, read;
	uint64_t busy_ns, back_ns;
};

struct herd {
	struct burst worst;
	uint64_t first, last; /* start of the first and of the last burst */
	uint64_t sum;         /* sum of their lengths */
	uint32_t times;
	bool by_task; /* that resolves a promise for each, or signals each */
};

static bool is_herd(const struct burst *burst)
{
	return burst->woken >= HERD_MIN && burst->back >= burst->woken - burst->woken / BACK_PART;
}

/* True if the next action of the reader in `edge` is about the same task. */
static bool goes_back(const struct weft_story *story, uint32_t edge)
{
	const struct weft_model *model = story->model;
	const struct weft_edges *e = &model->edges;
	uint32_t task = e->from[edge], i;
	struct weft__edge_list by = weft__story_edges_by(model, task);
	i = weft__story_edges_until(model, by, e->time[edge]);
	return i < by.count && e->to[by.edges[i]] == e->to[edge] &&
		   (e->type[by.edges[i]] == WEFT_EDGE_READ || e->type[by.edges[i]] == WEFT_EDGE_TRY_READ);
}

static uint64_t end_of_run(const struct weft_model *model, uint32_t task, uint64_t time)
{
	uint32_t runs = weft__story_activations_until(model, task, time);
	if (!runs)
		return time;
	uint64_t end = model->activations.end[model->tasks.first_activation[task] + runs - 1];
	return end > time ? end : time;
}

static void end_burst(struct herd *herd, const struct burst *burst)
{
	if (!is_herd(burst))
		return;
	if (!herd->times++)
		herd->first = burst->start;
	herd->last = burst->start;
	if (burst->back > herd->worst.back)
		herd->worst = *burst;
}

/* The end of its last run before `time`, when it stops waiting; 0: it has not run before. */
static uint64_t has_waited_since(const struct weft_model *model, uint32_t task, uint64_t time)
{
	uint32_t runs = weft__story_activations_until(model, task, time);
	const uint64_t *end = model->activations.end + model->tasks.first_activation[task];
	while (runs && end[runs - 1] > time)
		runs--;
	return runs ? end[runs - 1] : 0;
}

/* True if a signal of its own woke the reader in `edge` since a time. */
static bool has_own_signal(const struct weft_story *story, uint32_t edge, uint64_t since)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list to = weft__story_edges_to(story, e->from[edge]);
	uint32_t i = weft__story_edges_until(story->model, to, e->time[edge]);
	while (i > 0 && e->time[to.edges[i - 1]] >= since) {
		if (e->type[to.edges[i - 1]] == WEFT_EDGE_SIGNAL)
			return true;
		i--;
	}
	return false;
}

/* True if the reader in `edge` has read the same before, since a time. */
static bool has_read(const struct weft_story *story, uint32_t edge, uint64_t since)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list by = weft__story_edges_by(story->model, e->from[edge]);
	uint32_t i = e->time[edge] ? weft__story_edges_until(story->model, by, e->time[edge] - 1) : 0;
	for (; i > 0 && e->time[by.edges[i - 1]] >= since; i--)
		if (e->type[by.edges[i - 1]] == WEFT_EDGE_READ && e->to[by.edges[i - 1]] == e->to[edge])
			return true;
	return false;
}

/* The task in `edge` reads what was signalled. A burst wakes a task once. */
static void wake(const struct weft_story *story, uint32_t edge, struct burst *burst)
{
	const struct weft_edges *e = &story->model->edges;
	if (!burst->is_open || has_read(story, edge, burst->start) ||
		has_own_signal(story, edge, burst->start))
		return;
	if (burst->owed &&
		has_waited_since(story->model, e->from[edge], e->time[edge]) <= burst->before) {
		burst->owed--;
		return;
	}
	burst->woken++;
	burst->back += goes_back(story, edge);
	burst->end = end_of_run(story->model, e->from[edge], e->time[edge]);
}

/* Each of several signals may wake one task, and these may run only after the last of the signals.
 * So a signal is answerable only for more tasks than earlier ones are still to wake. */
static struct herd look_at_edges(const struct weft_story *story, struct weft__edge_list to)
{
	const struct weft_edges *e = &story->model->edges;
	struct burst burst = {0};
	struct herd herd = {0};
	uint32_t owed = 0;
	for (uint32_t i = 0; i < to.count; i++) {
		uint32_t edge = to.edges[i];
		if (e->type[edge] == WEFT_EDGE_SIGNAL) {
			end_burst(&herd, &burst);
			burst = (struct burst){
				.is_open = true, .start = e->time[edge], .before = burst.start, .owed = owed};
			owed++;
		} else if (e->type[edge] == WEFT_EDGE_READ && e->from[edge] != WEFT_NONE) {
			owed -= owed > 0;
			wake(story, edge, &burst);
		}
	}
	end_burst(&herd, &burst);
	return herd;
}

/* The edge that reads what `edge` resolves; WEFT_NONE: none, or several. */
static uint32_t find_read(const struct weft_story *story, uint32_t edge)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft__edge_list to = weft__story_edges_to(story, e->to[edge]);
	uint32_t found = WEFT_NONE;
	if (to.count > EDGES_MAX)
		return WEFT_NONE;
	for (uint32_t i = 0; i < to.count; i++) {
		if (e->type[to.edges[i]] != WEFT_EDGE_READ || e->from[to.edges[i]] == WEFT_NONE)
			continue;
		if (found != WEFT_NONE)
			return WEFT_NONE;
		found = to.edges[i];
	}
	return found;
}

/* True if the reader in `edge` next wants another promise like it, and made nothing else. */
static bool wants_another(const struct weft__findings *findings, uint32_t edge)
{
	const struct weft_story *story = findings->story;
	const struct weft_edges *e = &story->model->edges;
	uint32_t task = e->from[edge], promise = e->to[edge];
	struct weft__edge_list by = weft__story_edges_by(story->model, task);
	struct weft__edge_list made = weft__story_edges_made(story, task);
	uint32_t next = weft__story_edges_until(story->model, by, e->time[edge]);
	if (next >= by.count)
		return false;
	edge = by.edges[next];
	if (e->type[edge] != WEFT_EDGE_READ && e->type[edge] != WEFT_EDGE_TRY_READ)
		return false;
	if (!weft__story_alike_are(&findings->alike, e->to[edge], promise))
		return false;
	uint32_t first = weft__story_edges_until(story->model, made, e->time[by.edges[next - 1]]);
	uint32_t last = weft__story_edges_until(story->model, made, e->time[edge]);
	for (uint32_t i = first; i < last; i++)
		if (e->to[made.edges[i]] != e->to[edge])
			return false;
	return true;
}

static void end_promises(struct herd *herd, const struct burst *burst)
{
	if (!is_herd(burst) || burst->back == burst->woken)
		return;
	herd->sum += burst->end - burst->start;
	end_burst(herd, burst);
}

/* Examines bursts of resolved promises: a burst includes promises that existed when it began. */
static struct herd look_at_promises(
	const struct weft__findings *findings, struct weft__edge_list by)
{
	const struct weft_model *model = findings->story->model;
	const struct weft_edges *e = &model->edges;
	struct burst burst = {0};
	struct herd herd = {.by_task = true};
	for (uint32_t i = 0; i < by.count; i++) {
		uint32_t edge = by.edges[i];
		if (e->type[edge] != WEFT_EDGE_RESOLVE || e->to[edge] == e->from[edge])
			continue;
		uint32_t read = find_read(findings->story, edge);
		if (read == WEFT_NONE)
			continue;
		if (!burst.is_open || model->tasks.start[e->to[edge]] > burst.start) {
			end_promises(&herd, &burst);
			burst = (struct burst){.is_open = true, .start = e->time[edge]};
		}
		uint64_t end = end_of_run(model, e->from[read], e->time[read]);
		burst.woken++;
		burst.back += wants_another(findings, read);
		burst.end = end > burst.end ? end : burst.end;
	}
	end_promises(&herd, &burst);
	return herd;
}

/* ---- A signal for each waiter ---- */

/* A signal to a task that waits. */
struct waking {
	uint32_t signal, next; /* edges: `next` is the task's first act afterwards */
	uint32_t source;       /* what it waits for */
	uint64_t since;
	uint64_t ran; /* from its begin to its end */
};

/* How long the task runs first after the signal. A signal may make it run at once. */
static uint64_t run_after(const struct weft_model *model, uint32_t task, uint64_t time)
{
	uint32_t i = model->tasks.first_activation[task];
	i += time ? weft__story_activations_until(model, task, time - 1) : 0;
	if (i >= model->tasks.end_activation[task])
		return 0;
	return model->activations.end[i] - model->activations.start[i];
}

/* True if the task waits at `time`. A read has replaced the edge of the wait that it completes, so
 * in that case the task waits since it last ran. */
static bool find_wait(const struct weft_model *model, uint64_t time, struct waking *it)
{
	const struct weft_edges *e = &model->edges;
	uint32_t task = e->to[it->signal];
	struct weft__edge_list by = weft__story_edges_by(model, task);
	uint32_t next = weft__story_edges_until(model, by, time);
	if (next == by.count)
		return false;
	it->next = by.edges[next];
	if (e->type[it->next] == WEFT_EDGE_READ) {
		it->source = e->to[it->next];
		it->since = has_waited_since(model, task, time);
	} else if (next && e->type[by.edges[next - 1]] == WEFT_EDGE_TRY_READ) {
		it->source = e->to[by.edges[next - 1]];
		it->since = e->time[by.edges[next - 1]];
	} else {
		return false;
	}
	return it->since < time && weft__story_activations_until(model, task, time - 1) <=
								   weft__story_activations_until(model, task, it->since);
}

/* False if the task does not wait, was woken before, or does not act any more. */
static bool is_waking(const struct weft_story *story, uint32_t signal, struct waking *ret)
{
	const struct weft_model *model = story->model;
	const struct weft_edges *e = &model->edges;
	uint64_t time = e->time[signal];
	ret->signal = signal;
	if (!find_wait(model, time, ret))
		return false;
	ret->ran = run_after(model, e->to[signal], time);
	struct weft__edge_list to = weft__story_edges_to(story, e->to[signal]);
	for (uint32_t i = weft__story_edges_until(model, to, time); i > 0; i--) {
		uint32_t edge = to.edges[i - 1];
		if (e->time[edge] < ret->since)
			break;
		if (edge < signal && weft__story_wakes(e->type[edge]))
			return false;
	}
	return true;
}

/* True if the task next waits for the same, and has made nothing in between. */
static bool waits_again(const struct weft_story *story, const struct waking *it)
{
	const struct weft_edges *e = &story->model->edges;
	if (e->type[it->next] != WEFT_EDGE_TRY_READ || e->to[it->next] != it->source)
		return false;
	struct weft__edge_list made = weft__story_edges_made(story, e->to[it->signal]);
	return weft__story_edges_until(story->model, made, e->time[it->signal]) ==
		   weft__story_edges_until(story->model, made, e->time[it->next]);
}

/* True if `signal` goes on with the burst of the signal before, `last`: both are of one run of
 * their task, or that task goes on when the other one, which ran at once, waits again. And the task
 * did nothing else in between. */
static bool is_of_burst(const struct weft_story *story, uint32_t last, uint32_t signal)
{
	const struct weft_model *model = story->model;
	const struct weft_edges *e = &model->edges;
	uint32_t task = e->from[signal];
	struct weft__edge_list made = weft__story_edges_made(story, task);
	if (weft__story_edges_until(model, made, e->time[last]) !=
		weft__story_edges_until(model, made, e->time[signal]))
		return false;
	return weft__story_activations_until(model, task, e->time[last]) ==
			   weft__story_activations_until(model, task, e->time[signal]) ||
		   e->time[signal] <= end_of_run(model, e->to[last], e->time[last]);
}

static void add_waking(const struct weft_story *story, const struct waking *it, struct burst *burst)
{
	const struct weft_edges *e = &story->model->edges;
	uint64_t end = end_of_run(story->model, e->to[it->signal], e->time[it->next]);
	bool is_back = waits_again(story, it);
	burst->woken++;
	burst->back += is_back;
	*(is_back ? &burst->back_ns : &burst->busy_ns) += it->ran;
	if (is_back)
		burst->wanted = it->source;
	else if (e->type[it->next] == WEFT_EDGE_READ)
		burst->read = it->source;
	burst->end = end > burst->end ? end : burst->end;
}

static void end_signals(struct herd *herd, const struct burst *burst)
{
	uint32_t busy = burst->woken - burst->back;
	if (!is_herd(burst) || !busy)
		return;
	if (burst->read != burst->wanted &&
		burst->busy_ns / busy / BUSY_RATIO < burst->back_ns / burst->back)
		return;
	herd->sum += burst->end - burst->start;
	end_burst(herd, burst);
}

/* Examines bursts of signals to waiting tasks: each of these waited when the burst began. */
static struct herd look_at_signals(const struct weft_story *story, struct weft__edge_list by)
{
	const struct weft_edges *e = &story->model->edges;
	struct herd herd = {.by_task = true};
	struct burst burst = {0};
	struct waking it;
	uint32_t last = WEFT_NONE;
	for (uint32_t i = 0; i < by.count; i++) {
		uint32_t edge = by.edges[i];
		bool is_signal = e->type[edge] == WEFT_EDGE_SIGNAL;
		if (!is_signal || last == WEFT_NONE || !is_of_burst(story, last, edge)) {
			end_signals(&herd, &burst);
			burst = (struct burst){.start = e->time[edge], .wanted = WEFT_NONE, .read = WEFT_NONE};
		}
		last = is_signal ? edge : WEFT_NONE;
		if (is_signal && is_waking(story, edge, &it) && it.since <= burst.start)
			add_waking(story, &it, &burst);
	}
	end_signals(&herd, &burst);
	return herd;
}

static bool is_worth_a_word(const struct herd *herd)
{
	if (herd->times < TIMES_MIN)
		return false;
	uint64_t distance = (herd->last - herd->first) / (herd->times - 1);
	return !herd->by_task || distance / DISTANCE_RATIO >= herd->sum / herd->times;
}

static void add_herd(struct weft__findings *findings, uint32_t task, const struct herd *herd)
{
	const struct weft_model *model = findings->story->model;
	struct weft__sentence s;
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_HERD, WEFT_SEVERITY_WARNING,
		herd->times, (struct weft__case){task, herd->worst.start, herd->worst.end});
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 5);
	weft__story_words_add(w, herd->by_task ? "" : "A signal of ");
	weft__story_words_add_subject(w, model, task, 32);
	weft__story_words_add(w, " at ");
	weft__story_words_add_time(w, model, herd->worst.start);
	weft__story_words_add(w, " wakes %" PRIu32 " tasks", herd->worst.woken);
	weft__story_words_add(w, herd->by_task ? " at once" : "");
	w = weft__story_clause(&s, 4);
	if (herd->worst.back < herd->worst.woken)
		weft__story_words_add(w, ", of which %" PRIu32 " only wait again", herd->worst.back);
	else
		weft__story_words_add(w, ", which only wait again");
	weft__story_words_add(
		weft__story_clause(&s, 3), "; the worst of %" PRIu32 " times", herd->times);
	weft__story_find(findings, &problem, (uint64_t)herd->times * herd->worst.back, &s);
}

void weft__find_herds(struct weft__findings *findings)
{
	const struct weft_story *story = findings->story;
	uint32_t found = 0;
	for (uint32_t task = 0; task < story->model->tasks.count && found < FOUND_MAX; task++) {
		struct weft__edge_list to = weft__story_edges_to(story, task);
		struct weft__edge_list by = weft__story_edges_by(story->model, task);
		struct herd herd = {0};
		if (to.count >= HERD_MIN * TIMES_MIN)
			herd = look_at_edges(story, to);
		if (!is_worth_a_word(&herd) && by.count >= HERD_MIN * TIMES_MIN)
			herd = look_at_promises(findings, by);
		if (!is_worth_a_word(&herd) && by.count >= HERD_MIN * TIMES_MIN)
			herd = look_at_signals(story, by);
		if (!is_worth_a_word(&herd))
			continue;
		add_herd(findings, task, &herd);
		found++;
	}
}
