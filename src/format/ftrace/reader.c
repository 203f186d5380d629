/* SPDX-License-Identifier: ISC
 *
 * Files of trace-cmd and perf as traces: threads of Linux are tasks, which run on processors.
 *
 *     sched_switch       the task runs on the processor's lane, which has its name as a span
 *     sched_waking       an edge from the thread that wakes it, unless an interrupt does
 *     sched_wakeup, _new and a switch from a thread that would run on: a span `runnable`
 *     sched_process_fork the task is made
 *     raw_syscalls       a span of the task
 *
 * Events come in the order of time; each becomes some events of the model, which wait in a list.
 */
#include "format/ftrace/reader.h"

#include <stdio.h>
#include <string.h>

#include <weft/error.h>
#include <weft/kinds.h>

#include "base/array.h"

#define KIND       "thread"
#define IDLE_FIRST UINT32_C(0x80000000) /* keys of idle threads, all of which have the pid 0 */

/* ---- Events ---- */

static struct made_event *make(struct linux_reader *r, unsigned type, uint32_t thread)
{
	struct made_event *made =
		&r->made[r->made_count < WEFT__FTRACE_EVENTS_MAX ? r->made_count++ : 0];
	made->event = (struct weft_event){
		.time_ns = r->time_ns, .type = (uint8_t)type, .task = thread ? thread : WEFT_TASK_NONE};
	made->text[0] = '\0';
	return made;
}

/* "xl 146", "swapper" */
static void name_thread(const struct linux_thread *t, char name[WEFT__FTRACE_TEXT_BYTES])
{
	if (t->key >= IDLE_FIRST)
		snprintf(name, WEFT__FTRACE_TEXT_BYTES, "idle");
	else
		snprintf(name, WEFT__FTRACE_TEXT_BYTES, "%s %u", t->name[0] ? t->name : "tid", t->key);
}

/* ---- Threads ---- */

static uint64_t hash_key(const struct weft__hash_key *secret, uint32_t key)
{
	struct weft__hash hash = weft__hash_begin(secret);
	weft__hash_word(&hash, key);
	return weft__hash_end(&hash);
}

static uint64_t hash_thread(const struct weft__hash_key *secret, const void *owner, uint32_t number)
{
	return hash_key(secret, ((const struct linux_reader *)owner)->threads[number].key);
}

static int append(struct linux_reader *r, struct linux_thread thread)
{
	const struct weft__column column = {&r->threads, sizeof(*r->threads)};
	int error = weft__columns_reserve(&column, 1, &r->thread_capacity, r->thread_count + 1);
	if (!error)
		r->threads[r->thread_count++] = thread;
	return error;
}

static struct linux_thread *thread_at(const struct linux_reader *r, uint32_t number)
{
	return &r->threads[number - 1];
}

/* The thread that has the key now, counted from 1; 0 without memory. */
static uint32_t find(struct linux_reader *r, uint32_t key)
{
	uint32_t slot = weft__index_start(&r->index, hash_key(&r->index.key, key));
	while (r->index.slots[slot] != WEFT__INDEX_EMPTY && r->threads[r->index.slots[slot]].key != key)
		slot = weft__index_next(&r->index, slot);
	const uint32_t number = r->index.slots[slot];
	const bool is_again = number != WEFT__INDEX_EMPTY;
	if (is_again && !r->threads[number].has_ended)
		return number + 1;
	int error = append(r, (struct linux_thread){.key = key, .is_new = is_again});
	if (!error && is_again)
		r->index.slots[slot] = (uint32_t)r->thread_count - 1;
	else if (!error)
		error = weft__index_add(&r->index, (uint32_t)r->thread_count - 1, hash_thread, r);
	r->error = r->error ? r->error : error;
	return error ? 0 : (uint32_t)r->thread_count;
}

static uint32_t find_on(struct linux_reader *r, uint32_t cpu, uint32_t pid)
{
	return find(r, pid ? pid & (IDLE_FIRST - 1) : IDLE_FIRST + cpu);
}

static void know(struct linux_reader *r, uint32_t number)
{
	struct linux_thread *t = thread_at(r, number);
	if (t->is_known)
		return;
	t->is_known = true;
	struct made_event *made = make(r, t->is_new ? WEFT_EVENT_CREATE : WEFT_EVENT_ALIVE, number);
	if (t->is_new) {
		made->event.task = WEFT_TASK_NONE;
		made->event.other = number;
		made->event.kind_name = (struct weft_slice){KIND, strlen(KIND)};
		name_thread(t, make(r, WEFT_EVENT_LABEL, number)->text);
		return;
	}
	made->event.other = WEFT_TASK_NONE;
	made->event.kind_name = (struct weft_slice){KIND, strlen(KIND)};
	made->event.is_rundown = true;
	name_thread(t, made->text);
}

static void set_name(struct linux_reader *r, uint32_t number, const char *name)
{
	struct linux_thread *t = thread_at(r, number);
	if (!name[0] || strcmp(t->name, name) == 0)
		return;
	memcpy(t->name, name, sizeof(t->name));
	if (t->is_known)
		name_thread(t, make(r, WEFT_EVENT_LABEL, number)->text);
}

static void set_runnable(struct linux_reader *r, uint32_t number, bool is_runnable)
{
	struct linux_thread *t = thread_at(r, number);
	if (t->is_runnable == is_runnable || t->key >= IDLE_FIRST)
		return;
	t->is_runnable = is_runnable;
	struct made_event *made = make(r, is_runnable ? WEFT_EVENT_BEGIN : WEFT_EVENT_END, number);
	if (is_runnable)
		strcpy(made->text, "runnable");
}

static void end_call(struct linux_reader *r, uint32_t number)
{
	struct linux_thread *t = thread_at(r, number);
	if (t->is_calling)
		make(r, WEFT_EVENT_END, number);
	t->is_calling = false;
}

static void end_thread(struct linux_reader *r, uint32_t number)
{
	struct linux_thread *t = thread_at(r, number);
	if (t->is_runnable)
		make(r, WEFT_EVENT_END, number);
	end_call(r, number);
	if (t->is_known)
		make(r, WEFT_EVENT_RESOLVE, 0)->event.other = number;
	t->has_ended = true;
	t->is_runnable = false;
}

/* ---- Lanes ---- */

static void run(struct linux_reader *r, uint32_t lane, uint32_t number)
{
	struct linux_cpu *cpu = &r->cpus[lane];
	if (cpu->runs)
		make(r, WEFT_EVENT_END, 0)->event.thread = lane;
	if (cpu->runs && thread_at(r, cpu->runs)->is_running)
		thread_at(r, cpu->runs)->is_running = false;
	make(r, WEFT_EVENT_SWITCH, number)->event.thread = lane;
	cpu->runs = number;
	if (!number)
		return;
	struct made_event *begin = make(r, WEFT_EVENT_BEGIN, 0);
	begin->event.thread = lane;
	name_thread(thread_at(r, number), begin->text);
	thread_at(r, number)->is_running = true;
}

static void on_switch(struct linux_reader *r, uint32_t lane, const struct weft__ftrace_event *event)
{
	const uint32_t cpu = r->cpus[lane].number;
	const uint32_t next = find_on(r, cpu, event->pid), before = find_on(r, cpu, event->other);
	if (!next || !before)
		return;
	set_name(r, before, event->other_name);
	set_name(r, next, event->name);
	know(r, before);
	know(r, next);
	set_runnable(r, next, false);
	run(r, lane, next);
	if (before == next)
		return;
	if (event->has_ended)
		end_thread(r, before);
	else if (event->is_runnable)
		set_runnable(r, before, true);
}

static void on_fork(struct linux_reader *r, uint32_t cpu, const struct weft__ftrace_event *event)
{
	const uint32_t parent = find_on(r, cpu, event->other);
	uint32_t child = event->pid && event->pid != event->other ? find_on(r, cpu, event->pid) : 0;
	if (!parent || !child)
		return;
	know(r, parent);
	if (thread_at(r, child)->is_known) { /* the pid is used again */
		end_thread(r, child);
		child = find_on(r, cpu, event->pid);
	}
	if (!child)
		return;
	struct linux_thread *t = thread_at(r, child);
	t->is_known = true;
	memcpy(t->name, thread_at(r, parent)->name, sizeof(t->name));
	struct made_event *made = make(r, WEFT_EVENT_CREATE, parent);
	made->event.other = child;
	made->event.kind_name = (struct weft_slice){KIND, strlen(KIND)};
	name_thread(t, make(r, WEFT_EVENT_LABEL, child)->text);
}

static void on_wake(struct linux_reader *r, uint32_t cpu, const struct weft__ftrace_event *event)
{
	const uint32_t woken = event->pid ? find_on(r, cpu, event->pid) : 0;
	const uint32_t waker = event->other ? find_on(r, cpu, event->other) : 0;
	if (!woken || thread_at(r, woken)->is_running || thread_at(r, woken)->is_runnable)
		return;
	set_name(r, woken, event->name);
	know(r, woken);
	if (event->kind == WEFT__FTRACE_WAKING && !event->is_interrupt && waker && waker != woken) {
		know(r, waker);
		make(r, WEFT_EVENT_SIGNAL, woken)->event.other = waker;
	}
	set_runnable(r, woken, true);
}

static void on_call(struct linux_reader *r, uint32_t cpu, const struct weft__ftrace_event *event)
{
	const uint32_t number = event->pid ? find_on(r, cpu, event->pid) : 0;
	if (!number)
		return;
	end_call(r, number); /* also if the return of the one before is missing */
	if (event->kind != WEFT__FTRACE_CALL)
		return;
	know(r, number);
	thread_at(r, number)->is_calling = true;
	snprintf(make(r, WEFT_EVENT_BEGIN, number)->text, WEFT__FTRACE_TEXT_BYTES, "syscall %u",
		event->other);
}

/* Nothing is known of the processor's thread then: it may have returned from its call, and another
 * one may run. */
static void on_loss(struct linux_reader *r, uint32_t lane)
{
	if (!r->cpus[lane].runs)
		return;
	end_call(r, r->cpus[lane].runs);
	run(r, lane, 0);
}

static void take(struct linux_reader *r, uint32_t cpu, const struct weft__ftrace_event *event)
{
	const uint32_t lane = r->lane_of[cpu] - 1;
	r->time_ns = weft__format_ftrace_ns(r, event->time);
	switch (event->kind) {
	case WEFT__FTRACE_SWITCH:
		on_switch(r, lane, event);
		break;
	case WEFT__FTRACE_FORK:
		on_fork(r, cpu, event);
		break;
	case WEFT__FTRACE_WAKING:
	case WEFT__FTRACE_WAKEUP:
	case WEFT__FTRACE_BORN:
		on_wake(r, cpu, event);
		break;
	case WEFT__FTRACE_CALL:
	case WEFT__FTRACE_RETURN:
		on_call(r, cpu, event);
		break;
	case WEFT__FTRACE_LOSS:
		on_loss(r, lane);
		break;
	case WEFT__FTRACE_KINDS:
		break;
	}
}

int weft__format_ftrace_reader_next(struct weft__reader *base, struct weft_event *ret_event)
{
	struct linux_reader *r = (struct linux_reader *)base;
	struct weft__ftrace_event event;
	uint32_t cpu;
	while (r->given == r->made_count) {
		r->given = r->made_count = 0;
		if (!weft__format_ftrace_capture_next(&r->capture, &event, &cpu))
			return WEFT_END;
		take(r, cpu, &event);
		if (r->error)
			return r->error;
	}
	struct made_event *made = &r->made[r->given++];
	made->event.text = (struct weft_slice){made->text, strlen(made->text)};
	*ret_event = made->event;
	return WEFT_OK;
}
