/* SPDX-License-Identifier: ISC
 *
 * Thundering herds: a signal wakes many tasks at once, most of which find nothing to do and go back
 * to wait for the same. Of a task that reads what was signalled, and whose next act is to read or
 * to want it again, nothing else has come.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "story/problems.h"

#define HERD_MIN  8 /* tasks */
#define BACK_PART 4 /* all but one of so many go back */
#define TIMES_MIN 3
#define FOUND_MAX 3

/* From one signal to the next. */
struct burst {
	bool is_open;
	uint64_t start, end; /* from the signal until the last has run */
	uint32_t woken, back;
};

struct herd {
	struct burst worst;
	uint64_t first; /* when the first was */
	uint32_t times;
};

static bool is_herd(const struct burst *burst)
{
	return burst->woken >= HERD_MIN && burst->back >= burst->woken - burst->woken / BACK_PART;
}

/* Whether the next act of who read by `edge` is about the same task. */
static bool goes_back(const struct weft_story *story, uint32_t edge)
{
	const struct weft_model *model = story->model;
	const struct weft_edges *e = &model->edges;
	uint32_t task = e->from[edge], i;
	struct weft__edge_list by = weft__edges_by(model, task);
	i = weft__edges_until(model, by, e->time[edge]);
	return i < by.count && e->to[by.edges[i]] == e->to[edge] &&
		   (e->type[by.edges[i]] == WEFT_EDGE_READ || e->type[by.edges[i]] == WEFT_EDGE_TRY_READ);
}

static uint64_t end_of_run(const struct weft_model *model, uint32_t task, uint64_t time)
{
	uint32_t runs = weft__activations_until(model, task, time);
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
	if (burst->back > herd->worst.back)
		herd->worst = *burst;
}

static struct herd look_at(const struct weft_story *story, struct weft__edge_list to)
{
	const struct weft_edges *e = &story->model->edges;
	struct burst burst = {0};
	struct herd herd = {0};
	for (uint32_t i = 0; i < to.count; i++) {
		uint32_t edge = to.edges[i];
		if (e->type[edge] == WEFT_EDGE_SIGNAL) {
			end_burst(&herd, &burst);
			burst = (struct burst){.is_open = true, .start = e->time[edge]};
		} else if (e->type[edge] == WEFT_EDGE_READ && e->from[edge] != WEFT_NONE && burst.is_open) {
			burst.woken++;
			burst.back += goes_back(story, edge);
			burst.end = end_of_run(story->model, e->from[edge], e->time[edge]);
		}
	}
	end_burst(&herd, &burst);
	return herd;
}

static void add_herd(struct weft__findings *findings, uint32_t task, const struct herd *herd)
{
	const struct weft_model *model = findings->story->model;
	struct weft__sentence s;
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_HERD,
		.severity = WEFT_SEVERITY_WARNING,
		.count = herd->times,
		.start = herd->worst.start,
		.end = herd->worst.end,
		.task = task,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
		.edge = WEFT_NONE,
	};
	weft__sentence_init(&s);
	struct weft__words *w = weft__clause(&s, 5);
	weft__say(w, "A signal of ");
	weft__say_subject(w, model, task, 32);
	weft__say(w, " wakes %" PRIu32 " tasks", herd->worst.woken);
	w = weft__clause(&s, 4);
	if (herd->worst.back < herd->worst.woken)
		weft__say(w, ", of which %" PRIu32 " only wait again", herd->worst.back);
	else
		weft__say(w, ", which only wait again");
	w = weft__clause(&s, 3);
	weft__say(w, "; %" PRIu32 " times, first at ", herd->times);
	weft__say_time(w, model, herd->first);
	weft__find(findings, &problem, (uint64_t)herd->times * herd->worst.back, &s);
}

void weft__find_herds(struct weft__findings *findings)
{
	const struct weft_story *story = findings->story;
	uint32_t found = 0;
	if (!story->model->summary.by_event[WEFT_EVENT_SIGNAL])
		return;
	for (uint32_t task = 0; task < story->model->tasks.count && found < FOUND_MAX; task++) {
		struct weft__edge_list to = weft__edges_to(story, task);
		if (to.count < HERD_MIN * TIMES_MIN)
			continue;
		struct herd herd = look_at(story, to);
		if (herd.times < TIMES_MIN)
			continue;
		add_herd(findings, task, &herd);
		found++;
	}
}
