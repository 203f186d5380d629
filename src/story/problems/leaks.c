/* SPDX-License-Identifier: ISC
 *
 * Counters of things that are taken and not all given back. The floor of such a counter rises from
 * wave to wave: each wave of work leaves some. Its height says less, because the waves may be far
 * higher than what they leave; and its last value says nothing if the program gives all back when
 * it closes down. So the counter is read until its last fall begins.
 *
 * In a trace of many waves, the floor of each part of the trace is compared. If there are few, each
 * of them has to leave something, and to be followed by a rest.
 *
 * And children that have ended, and for which their process does not wait: each keeps its place in
 * the system's table of processes. Where it waits for their signal, although all have ended, it has
 * taken one signal for several of them, or none.
 *
 * And listeners, of which node itself says that they are too many.
 */
#include <inttypes.h>
#include <string.h>

#include <weft/ends.h>

#include "story/problems/findings.h"
#include "story/problems/leaks.h"
#include "story/problems/outside.h"

#define CHILDREN_MANY 8

#define PARTS     8
#define FALLS_MIN 32 /* of a counter with many waves */
#define STEPS_MIN 4  /* parts, but for the first two, whose floor is higher than that before */
#define RISE_PART 8  /* the floor rises by 1 / RISE_PART of the counter's range or more */
#define WAVES_MIN 3  /* of a counter with few waves; … */
#define HIGH_PART 4  /* … a wave is 1 / HIGH_PART of the range high, … */
#define REST_MIN  4  /* … and the rest after it as long as so many mean times between changes */

/* The course of a counter, perhaps without its last fall. */
struct course {
	const struct weft_model *model;
	const struct weft_counter *counter;
	uint32_t first, end; /* samples */
	double lowest, range;
	double floor; /* the last one of the floors that rise */
};

static double value_of(const struct course *c, uint32_t sample)
{
	return weft_counter_value(c->model, c->counter, sample);
}

static struct course course_of(const struct weft_model *model, const struct weft_counter *counter)
{
	return (struct course){
		.model = model,
		.counter = counter,
		.first = counter->first,
		.end = counter->first + counter->count,
		.lowest = counter->min.real,
		.range = counter->max.real - counter->min.real,
	};
}

/* True if nothing changes for long after a sample. */
static bool is_rest(const struct course *c, uint32_t sample)
{
	const uint64_t *time = c->model->samples.time;
	const uint64_t mean = (time[c->end - 1] - time[c->first]) / (c->end - c->first);
	return sample + 1 >= c->end || (time[sample + 1] - time[sample]) / REST_MIN >= mean;
}

/* Drops the last fall, until a rest or a rise before it: perhaps the program closes down. */
static void drop_last_fall(struct course *c)
{
	uint32_t i = c->end - 1;
	while (i > c->first && value_of(c, i - 1) > value_of(c, i) && !is_rest(c, i - 1))
		i--;
	c->end = i > c->first && value_of(c, i - 1) > value_of(c, i) ? i : i + 1;
}

/* ---- Many waves ---- */

static bool has_rising_floor(struct course *c)
{
	const uint64_t *time = c->model->samples.time;
	const uint64_t start = time[c->first], part_ns = (time[c->end - 1] - start) / PARTS + 1;
	double floor[PARTS], value = value_of(c, c->first);
	uint32_t sample = c->first, falls = 0, steps = 0;
	for (uint32_t part = 0; part < PARTS; part++) {
		floor[part] = value;
		for (; sample < c->end && time[sample] - start < (part + 1) * part_ns; sample++) {
			double next = value_of(c, sample);
			falls += next < value;
			value = next;
			floor[part] = value < floor[part] ? value : floor[part];
		}
		if (part >= 2 && floor[part] < floor[part - 1])
			return false;
		steps += part >= 2 && floor[part] > floor[part - 1];
	}
	if (floor[PARTS - 1] <= floor[PARTS - 2])
		return false; /* a cache or a pool that has filled up */
	c->floor = floor[PARTS - 1];
	return falls >= FALLS_MIN && steps >= STEPS_MIN && c->floor - floor[1] >= c->range / RISE_PART;
}

/* ---- Few waves ---- */

/* Follows the waves: each rises and falls by `high` or more, rests, and leaves more than the one
 * before. */
static bool has_rising_valleys(struct course *c)
{
	const double high = c->range / HIGH_PART;
	double peak = c->lowest, valley = c->lowest, last = c->lowest;
	uint32_t lowest = c->first, waves = 0;
	bool falls = false;
	for (uint32_t i = c->first; i < c->end; i++) {
		double value = value_of(c, i);
		if (!falls) {
			peak = value > peak ? value : peak;
			falls = value <= peak - high && peak - valley >= high;
			valley = falls ? value : valley < value ? valley : value;
			lowest = i;
		} else if (value <= valley) {
			valley = value;
			lowest = i;
		}
		if (!falls || (i + 1 < c->end && value < valley + high))
			continue;
		if (valley <= last || !is_rest(c, lowest))
			return false;
		waves++;
		last = c->floor = valley;
		peak = value;
		falls = false;
	}
	return waves >= WAVES_MIN;
}

static bool is_leak(struct course *c)
{
	if (c->end - c->first < 2 * WAVES_MIN || !(c->range > 0))
		return false;
	return has_rising_floor(c) || has_rising_valleys(c);
}

/* ---- The report ---- */

/* The number left when the course ends: its last value after a fall, else its floor. */
static double left_by(const struct course *c)
{
	const uint32_t last = c->end - 1;
	return value_of(c, last) < value_of(c, last - 1) ? value_of(c, last) : c->floor;
}

static void add_number(struct weft__words *words, double value)
{
	weft__story_words_add_real(words, value, 6);
}

static void report_leak(struct weft__findings *findings, uint32_t number, const struct course *c)
{
	const uint64_t *time = c->model->samples.time;
	const uint32_t last = c->counter->first + c->counter->count - 1;
	const double left = value_of(c, last);
	const bool is_hidden = left < c->floor;
	/* A program that gives all back in the end may have kept it on purpose. */
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_LEAK,
		is_hidden ? WEFT_SEVERITY_HINT : WEFT_SEVERITY_WARNING, 1,
		(struct weft__case){c->model->samples.task[c->end - 1], time[c->first], time[c->end - 1]});
	problem.counter = number;
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 9);
	weft__story_words_add_text(w, weft_model_string(c->model, c->counter->name), 40);
	weft__story_words_add(w, " is not all given back");
	if (!c->counter->is_relative) { /* else the number is not known */
		weft__story_words_add(w, ": ");
		add_number(w, is_hidden ? left_by(c) : left);
		weft__story_words_add(w, is_hidden ? " were left before the end" : " are left at the end");
	}
	w = weft__story_clause(&s, 7);
	weft__story_words_add(w, "; its floor rises from wave to wave");
	weft__story_find(findings, &problem, c->counter->count, &s);
}

bool weft__story_look_for_leak(struct weft__findings *findings, uint32_t number)
{
	const struct weft_model *model = findings->story->model;
	struct course c = course_of(model, &model->counters[number]);
	const uint32_t end = c.end;
	if (!is_leak(&c)) {
		drop_last_fall(&c);
		if (c.end == end || !is_leak(&c))
			return false;
	}
	report_leak(findings, number, &c);
	return true;
}

/* ---- Children ---- */

/* The last tag of a process's first task that counts such children, or the task's last note + 1.
 * `*ret_since`: since when there are any. */
static uint32_t last_count(const struct weft_model *m, uint32_t task, uint64_t *ret_since)
{
	uint32_t last = m->tasks.end_note[task];
	for (uint32_t note = m->tasks.first_note[task]; note < m->tasks.end_note[task]; note++) {
		if (!weft__story_is_tag(m, note, WEFT_TAG_UNREAPED))
			continue;
		if (last == m->tasks.end_note[task] || m->notes.value[last] == 0)
			*ret_since = m->notes.time[note];
		last = note;
	}
	return last;
}

#define LONG_NS (500 * WEFT__MS)

/* True if the last such tag of the task has that value. */
static bool is_last_tag(const struct weft_model *m, uint32_t task, const char *tag, int64_t value)
{
	uint32_t note = m->tasks.end_note[task];
	while (note > m->tasks.first_note[task] && !weft__story_is_tag(m, note - 1, tag))
		note--;
	return note > m->tasks.first_note[task] && m->notes.value[note - 1] == value;
}

/* The signal for which the task waits to its end although all children of its process have ended,
 * as a note says: no other child can send one. WEFT_NONE: it does not. Another thread may have seen
 * them end while the task waited, so the signal may be about to come. */
static uint32_t awaited_signal(const struct weft__findings *findings, uint32_t task, uint32_t note)
{
	const struct weft_model *m = findings->story->model;
	const uint64_t end = m->tasks.end[task];
	struct weft_story_wait wait;
	if (!end || !is_last_tag(m, task, WEFT_TAG_CHILDREN, m->notes.value[note]) ||
		!weft_story_wait_at(findings->story, task, end - 1, &wait) || wait.source == WEFT_NONE ||
		end - wait.since < LONG_NS || end - m->notes.time[note] < LONG_NS ||
		!weft__story_is_for_signals(m, wait.source))
		return WEFT_NONE;
	return wait.source;
}

/* True if the text has the name of the signal of ended children. */
static bool is_about_children(struct weft_slice text)
{
	static const char name[] = "SIGCHLD";
	const size_t size = sizeof(name) - 1;
	for (size_t at = 0; at + size <= text.size; at++)
		if (memcmp(text.bytes + at, name, size) == 0)
			return true;
	return false;
}

static bool has_got_signal(const struct weft_model *m, uint32_t task)
{
	for (uint32_t note = m->tasks.first_note[task]; note < m->tasks.end_note[task]; note++)
		if (m->notes.type[note] == WEFT_NOTE_TEXT &&
			is_about_children(weft_model_string(m, m->notes.text[note])))
			return true;
	return false;
}

/* True if the task has got that signal by a handler or a signalfd, also in a call that waited. */
static bool handles_children(const struct weft_model *m, uint32_t task, uint32_t awaited)
{
	for (uint32_t call = 0; call < m->tasks.count; call++)
		if ((call == task || call == awaited || m->tasks.parent[call] == task) &&
			has_got_signal(m, call))
			return true;
	return false;
}

static enum weft_problem_severity severity_of_children(
	const struct weft_model *m, uint32_t task, int64_t count, uint32_t awaited)
{
	if (awaited != WEFT_NONE && m->tasks.label[awaited] != WEFT_NONE &&
		is_about_children(weft_model_string(m, m->tasks.label[awaited])))
		return WEFT_SEVERITY_ERROR;
	const bool is_lost = awaited != WEFT_NONE && handles_children(m, task, awaited);
	return is_lost || count >= CHILDREN_MANY ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT;
}

static void report_children(
	struct weft__findings *findings, uint32_t task, uint64_t since, uint32_t note)
{
	const struct weft_model *m = findings->story->model;
	const int64_t count = m->notes.value[note];
	const uint32_t awaited = awaited_signal(findings, task, note);
	struct weft_problem problem =
		weft__story_problem(WEFT_PROBLEM_LEAK, severity_of_children(m, task, count, awaited),
			(uint32_t)count, (struct weft__case){task, since, weft__story_record_end(m, task)});
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 9);
	weft__story_words_add_number(w, (uint64_t)count);
	weft__story_words_add(w, count == 1 ? " child of " : " children of ");
	weft__story_words_add_subject(w, m, task, 32);
	weft__story_words_add(w, count == 1 ? " has ended and was" : " have ended and were");
	weft__story_words_add(w, " not waited for");
	w = weft__story_clause(&s, 5);
	weft__story_words_add(w, " by ");
	weft__story_words_add_time(w, m, m->notes.time[note]);
	w = weft__story_clause(&s, 7);
	if (awaited == WEFT_NONE) {
		weft__story_words_add(
			w, count == 1 ? ": nobody takes its exit status" : ": nobody takes their exit status");
	} else {
		weft__story_words_add(w, "; it waits for ");
		weft__story_words_add_task(w, m, awaited, 24);
		weft__story_words_add(weft__story_clause(&s, 6), ", and has no other child");
	}
	weft__story_find(findings, &problem, (uint64_t)count, &s);
}

void weft__story_find_unreaped(struct weft__findings *findings)
{
	const struct weft_model *m = findings->story->model;
	for (uint32_t task = 0; task < m->tasks.count; task++) {
		uint64_t since = 0;
		if (m->tasks.kind[task] != WEFT_KIND_THREAD)
			continue;
		const uint32_t note = last_count(m, task, &since);
		if (note < m->tasks.end_note[task] && m->notes.value[note] > 0)
			report_children(findings, task, since, note);
	}
}

/* ---- Listeners ---- */

static void report_listeners(struct weft__findings *findings, uint32_t warning)
{
	const struct weft_tasks *t = &findings->story->model->tasks;
	const uint32_t by = t->parent[warning] == WEFT_NONE ? warning : t->parent[warning];
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_LEAK, WEFT_SEVERITY_WARNING, 1,
		(struct weft__case){by, t->start[warning], t->end[warning]});
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 9);
	weft__story_words_add_subject(w, findings->story->model, by, 32);
	weft__story_words_add(w, " adds ever more listeners to an object, as ");
	weft__story_words_add_task(w, findings->story->model, warning, 110);
	weft__story_words_add(w, " says");
	weft__story_find(findings, &problem, 1, &s);
}

void weft__story_find_listeners(struct weft__findings *findings)
{
	const struct weft_model *m = findings->story->model;
	uint32_t kind = WEFT_NONE;
	bool is_warning = false;
	for (uint32_t task = 0; task < m->tasks.count; task++) {
		if (m->tasks.kind[task] != kind) {
			kind = m->tasks.kind[task];
			is_warning = weft__story_is_kind(m, task, "warning");
		}
		if (is_warning && weft__story_label_begins(m, task, "MaxListenersExceeded"))
			report_listeners(findings, task);
	}
}
