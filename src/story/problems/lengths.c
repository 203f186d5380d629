/* SPDX-License-Identifier: ISC
 *
 * The length of a queue is a counter with a name such as "items in Queue at chat.py:12". It climbs
 * because the tasks that take out do not keep up with others that put in: for a good part of the
 * trace, although something is taken all along. A queue that is filled at once is none; nor is one
 * that grows because tasks put more in for what they take out, as where they follow links.
 *
 * If the queue is empty in the end, it was perhaps meant to hold so much, unless it grew long.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "story/problems/lengths.h"

#define BEGIN       "items in "
#define LENGTH_MIN  32
#define CLIMB_SHARE 4 /* it climbs for 1 / share of the trace */
#define TAKEN_MIN   4
#define PARTS       8   /* in each of which it is never as short as in the one before */
#define LONG        100 /* items, … */
#define FASTER      2   /* … put in so many times as fast as they are taken */

struct length_course {
	const struct weft_model *model;
	const struct weft_counter *counter;
	uint32_t peak;                /* the sample of the longest queue */
	uint32_t put, taken, by_both; /* until then; rises by tasks that also take */
	uint32_t taker;               /* the task that takes most, or WEFT_NONE */
};

static double value_of(const struct length_course *c, uint32_t sample)
{
	return weft_counter_value(c->model, c->counter, sample);
}

static bool is_put(const struct length_course *c, uint32_t sample)
{
	return value_of(c, sample) > value_of(c, sample - 1);
}

static void find_peak(struct length_course *c)
{
	c->peak = c->counter->first;
	for (uint32_t i = c->counter->first; i < c->counter->first + c->counter->count; i++)
		if (value_of(c, i) > value_of(c, c->peak))
			c->peak = i;
}

/* Counts what is put in and taken, and by whom. 0 or WEFT_ERROR_MEMORY. */
static int count_changes(struct length_course *c)
{
	const uint32_t *task = c->model->samples.task;
	bool *takes = calloc(c->model->tasks.count + (size_t)1, sizeof(*takes));
	uint32_t lead = 0;
	if (!takes)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = c->counter->first + 1; i <= c->peak; i++) {
		if (is_put(c, i) || task[i] == WEFT_NONE)
			continue;
		takes[task[i]] = true;
		if (!lead)
			c->taker = task[i];
		lead += c->taker == task[i] ? 1 : -1u;
	}
	for (uint32_t i = c->counter->first + 1; i <= c->peak; i++) {
		c->taken += !is_put(c, i);
		c->put += is_put(c, i);
		c->by_both += is_put(c, i) && (task[i] == WEFT_NONE || takes[task[i]]);
	}
	free(takes);
	return 0;
}

static bool rises_all_along(const struct length_course *c)
{
	const uint64_t *time = c->model->samples.time;
	const uint64_t start = time[c->counter->first], length = (time[c->peak] - start) / PARTS + 1;
	double before = -1, value = value_of(c, c->counter->first);
	uint32_t sample = c->counter->first;
	for (uint32_t part = 0; part < PARTS; part++) {
		double floor = value;
		for (; sample <= c->peak && time[sample] - start < (part + 1) * length; sample++) {
			value = value_of(c, sample);
			floor = value < floor ? value : floor;
		}
		if (floor <= before)
			return false;
		before = floor;
	}
	return true;
}

static bool climbs(const struct length_course *c)
{
	const uint64_t *time = c->model->samples.time;
	const uint64_t climb = time[c->peak] - time[c->counter->first];
	const uint64_t length = c->model->summary.end - c->model->summary.start;
	return value_of(c, c->peak) >= LENGTH_MIN && climb >= length / CLIMB_SHARE &&
		   c->taken >= TAKEN_MIN && c->by_both < c->put / 2 && rises_all_along(c);
}

/* How many items were in it when it was last used. They are freed at once with the queue. */
static double left_in(const struct length_course *c)
{
	uint32_t last = c->counter->first + c->counter->count - 1;
	while (last > c->peak && value_of(c, last) < value_of(c, last - 1) - 1)
		last--;
	return value_of(c, last);
}

static void report(struct weft__findings *findings, uint32_t number, const struct length_course *c)
{
	const uint64_t *time = c->model->samples.time;
	const uint32_t first = c->counter->first;
	const double most = value_of(c, c->peak), left = left_in(c);
	const bool is_left = left >= most / 2;
	const bool is_fast = most >= LONG && c->put >= FASTER * c->taken;
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_CLIMBING,
		is_left || is_fast ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT, 1,
		(struct weft__case){c->taker, time[first], time[c->peak]});
	problem.counter = number;
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 6);
	weft__story_words_add_text(w, weft_model_string(c->model, c->counter->name), 40);
	weft__story_words_add(w, " pile up, from ");
	weft__story_words_add_real(w, value_of(c, first), 6);
	weft__story_words_add(w, " to ");
	weft__story_words_add_real(w, most, 6);
	w = weft__story_clause(&s, 3);
	weft__story_words_add(w, " in ");
	weft__story_words_add_length(w, problem.end - problem.start);
	w = weft__story_clause(&s, 5);
	weft__story_words_add(w, "; ");
	if (c->taker == WEFT_NONE)
		weft__story_words_add(w, "others take");
	else
		weft__story_words_add_task(w, c->model, c->taker, 28);
	weft__story_words_add(w, "%s %" PRIu32 " of ", c->taker == WEFT_NONE ? "" : " takes", c->taken);
	weft__story_words_add_real(w, value_of(c, first) + c->put, 6);
	if (is_left) {
		w = weft__story_clause(&s, 4);
		weft__story_words_add(w, "; ");
		weft__story_words_add_real(w, left, 6);
		weft__story_words_add(w, " are never taken");
	}
	weft__story_find(findings, &problem, c->counter->count, &s);
}

bool weft__story_look_at_length(struct weft__findings *findings, uint32_t number)
{
	const struct weft_model *model = findings->story->model;
	struct length_course c = {
		.model = model, .counter = &model->counters[number], .taker = WEFT_NONE};
	const struct weft_slice name = weft_model_string(model, c.counter->name);
	if (name.size < sizeof(BEGIN) || memcmp(name.bytes, BEGIN, sizeof(BEGIN) - 1) != 0)
		return false;
	find_peak(&c);
	const int error = count_changes(&c);
	if (error)
		findings->error = error;
	else if (climbs(&c))
		report(findings, number, &c);
	return true;
}
