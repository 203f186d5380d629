/* SPDX-License-Identifier: ISC
 *
 * Counters that climb from one end of the trace to the other. One that falls now and then, but to a
 * floor that rises, counts something that is kept and not given back; one that never falls may
 * simply be a total.
 */
#include <inttypes.h>

#include "story/problems.h"

#define PARTS       8
#define SAMPLES_MIN 8
#define FOUND_MAX   20

struct climb {
	int64_t floor[PARTS]; /* lowest value in each part of the trace */
	bool rises[PARTS];    /* its highest is higher than all before */
	uint32_t falls;
	int64_t first, last;
};

static uint32_t part_of(const struct weft_model *model, uint64_t time)
{
	uint64_t length = model->summary.end - model->summary.start, past = time - model->summary.start;
	uint64_t part = length / PARTS ? past / (length / PARTS) : 0;
	return part < PARTS ? (uint32_t)part : PARTS - 1;
}

static struct climb look_at(const struct weft_model *model, const struct weft_counter *counter)
{
	const struct weft_samples *s = &model->samples;
	struct climb climb = {.first = s->value[counter->first]};
	int64_t value = climb.first, highest = value;
	uint32_t sample = counter->first, end = counter->first + counter->count;
	for (uint32_t part = 0; part < PARTS; part++) {
		climb.floor[part] = value;
		for (; sample < end && part_of(model, s->time[sample]) <= part; sample++) {
			climb.falls += s->value[sample] < value;
			value = s->value[sample];
			if (value < climb.floor[part])
				climb.floor[part] = value;
			if (value > highest) {
				highest = value;
				climb.rises[part] = true;
			}
		}
	}
	climb.last = value;
	return climb;
}

/* It reaches new heights in all parts of the trace but one or two. */
static bool keeps_rising(const struct climb *climb)
{
	unsigned rising = 0;
	for (int part = 0; part < PARTS; part++)
		rising += climb->rises[part];
	return rising >= PARTS - 2 && climb->rises[PARTS - 1];
}

/* What is never given back any more grows, and is at the end at least half of all that there is. */
static bool has_rising_floor(const struct climb *climb, const struct weft_counter *counter)
{
	for (int part = 2; part < PARTS; part++)
		if (climb->floor[part] < climb->floor[part - 1])
			return false;
	double range = (double)counter->max - (double)climb->floor[1];
	return (double)climb->floor[PARTS - 1] - (double)climb->floor[1] >= range / 2;
}

static void add_climb(struct weft__findings *findings, uint32_t number, const struct climb *climb)
{
	const struct weft_model *model = findings->story->model;
	const struct weft_counter *counter = &model->counters[number];
	uint32_t last = counter->first + counter->count - 1;
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_CLIMBING,
		.severity = climb->falls ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT,
		.count = 1,
		.start = model->samples.time[counter->first],
		.end = model->samples.time[last],
		.task = model->samples.task[last],
		.thread = WEFT_NONE,
		.counter = number,
		.edge = WEFT_NONE,
	};
	struct weft__sentence s;
	weft__sentence_init(&s);
	struct weft__words *w = weft__clause(&s, 4);
	weft__say_text(w, weft_model_string(model, counter->name), 40);
	weft__say(w, climb->falls ? " keeps climbing" : " only climbs");
	weft__say(weft__clause(&s, 3), ": from %" PRId64 " to %" PRId64, climb->first, climb->last);
	w = weft__clause(&s, 2);
	weft__say(w, " in ");
	weft__say_length(w, problem.end - problem.start);
	if (!climb->falls)
		weft__say(weft__clause(&s, 1), "; a leak, unless it is a total");
	else
		weft__say(weft__clause(&s, 1), ", and falls less and less far");
	weft__find(findings, &problem, (uint64_t)counter->count, &s);
}

void weft__find_climbing(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	uint32_t found = 0;
	for (uint32_t i = 0; i < model->counter_count && found < FOUND_MAX; i++) {
		const struct weft_counter *counter = &model->counters[i];
		if (counter->count < SAMPLES_MIN)
			continue;
		struct climb climb = look_at(model, counter);
		if (!keeps_rising(&climb) || (climb.falls && !has_rising_floor(&climb, counter)))
			continue;
		add_climb(findings, i, &climb);
		found++;
	}
}
