/* SPDX-License-Identifier: ISC
 *
 * The meaning of each type of event, one function each. A task that has become another one is first
 * replaced by the last task of its chain of becomes ("forwarded"); then the rule of docs/model.md
 * is applied. No function looks at earlier or later events.
 */
#include "model/state.h"

#include <math.h>
#include <stdlib.h>

/* A fact, and its two tasks, forwarded. */
struct meaning {
	const struct weft__fact *event;
	uint32_t task, other;
};

void weft__model_state_init(
	struct weft__state *s, const struct weft__listener *listener, void *context)
{
	*s = (struct weft__state){.listener = listener, .context = context};
}

void weft__model_state_finish(struct weft__state *s)
{
	struct weft__state_tasks *t = &s->tasks;
	void *columns[] = {
#define TASK_COLUMN(name, type, first) t->name,
#include <weft/task_columns.def>
#undef TASK_COLUMN
		t->root, t->forward, t->asked, t->ran_on, s->threads, s->counters.name, s->counters.buffer,
		s->counters.value, s->counters.observed, s->counters.is_real, s->counters.known_ns,
		s->counters.seen_ns, s->counters.by_name, s->spans.list, s->spans.innermost};
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		free(columns[i]);
	weft__index_finish(&s->counters.others);
	weft__model_messages_finish(&s->messages);
	*s = (struct weft__state){0};
}

static void report_damage(const struct weft__state *s, const struct meaning *m, const char *message)
{
	if (s->listener->damage)
		s->listener->damage(s->context, m->event->offset, message);
}

static int report_edge(
	const struct weft__state *s, enum weft_edge_type type, uint32_t from, uint32_t to)
{
	return s->listener->edge ? s->listener->edge(s->context, type, from, to) : 0;
}

/* Reports an edge that is an act of `actor`: a try_read is no longer the actor's latest act. */
static int act(struct weft__state *s, enum weft_edge_type type, uint32_t actor, uint32_t to)
{
	if (actor != WEFT_NONE) {
		if (s->tasks.flags[actor] & WEFT__TASK_WAITS)
			weft__model_state_act(s, actor);
		s->tasks.flags[actor] &= (uint8_t)~WEFT__TASK_ASKED;
	}
	return report_edge(s, type, actor, to);
}

static int report_note(
	const struct weft__state *s, const struct meaning *m, enum weft_note_type type, int64_t value)
{
	if (!s->listener->note)
		return 0;
	return s->listener->note(s->context, type, m->task, m->event->text, value);
}

static int on_stack(const struct weft__state *s, const struct meaning *m)
{
	if (!s->listener->stack || m->task == WEFT_NONE)
		return 0;
	return s->listener->stack(s->context, m->task, m->event->text);
}

static int run_task(struct weft__state *s, const struct meaning *m)
{
	return weft__model_state_run(s, m->event, m->task == WEFT_NONE ? WEFT__RUNS_IDLE : m->task);
}

/* Uses the child itself, not the task that it may have become. */
static int on_create(struct weft__state *s, const struct meaning *m)
{
	uint32_t child = m->event->other;
	if (child == WEFT_NONE) {
		report_damage(s, m, "a create without a child");
		return 0;
	}
	if (s->tasks.flags[child] & WEFT_TASK_CREATED) {
		report_damage(s, m, "a task is created twice; the second is ignored");
		return 0;
	}
	if (!weft__model_state_attach(s, child, m->task)) {
		report_damage(s, m, "a task is created by its own descendant; it stays a root");
		return 0;
	}
	if (m->task != WEFT_NONE)
		weft__model_state_act(s, m->task);
	s->tasks.flags[child] |= WEFT_TASK_CREATED;
	s->tasks.kind[child] = m->event->kind;
	s->tasks.category[child] = m->event->category;
	return report_edge(s, WEFT_EDGE_CREATE, m->task, child);
}

/* A read answers a try_read of the same source if that was the task's latest act. Each source was
 * forwarded at the time of its own event. */
static void answer_try_read(struct weft__state *s, const struct meaning *m)
{
	if (m->task != WEFT_NONE && (s->tasks.flags[m->task] & WEFT__TASK_ASKED) &&
		s->tasks.asked[m->task] == m->other && s->listener->answer)
		s->listener->answer(s->context, m->task);
}

static int on_read(struct weft__state *s, const struct meaning *m)
{
	weft__model_state_wake(s, m->task);
	int error = m->event->flag ? 0 : run_task(s, m);
	if (error || m->other == WEFT_NONE)
		return error;
	answer_try_read(s, m);
	return act(s, WEFT_EDGE_READ, m->task, m->other);
}

/* A task that waits already keeps the start of its wait; a task that has ended does not wait. */
static void begin_wait(struct weft__state *s, uint32_t task)
{
	weft__model_state_act(s, task);
	if (s->tasks.flags[task] & (WEFT__TASK_WAITS | WEFT_TASK_RESOLVED))
		return;
	s->tasks.flags[task] |= WEFT__TASK_WAITS;
	if (s->listener->wait)
		s->listener->wait(s->context, task);
}

static void wait_for(struct weft__state *s, uint32_t task, uint32_t source)
{
	if (task == WEFT_NONE)
		return;
	s->tasks.asked[task] = source;
	s->tasks.flags[task] |= WEFT__TASK_ASKED;
	begin_wait(s, task);
}

static int on_try_read(struct weft__state *s, const struct meaning *m)
{
	if (m->other == WEFT_NONE)
		return 0;
	int error = act(s, WEFT_EDGE_TRY_READ, m->task, m->other);
	if (!error)
		wait_for(s, m->task, m->other);
	return error;
}

/* All edges stay, whichever source the task reads later. The state does not keep the set of
 * sources: only listeners may need it. */
static int on_wait_any(struct weft__state *s, const struct meaning *m)
{
	if (m->other == WEFT_NONE)
		return 0;
	int error = act(s, WEFT_EDGE_WAIT_ANY, m->task, m->other);
	if (!error && m->task != WEFT_NONE)
		begin_wait(s, m->task);
	return error;
}

/* The edges are those of a semaphore in other formats: a read takes it, a signal gives it back. */
static int on_acquire(struct weft__state *s, const struct meaning *m)
{
	weft__model_state_wake(s, m->task);
	if (m->other == WEFT_NONE)
		return 0;
	answer_try_read(s, m);
	int error = act(s, WEFT_EDGE_READ, m->task, m->other);
	if (error || m->task == WEFT_NONE || !s->listener->take)
		return error;
	return s->listener->take(s->context, m->task, m->other);
}

static int on_release(struct weft__state *s, const struct meaning *m)
{
	if (m->other == WEFT_NONE)
		return 0;
	if (s->listener->give)
		s->listener->give(s->context, m->task, m->other);
	return act(s, WEFT_EDGE_SIGNAL, m->task, m->other);
}

static const uint8_t flags_of[WEFT_OUTCOMES] = {
#define OUTCOME(id, key, name, flags) [WEFT_OUTCOME_##id] = flags,
#include <weft/outcomes.def>
#undef OUTCOME
};

/* Only the first end of a task counts. */
static void end_task(
	struct weft__state *s, uint32_t task, enum weft_outcome outcome, uint32_t becomes)
{
	if (s->tasks.flags[task] & WEFT_TASK_RESOLVED)
		return;
	weft__model_state_wake(s, task);
	if (s->listener->end)
		s->listener->end(s->context, task, becomes);
	s->tasks.flags[task] |= flags_of[outcome];
	s->tasks.outcome[task] = (uint8_t)outcome;
}

static int on_end(struct weft__state *s, const struct meaning *m, enum weft_outcome outcome)
{
	if (m->other == WEFT_NONE) {
		report_damage(s, m, "the end of a task without the task");
		return 0;
	}
	int error = act(s, WEFT_EDGE_RESOLVE, m->task, m->other);
	if (error)
		return error;
	if (outcome == WEFT_OUTCOME_FAILED && !(s->tasks.flags[m->other] & WEFT_TASK_RESOLVED))
		s->tasks.message[m->other] = m->event->text;
	end_task(s, m->other, outcome, WEFT_NONE);
	return 0;
}

/* Some runtimes keep naming a task by its first id. Since m->task is forwarded, a second become
 * applies to the task that the first one made of it. */
static int on_become(struct weft__state *s, const struct meaning *m)
{
	if (m->task == WEFT_NONE || m->other == WEFT_NONE) {
		report_damage(s, m, "a become without a task");
		return 0;
	}
	if (m->task == m->other) {
		report_damage(s, m, "a become that repeats another or closes a cycle; ignored");
		return 0;
	}
	if (s->tasks.flags[m->task] & WEFT_TASK_RESOLVED) {
		report_damage(s, m, "a task that had ended becomes another; ignored");
		return 0;
	}
	int error = report_edge(s, WEFT_EDGE_BECOME, m->task, m->other);
	if (!error)
		error = weft__model_state_move_spans(s, m->task, m->other);
	if (error)
		return error;
	end_task(s, m->task, WEFT_OUTCOME_BECAME, m->other);
	weft__model_state_inherit_run(s, m->task, m->other);
	s->tasks.becomes[m->task] = m->other;
	s->tasks.forward[m->task] = m->other;
	s->tasks.flags[m->other] |= s->tasks.flags[m->task] & WEFT_TASK_EXPECTED;
	return 0;
}

static int on_label(struct weft__state *s, const struct meaning *m)
{
	bool is_name = m->task != WEFT_NONE && (s->tasks.label[m->task] == WEFT_NONE ||
											   s->tasks.kind[m->task] == WEFT_KIND_THREAD);
	if (is_name)
		s->tasks.label[m->task] = m->event->text;
	return report_note(s, m, WEFT_NOTE_LABEL, 0);
}

static int on_tag(struct weft__state *s, const struct meaning *m)
{
	if (!m->event->has_value)
		return report_note(s, m, WEFT_NOTE_TEXT, 0);
	return report_note(s, m, WEFT_NOTE_VALUE, m->event->value);
}

static enum weft_note_type counter_note(const struct weft__fact *event)
{
	if (event->is_real)
		return event->is_set ? WEFT_NOTE_REAL_SET : WEFT_NOTE_REAL_CHANGE;
	return event->is_set ? WEFT_NOTE_SET : WEFT_NOTE_CHANGE;
}

static bool is_number(const struct weft__state *s, const struct meaning *m)
{
	if (!m->event->is_real || isfinite(weft__model_real_of(m->event->value)))
		return true;
	report_damage(s, m, "a counter's value is infinite or no number; ignored");
	return false;
}

static int on_counter(struct weft__state *s, const struct meaning *m)
{
	const struct weft__fact *event = m->event;
	uint32_t counter;
	if (!is_number(s, m))
		return 0;
	int error = weft__model_state_counter(s, event->buffer, event->text, &counter);
	if (error)
		return error;
	weft__model_state_count(s, counter, event);
	if (s->listener->sample)
		error = s->listener->sample(s->context, counter, m->task);
	if (error)
		return error;
	return report_note(s, m, counter_note(event), event->value);
}

/* A counter without a change so far gets its first value, unless that is 0: then it may be one that
 * only the parent process has used. */
static int on_total(struct weft__state *s, const struct meaning *m)
{
	const struct weft__fact *event = m->event;
	uint32_t counter = weft__model_state_known_counter(s, event->buffer, event->text);
	const bool is_new = counter == WEFT_NONE;
	int error = 0;
	if (!is_number(s, m) ||
		(is_new ? event->value == 0 : weft__model_state_is_at_limit(s, counter)))
		return 0;
	if (is_new)
		error = weft__model_state_counter(s, event->buffer, event->text, &counter);
	if (error)
		return error;
	s->counters.begins_at_0 = event->flag;
	if (is_new)
		weft__model_state_count(s, counter, event);
	else
		weft__model_state_correct(s, counter, event);
	return s->listener->total ? s->listener->total(s->context, counter) : 0;
}

static int on_signal(struct weft__state *s, const struct meaning *m)
{
	int error = m->event->flag ? run_task(s, m) : 0;
	if (error || m->task == WEFT_NONE)
		return error;
	return act(s, WEFT_EDGE_SIGNAL, m->other, m->task);
}

/* The edge is not an act of either task: the waits and reads of sender and receiver do not depend
 * on when a message arrives. */
static int join(
	struct weft__state *s, const struct weft__message *message, const struct weft__message *other)
{
	const struct weft__message *send = message->is_received ? other : message;
	const struct weft__message *receive = message->is_received ? message : other;
	s->sent = send->time_ns;
	return report_edge(s, WEFT_EDGE_RECEIVE, weft__model_state_forward(s, send->task),
		weft__model_state_forward(s, receive->task));
}

/* The fact's value is the key. A message without a task only removes the earlier message with that
 * key. */
static int on_message(struct weft__state *s, const struct meaning *m, bool is_received)
{
	const struct weft__message message = {m->event->key, s->now, m->task, is_received};
	struct weft__message other;
	bool has_other = weft__model_messages_take_other(&s->messages, &message, &other);
	if (m->task == WEFT_NONE)
		return 0;
	if (has_other && weft__model_message_joins(&other, &message))
		return join(s, &message, &other);
	if (has_other && weft__model_message_comes_first(&other, &message))
		return weft__model_messages_add(&s->messages, &other);
	bool is_kept = !is_received || (message.key & WEFT_KEY_ONCE);
	return is_kept ? weft__model_messages_add(&s->messages, &message) : 0;
}

static int on_expect(struct weft__state *s, const struct meaning *m)
{
	if (m->task != WEFT_NONE)
		s->tasks.flags[m->task] |= WEFT_TASK_EXPECTED;
	return 0;
}

/* The beginning may be missing because it came before the trace, unless the task began later. */
static int on_span_end(struct weft__state *s, const struct meaning *m)
{
	bool had_begun;
	int error = weft__model_state_end(s, m->task, m->event, &had_begun);
	if (!had_begun && m->task != WEFT_NONE && (s->tasks.flags[m->task] & WEFT_TASK_CREATED))
		report_damage(s, m, "the end of a span that has not begun; ignored");
	return error;
}

/* Leaves out the part before the trace's start, a time of which nothing else is known. */
static int on_given_span(struct weft__state *s, const struct meaning *m)
{
	uint64_t begin = (uint64_t)m->event->value, end = m->event->end_ns;
	if (begin > end)
		report_damage(
			s, m, "a span of a track ends before it begins, or overlaps too many others; ignored");
	if (begin > end || end < s->start || m->event->other == WEFT_NONE || !s->listener->given)
		return 0;
	return s->listener->given(s->context, m->event->other, begin > s->start ? begin : s->start,
		end < s->now ? end : s->now, m->event->text);
}

/* Sets what the create event would have set, if the trace lacks that event. A cut also lists tasks
 * of which it knows only the id: a later alive event may say more about these. */
static int read_alive(struct weft__state *s, const struct meaning *m)
{
	bool is_known = m->event->kind != WEFT_KIND_UNKNOWN || m->event->has_value;
	bool is_new =
		is_known && !(s->tasks.flags[m->task] & (WEFT_TASK_CREATED | WEFT_TASK_FROM_RUNDOWN));
	if (is_new) {
		s->tasks.flags[m->task] |= WEFT_TASK_FROM_RUNDOWN;
		s->tasks.kind[m->task] = m->event->kind;
		s->tasks.category[m->task] = m->event->category;
	}
	return s->listener->alive ? s->listener->alive(s->context, m->task, is_new, m->event) : 0;
}

/* An alive event with a source says that the task waits for it. A try_read may have said so just
 * before, and is not repeated. */
static int read_wait(struct weft__state *s, const struct meaning *m)
{
	bool is_known =
		(s->tasks.flags[m->task] & WEFT__TASK_ASKED) && s->tasks.asked[m->task] == m->other;
	if (!is_known)
		return on_try_read(s, m);
	wait_for(s, m->task, m->other);
	return 0;
}

static int on_alive(struct weft__state *s, const struct meaning *m)
{
	if (m->task == WEFT_NONE) {
		report_damage(s, m, "an alive event without a task");
		return 0;
	}
	int error = read_alive(s, m);
	if (!error && m->event->text != WEFT_NONE && s->tasks.label[m->task] == WEFT_NONE)
		error = on_label(s, m);
	return error ? error : read_wait(s, m);
}

/* The only switch over the types of events. It has no default label, so that the compiler warns
 * here if events.def has a type that it lacks. */
static int apply(struct weft__state *s, const struct meaning *m)
{
	switch ((enum weft_event_type)m->event->type) {
	case WEFT_EVENT_CREATE:
		return on_create(s, m);
	case WEFT_EVENT_READ:
		return on_read(s, m);
	case WEFT_EVENT_TRY_READ:
		return on_try_read(s, m);
	case WEFT_EVENT_RESOLVE:
		return on_end(s, m, WEFT_OUTCOME_FULFILLED);
	case WEFT_EVENT_FAIL:
		return on_end(s, m, WEFT_OUTCOME_FAILED);
	case WEFT_EVENT_BECOME:
		return on_become(s, m);
	case WEFT_EVENT_LABEL:
		return on_label(s, m);
	case WEFT_EVENT_NOTE:
		return report_note(s, m, WEFT_NOTE_TEXT, 0);
	case WEFT_EVENT_MARK:
		return report_note(s, m, WEFT_NOTE_MARK, m->event->value);
	case WEFT_EVENT_TAG:
		return on_tag(s, m);
	case WEFT_EVENT_BAND:
		return weft__model_state_band(s, m->event);
	case WEFT_EVENT_COUNTER:
		return on_counter(s, m);
	case WEFT_EVENT_TOTAL:
		return on_total(s, m);
	case WEFT_EVENT_SWITCH:
		return run_task(s, m);
	case WEFT_EVENT_SIGNAL:
		return on_signal(s, m);
	case WEFT_EVENT_GC:
		return weft__model_state_gc(s, m->event);
	case WEFT_EVENT_EXPECT:
		return on_expect(s, m);
	case WEFT_EVENT_ALIVE:
		return on_alive(s, m);
	case WEFT_EVENT_CANCEL:
		return on_end(s, m, WEFT_OUTCOME_CANCELLED);
	case WEFT_EVENT_CLOSE:
		return on_end(s, m, WEFT_OUTCOME_CLOSED);
	case WEFT_EVENT_TIME_OUT:
		return on_end(s, m, WEFT_OUTCOME_TIMED_OUT);
	case WEFT_EVENT_BEGIN:
		return weft__model_state_begin(s, m->task, m->event);
	case WEFT_EVENT_END:
		return on_span_end(s, m);
	case WEFT_EVENT_SPAN:
		return on_given_span(s, m);
	case WEFT_EVENT_WAIT_ANY:
		return on_wait_any(s, m);
	case WEFT_EVENT_ACQUIRE:
		return on_acquire(s, m);
	case WEFT_EVENT_RELEASE:
		return on_release(s, m);
	case WEFT_EVENT_OFF_CPU:
		return weft__model_state_off_cpu(s, m->task, m->event);
	case WEFT_EVENT_STACK:
		return on_stack(s, m);
	case WEFT_EVENT_SEND:
		return on_message(s, m, false);
	case WEFT_EVENT_RECEIVE:
		return on_message(s, m, true);
	case WEFT_EVENT_TYPES:
		break;
	}
	return WEFT_ERROR_ARGUMENT;
}

/* Decoders give events in the order of time, and none more than WEFT__SPAN_NS after the first. An
 * event that breaks either rule gets the time of the event before it. */
static void move_now(struct weft__state *s, const struct meaning *m)
{
	uint64_t time = m->event->time_ns;
	if (weft__model_span_hold(&s->span, &time))
		report_damage(s, m, WEFT__SPAN_MESSAGE);
	if (!s->has_begun)
		s->start = s->now = time;
	s->has_begun = true;
	s->events += m->event->type != WEFT_EVENT_TOTAL;
	if (time > s->now)
		s->now = time;
}

static int look_up(struct weft__state *s, uint32_t named, uint32_t *ret_task)
{
	bool is_known = named < s->tasks.count || named == WEFT_NONE;
	int error = is_known ? 0 : weft__model_state_mention(s, named);
	if (!error && named != WEFT_NONE)
		*ret_task = weft__model_state_forward(s, named);
	return error;
}

int weft__model_state_take(struct weft__state *s, const struct weft__fact *fact)
{
	struct meaning m = {fact, WEFT_NONE, WEFT_NONE};
	move_now(s, &m);
	int error = look_up(s, fact->task, &m.task);
	if (!error)
		error = look_up(s, fact->other, &m.other);
	return error ? error : apply(s, &m);
}
