/* SPDX-License-Identifier: ISC
 *
 * Counters that climb from one end of the trace to the other. A counter that falls now and then,
 * but to a rising floor, counts things that are kept and not given back; one that never falls is a
 * total, and not reported. Also reported is a counter that falls now and then, and from some time
 * on is above all earlier values and rises from part to part: its consumer no longer keeps up.
 */
#include <inttypes.h>

#include "story/problems/findings.h"
#include "story/problems/leaks.h"
#include "story/problems/lengths.h"

#define PARTS       8
#define SAMPLES_MIN 8
#define FOUND_MAX   20
#define LATE_PARTS  3 /* minimum number of parts at the trace's end in which a late one climbs */
#define FAR_ABOVE   2 /* ratio to the highest value before */

struct climb {
	double floor[PARTS], top[PARTS]; /* lowest and highest value in each part of the trace */
	bool rises[PARTS];               /* the part's highest value exceeds all before */
	uint32_t falls;
};

static uint32_t part_of(const struct weft_model *model, uint64_t time)
{
	uint64_t length = model->summary.end - model->summary.start, past = time - model->summary.start;
	uint64_t part = length / PARTS ? past / (length / PARTS) : 0;
	return part < PARTS ? (uint32_t)part : PARTS - 1;
}

static struct climb look_at_counter(
	const struct weft_model *model, const struct weft_counter *counter)
{
	const uint64_t *time = model->samples.time;
	struct climb climb = {0};
	double value = weft_counter_value(model, counter, counter->first), highest = value;
	uint32_t sample = counter->first, end = counter->first + counter->count;
	for (uint32_t part = 0; part < PARTS; part++) {
		climb.floor[part] = climb.top[part] = value;
		for (; sample < end && part_of(model, time[sample]) <= part; sample++) {
			double next = weft_counter_value(model, counter, sample);
			climb.falls += next < value;
			value = next;
			if (value < climb.floor[part])
				climb.floor[part] = value;
			if (value > climb.top[part])
				climb.top[part] = value;
			if (value > highest) {
				highest = value;
				climb.rises[part] = true;
			}
		}
	}
	return climb;
}

/* True if it reaches new maxima in all parts of the trace but one or two. */
static bool keeps_rising(const struct climb *climb)
{
	unsigned rising = 0;
	for (int part = 0; part < PARTS; part++)
		rising += climb->rises[part];
	return rising >= PARTS - 2 && climb->rises[PARTS - 1];
}

/* True if the floor rises, and is finally at least half of the value. */
static bool has_rising_floor(const struct climb *climb, const struct weft_counter *counter)
{
	for (int part = 2; part < PARTS; part++)
		if (climb->floor[part] < climb->floor[part - 1])
			return false;
	double range = counter->max.real - climb->floor[1];
	return climb->floor[PARTS - 1] - climb->floor[1] >= range / 2;
}

/* True if it climbs only in the last parts; `ret_before`: its maximum until then. */
static bool climbs_late(const struct climb *climb, double *ret_before)
{
	int part = PARTS - 1;
	while (part > 0 && climb->floor[part] > climb->top[part - 1] / 2 &&
		   climb->floor[part] > climb->floor[part - 1] && climb->top[part] > climb->top[part - 1])
		part--;
	if (part == 0 || PARTS - 1 - part < LATE_PARTS || !climb->falls)
		return false;
	*ret_before = climb->top[0];
	for (int i = 1; i < part; i++)
		*ret_before = climb->top[i] > *ret_before ? climb->top[i] : *ret_before;
	double last = climb->floor[PARTS - 1];
	return last > 0 && last / FAR_ABOVE >= *ret_before;
}

/* The last sample of a counter up to `value`; the first one if all are higher. */
static uint32_t last_below(
	const struct weft_model *model, const struct weft_counter *counter, double value)
{
	uint32_t sample = counter->first + counter->count - 1;
	while (sample > counter->first && weft_counter_value(model, counter, sample) > value)
		sample--;
	return sample;
}

/* Appends how far it rises from one of its samples to its last, and in which time. */
static void write_course(struct weft__sentence *s, const struct weft_model *model,
	const struct weft_counter *counter, uint32_t first, const struct weft_problem *problem)
{
	char from[32], to[32];
	uint32_t last = counter->first + counter->count - 1;
	weft_counter_format(counter, weft_counter_number(model, counter, first), from, sizeof(from));
	weft_counter_format(counter, weft_counter_number(model, counter, last), to, sizeof(to));
	weft__story_words_add(weft__story_clause(s, 3), ": from %s to %s", from, to);
	struct weft__words *w = weft__story_clause(s, 2);
	weft__story_words_add(w, " in ");
	weft__story_words_add_length(w, problem->end - problem->start);
}

/* Makes the problem from one of its samples to its last. */
static struct weft_problem climb_from(const struct weft_model *model, uint32_t number,
	uint32_t first, enum weft_problem_severity severity)
{
	const struct weft_counter *counter = &model->counters[number];
	uint32_t last = counter->first + counter->count - 1;
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_CLIMBING, severity, 1,
		(struct weft__case){
			model->samples.task[last], model->samples.time[first], model->samples.time[last]});
	problem.counter = number;
	return problem;
}

static struct weft__words *begin_sentence(
	struct weft__sentence *s, const struct weft_model *model, const struct weft_counter *counter)
{
	weft__story_sentence_init(s);
	struct weft__words *w = weft__story_clause(s, 4);
	weft__story_words_add_text(w, weft_model_string(model, counter->name), 40);
	return w;
}

static void add_late(struct weft__findings *findings, uint32_t number, double before)
{
	const struct weft_model *model = findings->story->model;
	const struct weft_counter *counter = &model->counters[number];
	uint32_t first = last_below(model, counter, before);
	struct weft_problem problem = climb_from(model, number, first, WEFT_SEVERITY_WARNING);
	problem.show_start = model->summary.start;
	problem.show_end = model->summary.end;
	struct weft__sentence s;
	struct weft__words *w = begin_sentence(&s, model, counter);
	weft__story_words_add(w, " climbs from ");
	weft__story_words_add_time(w, model, problem.start);
	weft__story_words_add(w, " on");
	write_course(&s, model, counter, first, &problem);
	weft__story_find(findings, &problem, (uint64_t)counter->count, &s);
}

static void add_climb(struct weft__findings *findings, uint32_t number)
{
	const struct weft_model *model = findings->story->model;
	const struct weft_counter *counter = &model->counters[number];
	struct weft_problem problem = climb_from(model, number, counter->first, WEFT_SEVERITY_WARNING);
	struct weft__sentence s;
	weft__story_words_add(begin_sentence(&s, model, counter), " keeps climbing");
	write_course(&s, model, counter, counter->first, &problem);
	weft__story_words_add(weft__story_clause(&s, 1), ", and falls less and less far");
	weft__story_find(findings, &problem, (uint64_t)counter->count, &s);
}

void weft__find_climbing(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	uint32_t found = 0;
	for (uint32_t i = 0; i < model->counter_count && found < FOUND_MAX; i++) {
		const struct weft_counter *counter = &model->counters[i];
		if (counter->count < SAMPLES_MIN || weft__story_look_at_length(findings, i))
			continue;
		struct climb climb = look_at_counter(model, counter);
		double before;
		if (keeps_rising(&climb) && climb.falls && has_rising_floor(&climb, counter))
			add_climb(findings, i);
		else if (climbs_late(&climb, &before))
			add_late(findings, i, before);
		else if (!weft__story_look_for_leak(findings, i))
			continue;
		found++;
	}
	weft__story_find_unreaped(findings);
	weft__story_find_listeners(findings);
}
