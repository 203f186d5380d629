/* SPDX-License-Identifier: ISC
 *
 * What each event means for the rules.
 *
 * Rules of time are looked at when time passes, and once more before the event that ends what they
 * watch: so they fire while it lasts, however seldom anybody looks, and for what was over by then.
 */
#include <weft/trigger.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "trigger/rule.h"
#include "trigger/table.h"

/* What runs on a thread. */
struct runner {
	uint64_t task; /* WEFT_TASK_NONE: nothing that is known */
	uint64_t since_ns;
	uint64_t tested;    /* a bit a rule */
	uint64_t put_aside; /* by an idle band */
	bool is_idle;
};

struct weft_triggers {
	struct rule rules[WEFT_TRIGGERS_MAX];
	unsigned count;
	bool wants_tasks; /* some rule is of time */
	struct live_tasks tasks;
	struct runner *runners;
	size_t runner_count;
	uint64_t fired;
	unsigned first_fired;
};

static void fire(struct weft_triggers *t, unsigned rule)
{
	if (t->fired++ == 0)
		t->first_fired = rule;
}

static bool has_part(struct weft_slice text, const char *part, size_t size)
{
	for (size_t at = 0; at + size <= text.size; at++)
		if (memcmp(text.bytes + at, part, size) == 0)
			return true;
	return false;
}

static bool is_same(struct weft_slice a, struct weft_slice b)
{
	return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

/* ---- Counters and tags ---- */

static int64_t add_saturating(int64_t a, int64_t b)
{
	int64_t sum;
	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b > 0 ? INT64_MAX : INT64_MIN;
}

static bool holds(const struct rule *rule)
{
	return rule->type == RULE_ABOVE ? rule->value > rule->limit : rule->value < rule->limit;
}

/* It fires when it comes to hold, not as long as it does. */
static void take_counter(struct weft_triggers *t, const struct weft_event *event)
{
	for (unsigned i = 0; i < t->count; i++) {
		struct rule *rule = &t->rules[i];
		if (rule->type > RULE_BELOW || !is_same(rule->name, event->text))
			continue;
		rule->value = event->is_set ? event->value : add_saturating(rule->value, event->value);
		bool held = rule->holds;
		rule->holds = holds(rule);
		if (rule->holds && !held)
			fire(t, i);
	}
}

static void take_tag(struct weft_triggers *t, const struct weft_event *event)
{
	for (unsigned i = 0; i < t->count; i++) {
		const struct rule *rule = &t->rules[i];
		if ((rule->type == RULE_TAG_IS && is_same(rule->name, event->text)) ||
			(rule->type == RULE_TAG && has_part(event->text, rule->name.bytes, rule->name.size)))
			fire(t, i);
	}
}

/* ---- Times ---- */

static bool concerns(const struct rule *rule, const struct live_task *task)
{
	if (rule->has_kind && (!task || !task->has_kind || task->kind != rule->kind))
		return false;
	return !rule->label.bytes || (task && task->label &&
									 has_part((struct weft_slice){task->label, task->label_size},
										 rule->label.bytes, rule->label.size));
}

static bool is_over(const struct rule *rule, uint64_t since_ns, uint64_t now_ns)
{
	return now_ns > since_ns && now_ns - since_ns > (uint64_t)rule->limit;
}

/* Each rule fires once a wait. */
static void test_wait(struct weft_triggers *t, struct live_task *task, uint64_t now_ns)
{
	for (unsigned i = 0; i < t->count; i++) {
		const struct rule *rule = &t->rules[i];
		if (rule->type != RULE_WAITS || task->tested >> i & 1 ||
			!is_over(rule, task->since_ns, now_ns))
			continue;
		task->tested |= (uint64_t)1 << i;
		if (concerns(rule, task))
			fire(t, i);
	}
}

static void test_run(struct weft_triggers *t, struct runner *runner, uint64_t now_ns)
{
	if (runner->task == WEFT_TASK_NONE)
		return;
	for (unsigned i = 0; i < t->count; i++) {
		const struct rule *rule = &t->rules[i];
		if (rule->type != RULE_RUNS || runner->tested >> i & 1 ||
			!is_over(rule, runner->since_ns, now_ns))
			continue;
		runner->tested |= (uint64_t)1 << i;
		if (concerns(rule, weft__trigger_find(&t->tasks, runner->task)))
			fire(t, i);
	}
}

/* The longest waits come first, so the first that is shorter than all limits ends the walk. */
WEFT__EXPORT void weft_triggers_pass(struct weft_triggers *t, uint64_t now_ns)
{
	int64_t least = INT64_MAX;
	for (unsigned i = 0; i < t->count; i++)
		if (t->rules[i].type == RULE_WAITS && t->rules[i].limit < least)
			least = t->rules[i].limit;
	for (struct live_task *task = t->tasks.first; task; task = task->after) {
		if (now_ns < task->since_ns || now_ns - task->since_ns <= (uint64_t)least)
			break;
		test_wait(t, task, now_ns);
	}
	for (size_t i = 0; i < t->runner_count; i++)
		test_run(t, &t->runners[i], now_ns);
}

static int find_runner(struct weft_triggers *t, uint32_t thread, struct runner **ret_runner)
{
	if (thread >= t->runner_count) {
		size_t count = weft__array_next_capacity(t->runner_count, thread + (size_t)1);
		int error = weft__array_resize(&t->runners, count, sizeof(*t->runners));
		if (error)
			return error;
		for (; t->runner_count < count; t->runner_count++)
			t->runners[t->runner_count] =
				(struct runner){.task = WEFT_TASK_NONE, .put_aside = WEFT_TASK_NONE};
	}
	*ret_runner = &t->runners[thread];
	return 0;
}

static void wake(struct weft_triggers *t, uint64_t id, uint64_t now_ns)
{
	struct live_task *task = id == WEFT_TASK_NONE ? NULL : weft__trigger_find(&t->tasks, id);
	if (!task || !task->waits)
		return;
	test_wait(t, task, now_ns);
	weft__trigger_wake(&t->tasks, task);
}

static int run(struct weft_triggers *t, const struct weft_event *event, uint64_t task)
{
	struct runner *runner;
	int error = find_runner(t, event->thread, &runner);
	if (error)
		return error;
	wake(t, task, event->time_ns);
	runner->is_idle = false;
	if (runner->task == task)
		return 0;
	test_run(t, runner, event->time_ns);
	runner->task = task;
	runner->since_ns = event->time_ns;
	runner->tested = 0;
	return 0;
}

/* An idle band puts aside what runs; unless a switch comes, that goes on after it. */
static int take_band(struct weft_triggers *t, const struct weft_event *event)
{
	struct runner *runner;
	int error = event->band == WEFT_BAND_IDLE ? find_runner(t, event->thread, &runner) : 0;
	if (error || event->band != WEFT_BAND_IDLE || event->flag == runner->is_idle)
		return error;
	test_run(t, runner, event->time_ns);
	if (event->flag)
		runner->put_aside = runner->task;
	runner->task = event->flag ? WEFT_TASK_NONE : runner->put_aside;
	runner->is_idle = event->flag;
	runner->since_ns = event->time_ns;
	runner->tested = 0;
	return 0;
}

static int wait_for(struct weft_triggers *t, const struct weft_event *event, uint64_t id)
{
	struct live_task *task = NULL;
	int error = id == WEFT_TASK_NONE ? 0 : weft__trigger_mention(&t->tasks, id, &task);
	if (task)
		weft__trigger_wait(&t->tasks, task, event->time_ns);
	return error;
}

static void end(struct weft_triggers *t, const struct weft_event *event, uint64_t id)
{
	wake(t, id, event->time_ns);
	for (size_t i = 0; i < t->runner_count; i++)
		if (t->runners[i].task == id) {
			test_run(t, &t->runners[i], event->time_ns);
			t->runners[i].task = WEFT_TASK_NONE;
		}
	weft__trigger_remove(&t->tasks, id);
}

static int name_kind(struct weft_triggers *t, uint64_t id, uint32_t kind)
{
	struct live_task *task = NULL;
	int error = id == WEFT_TASK_NONE ? 0 : weft__trigger_mention(&t->tasks, id, &task);
	if (task && !task->has_kind) {
		task->kind = kind;
		task->has_kind = true;
	}
	return error;
}

/* The first label is the name. */
static int name_label(struct weft_triggers *t, uint64_t id, struct weft_slice label)
{
	struct live_task *task = NULL;
	int error = id == WEFT_TASK_NONE ? 0 : weft__trigger_mention(&t->tasks, id, &task);
	if (!task || task->label || label.size == 0)
		return error;
	task->label = malloc(label.size);
	if (!task->label)
		return WEFT_ERROR_MEMORY;
	memcpy(task->label, label.bytes, label.size);
	task->label_size = label.size;
	return 0;
}

static int take_alive(struct weft_triggers *t, const struct weft_event *event)
{
	int error = name_kind(t, event->task, event->kind);
	if (!error)
		error = name_label(t, event->task, event->text);
	if (!error && event->other != WEFT_TASK_NONE)
		error = wait_for(t, event, event->task);
	return error;
}

static int take_of_tasks(struct weft_triggers *t, const struct weft_event *event)
{
	switch (event->type) {
	case WEFT_EVENT_CREATE:
		return name_kind(t, event->other, event->kind);
	case WEFT_EVENT_LABEL:
		return name_label(t, event->task, event->text);
	case WEFT_EVENT_ALIVE:
		return take_alive(t, event);
	case WEFT_EVENT_TRY_READ:
		return wait_for(t, event, event->task);
	case WEFT_EVENT_READ:
		wake(t, event->task, event->time_ns);
		return event->flag ? 0 : run(t, event, event->task);
	case WEFT_EVENT_SWITCH:
		return run(t, event, event->task);
	case WEFT_EVENT_SIGNAL:
		return event->flag ? run(t, event, event->task) : 0;
	case WEFT_EVENT_BAND:
		return take_band(t, event);
	case WEFT_EVENT_RESOLVE:
	case WEFT_EVENT_FAIL:
		end(t, event, event->other);
		return 0;
	case WEFT_EVENT_BECOME:
		end(t, event, event->task);
		return 0;
	default:
		return 0;
	}
}

WEFT__EXPORT int weft_triggers_take(struct weft_triggers *t, const struct weft_event *event)
{
	if (event->type == WEFT_EVENT_COUNTER)
		take_counter(t, event);
	else if (event->type == WEFT_EVENT_TAG)
		take_tag(t, event);
	else if (t->wants_tasks)
		return take_of_tasks(t, event);
	return 0;
}

WEFT__EXPORT uint64_t weft_triggers_fired(struct weft_triggers *t, struct weft_slice *ret_rule)
{
	uint64_t fired = t->fired;
	if (fired)
		*ret_rule =
			(struct weft_slice){t->rules[t->first_fired].text, t->rules[t->first_fired].size};
	t->fired = 0;
	return fired;
}

/* ---- Rules ---- */

WEFT__EXPORT int weft_triggers_add(
	struct weft_triggers *t, const char *rule, size_t size, struct weft_trigger_error *ret_error)
{
	if (t->count == WEFT_TRIGGERS_MAX)
		return WEFT_ERROR_LIMIT;
	int error = weft__rule_parse(&t->rules[t->count], rule, size, ret_error);
	if (error)
		return error;
	struct rule *added = &t->rules[t->count++];
	added->holds = holds(added); /* a counter that begins there has not passed the limit */
	t->wants_tasks |= added->type >= RULE_RUNS;
	return 0;
}

WEFT__EXPORT int weft_triggers_create(struct weft_triggers **ret_triggers)
{
	struct weft_triggers *t = calloc(1, sizeof(*t));
	if (!t)
		return WEFT_ERROR_MEMORY;
	*ret_triggers = t;
	return 0;
}

WEFT__EXPORT void weft_triggers_destroy(struct weft_triggers *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < t->count; i++)
		weft__rule_finish(&t->rules[i]);
	weft__trigger_finish(&t->tasks);
	free(t->runners);
	free(t);
}
