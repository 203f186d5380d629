/* SPDX-License-Identifier: ISC
 *
 * Tests the rules in a listener of the state, which is called when a counter changes and when tasks
 * begin or cease to wait or run.
 *
 * Rules about durations are tested when time passes, and once more before the event that ends the
 * wait or run. So a rule can fire while the wait or run lasts, and fires even if it ended between
 * two calls of weft_triggers_pass.
 */
#include "trigger/triggers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "base/number.h"

static void copy_text(char *to, size_t size, struct weft_slice from)
{
	size_t copied = from.size < size ? from.size : size - 1;
	if (copied)
		memcpy(to, from.bytes, copied);
	to[copied] = '\0';
}

/* The first rule that fires becomes the alert of a snapshot; those after it are counted. */
static void fire(struct weft_triggers *t, unsigned rule, uint64_t time_ns, uint64_t task,
	struct weft_slice value)
{
	if (t->fired++)
		return;
	t->first_fired = rule;
	t->alert = (struct weft_trace_alert){.time_ns = time_ns, .task = task};
	if (time_ns == t->event_ns)
		t->alert.ticks = t->event_ticks;
	copy_text(t->alert.rule, sizeof(t->alert.rule),
		(struct weft_slice){t->rules[rule].text, t->rules[rule].size});
	copy_text(t->alert.value, sizeof(t->alert.value), value);
}

static bool has_part(struct weft_slice text, struct weft_slice part)
{
	for (size_t at = 0; at + part.size <= text.size; at++)
		if (memcmp(text.bytes + at, part.bytes, part.size) == 0)
			return true;
	return false;
}

static bool is_same(struct weft_slice a, struct weft_slice b)
{
	return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

/* ---- Counters and tags ---- */

bool weft__trigger_holds(const struct rule *rule, struct weft_number value)
{
	bool above = rule->type == RULE_ABOVE;
	if (!value.is_real)
		return above ? value.integer > rule->limit : value.integer < rule->limit;
	if (rule->or_equal && value.real == rule->real)
		return true;
	return above ? value.real > rule->real : value.real < rule->real;
}

static void fire_counter(struct weft_triggers *t, unsigned rule, struct weft_number value)
{
	char text[WEFT__NUMBER_BYTES];
	if (value.is_real)
		weft__number_general(value.real, 6, text);
	else
		snprintf(text, sizeof(text), "%" PRIi64, value.integer);
	fire(t, rule, t->event_ns, t->event_task, (struct weft_slice){text, strlen(text)});
}

/* A rule fires once when its condition becomes true, not again while it stays true. */
static int on_sample(void *triggers, uint32_t counter, uint32_t task)
{
	struct weft_triggers *t = triggers;
	uint32_t name = t->state.counters.name[counter];
	(void)task;
	for (unsigned i = 0; i < t->count; i++) {
		struct rule *rule = &t->rules[i];
		if (rule->type > RULE_BELOW || rule->counter != name)
			continue;
		bool held = rule->holds;
		struct weft_number value = weft__model_state_number(&t->state, counter);
		rule->holds = weft__trigger_holds(rule, value);
		if (rule->holds && !held)
			fire_counter(t, i, value);
	}
	return 0;
}

/* The program says what the value is: no change, so that no rule fires. */
static int on_total(void *triggers, uint32_t counter)
{
	struct weft_triggers *t = triggers;
	uint32_t name = t->state.counters.name[counter];
	for (unsigned i = 0; i < t->count; i++)
		if (t->rules[i].type <= RULE_BELOW && t->rules[i].counter == name)
			t->rules[i].holds =
				weft__trigger_holds(&t->rules[i], weft__model_state_number(&t->state, counter));
	return 0;
}

void weft__trigger_test_tag(struct weft_triggers *t, const struct weft_event *event)
{
	for (unsigned i = 0; i < t->count; i++) {
		const struct rule *rule = &t->rules[i];
		if ((rule->type == RULE_TAG_IS && is_same(rule->name, event->text)) ||
			(rule->type == RULE_TAG && has_part(event->text, rule->name)))
			fire(t, i, event->time_ns, event->task, event->text);
	}
}

/* ---- Times ---- */

static bool concerns(const struct weft_triggers *t, const struct rule *rule, uint32_t task)
{
	const struct weft__state_tasks *tasks = &t->state.tasks;
	bool has_kind = tasks->flags[task] & (WEFT_TASK_CREATED | WEFT_TASK_FROM_RUNDOWN);
	if (rule->has_kind && (!has_kind || tasks->kind[task] != rule->kind))
		return false;
	return !rule->label.bytes || has_part(t->waiters.list[task].label, rule->label);
}

/* Each rule fires at most once for a wait or a run. */
static void test(struct weft_triggers *t, enum rule_type type, uint32_t task, uint64_t since_ns,
	uint64_t now_ns, uint64_t *tested)
{
	for (unsigned i = 0; i < t->count; i++) {
		const struct rule *rule = &t->rules[i];
		bool is_over = now_ns > since_ns && now_ns - since_ns > (uint64_t)rule->limit;
		if (rule->type != type || *tested >> i & 1 || !is_over)
			continue;
		*tested |= (uint64_t)1 << i;
		if (concerns(t, rule, task))
			fire(t, i, since_ns + (uint64_t)rule->limit, t->identities.id[task],
				(struct weft_slice){NULL, 0});
	}
}

static void test_wait(struct weft_triggers *t, uint32_t index, uint64_t now_ns)
{
	struct weft__waiter *waiter = &t->waiters.list[index];
	test(t, RULE_WAITS, index, waiter->since_ns, now_ns, &waiter->tested);
}

static void test_run(struct weft_triggers *t, struct weft__runner *runner, uint64_t now_ns)
{
	if (runner->task != WEFT_NONE)
		test(t, RULE_RUNS, runner->task, runner->since_ns, now_ns, &runner->tested);
}

/* The longest waits come first, so the first that is shorter than all limits ends the walk. */
WEFT__EXPORT void weft_triggers_pass(struct weft_triggers *t, uint64_t now_ns)
{
	int64_t least = INT64_MAX;
	weft__model_state_pass(&t->state, now_ns);
	for (unsigned i = 0; i < t->count; i++)
		if (t->rules[i].type == RULE_WAITS && t->rules[i].limit < least)
			least = t->rules[i].limit;
	for (uint32_t task = t->waiters.first; task != WEFT_NONE; task = t->waiters.list[task].after) {
		uint64_t since_ns = t->waiters.list[task].since_ns;
		if (now_ns < since_ns || now_ns - since_ns <= (uint64_t)least)
			break;
		if (weft__model_state_waits(&t->state, task))
			test_wait(t, task, now_ns);
	}
	for (size_t i = 0; i < t->runner_count; i++)
		test_run(t, &t->runners[i], now_ns);
}

static int on_mention(void *triggers, uint32_t task)
{
	struct weft_triggers *t = triggers;
	(void)task;
	return weft__trigger_waiters_add(&t->waiters);
}

static void on_wait(void *triggers, uint32_t task)
{
	struct weft_triggers *t = triggers;
	weft__trigger_waiters_begin(&t->waiters, task, t->state.now);
}

static void on_wake(void *triggers, uint32_t task, uint64_t woken_ns)
{
	struct weft_triggers *t = triggers;
	test_wait(t, task, woken_ns);
	weft__trigger_waiters_end(&t->waiters, task);
}

/* Rules test the first label of a task. */
static int on_note(
	void *triggers, enum weft_note_type type, uint32_t task, uint32_t text, int64_t value)
{
	struct weft_triggers *t = triggers;
	(void)text;
	(void)value;
	if (type != WEFT_NOTE_LABEL || task == WEFT_NONE)
		return 0;
	return weft__trigger_waiters_label(&t->waiters, task, t->event->text);
}

/* Tests the run that ends; the next run of the thread is measured from now on. A task that has
 * ended, or WEFT_NONE, does not run. */
static void begin_run(struct weft_triggers *t, struct weft__runner *runner, uint32_t task)
{
	bool lives = task != WEFT_NONE && !(t->state.tasks.flags[task] & WEFT_TASK_RESOLVED);
	test_run(t, runner, t->state.now);
	*runner = (struct weft__runner){.task = lives ? task : WEFT_NONE, .since_ns = t->state.now};
}

static int reserve_runner(struct weft_triggers *t, uint32_t thread)
{
	if (thread < t->runner_count)
		return 0;
	size_t count = weft__array_next_capacity(t->runner_count, thread + (size_t)1);
	int error = weft__array_resize(&t->runners, count, sizeof(*t->runners));
	while (!error && t->runner_count < count)
		t->runners[t->runner_count++] = (struct weft__runner){.task = WEFT_NONE};
	return error;
}

static int on_run(void *triggers, uint32_t thread)
{
	struct weft_triggers *t = triggers;
	uint32_t task = t->state.threads[thread].running;
	int error = reserve_runner(t, thread);
	if (error)
		return error;
	task = task < WEFT__RUNS_UNKNOWN ? weft__model_state_forward(&t->state, task) : WEFT_NONE;
	if (task != WEFT_NONE && weft__model_state_waits(&t->state, task))
		test_wait(t, task, t->state.now); /* it may have been woken, or goes on after a poll */
	begin_run(t, &t->runners[thread], task);
	return 0;
}

/* If the task becomes another, the run of that one is measured from now on. */
static void on_end(void *triggers, uint32_t task, uint32_t becomes)
{
	struct weft_triggers *t = triggers;
	for (size_t i = 0; i < t->runner_count; i++)
		if (t->runners[i].task == task)
			begin_run(t, &t->runners[i], becomes);
}

const struct weft__listener weft__trigger_listener = {
	.mention = on_mention,
	.wait = on_wait,
	.wake = on_wake,
	.end = on_end,
	.note = on_note,
	.sample = on_sample,
	.total = on_total,
	.run = on_run,
};
