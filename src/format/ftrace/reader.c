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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/error.h>
#include <weft/kinds.h>

#include "base/array.h"
#include "base/diagnostics.h"
#include "base/index.h"
#include "format/formats.h"
#include "format/ftrace/capture.h"
#include "format/weft/clock/ticks.h"

#define TEXT_BYTES 32
#define KIND       "thread"
#define COUNTER    "x86-tsc"
#define ASSUMED_HZ UINT64_C(2400000000)
#define IDLE_FIRST UINT32_C(0x80000000) /* keys of idle threads, all of which have the pid 0 */
#define EVENTS_MAX 16                   /* that one event of Linux becomes */

struct linux_thread {
	uint32_t key;
	char name[WEFT__FTRACE_NAME_BYTES];
	bool is_known, has_ended, is_new;
	bool is_running, is_runnable, is_calling;
};

struct linux_cpu {
	uint32_t number;
	uint32_t runs; /* 1 + the thread; 0: unknown */
};

struct made_event {
	struct weft_event event;
	char text[TEXT_BYTES];
};

struct linux_reader {
	struct weft__reader base;
	struct weft__ftrace_capture capture;
	struct weft__ticks ticks; /* multiplier 0: times are ns */
	struct linux_thread *threads;
	size_t thread_count, thread_capacity;
	struct weft__index index;
	struct linux_cpu *cpus;
	uint32_t cpu_count;
	uint32_t lane_of[WEFT__FTRACE_CPUS_MAX]; /* 1 + the index of the processor's lane; 0: none */
	struct weft_trace_thread *lanes;
	char (*lane_names)[16];
	struct weft_trace_buffer buffer;
	struct weft_loss_period *losses;
	struct made_event made[EVENTS_MAX];
	uint32_t made_count, given;
	uint64_t time_ns;
	int error;
};

/* ---- Events ---- */

static struct made_event *make(struct linux_reader *r, unsigned type, uint32_t thread)
{
	struct made_event *made = &r->made[r->made_count < EVENTS_MAX ? r->made_count++ : 0];
	made->event = (struct weft_event){
		.time_ns = r->time_ns, .type = (uint8_t)type, .task = thread ? thread : WEFT_TASK_NONE};
	made->text[0] = '\0';
	return made;
}

/* "xl 146", "swapper" */
static void name_thread(const struct linux_thread *t, char name[TEXT_BYTES])
{
	if (t->key >= IDLE_FIRST)
		snprintf(name, TEXT_BYTES, "idle");
	else
		snprintf(name, TEXT_BYTES, "%s %u", t->name[0] ? t->name : "tid", t->key);
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

static void end_thread(struct linux_reader *r, uint32_t number)
{
	struct linux_thread *t = thread_at(r, number);
	if (t->is_runnable)
		make(r, WEFT_EVENT_END, number);
	if (t->is_calling)
		make(r, WEFT_EVENT_END, number);
	if (t->is_known)
		make(r, WEFT_EVENT_RESOLVE, 0)->event.other = number;
	t->has_ended = true;
	t->is_runnable = t->is_calling = false;
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
	const bool begins = event->kind == WEFT__FTRACE_CALL;
	if (!number || thread_at(r, number)->is_calling == begins)
		return;
	know(r, number);
	thread_at(r, number)->is_calling = begins;
	struct made_event *made = make(r, begins ? WEFT_EVENT_BEGIN : WEFT_EVENT_END, number);
	if (begins)
		snprintf(made->text, TEXT_BYTES, "syscall %u", event->other);
}

static uint64_t ns_of(const struct linux_reader *r, uint64_t time)
{
	return r->ticks.multiplier ? weft__format_ticks_to_ns(&r->ticks, time) : time;
}

static void take(struct linux_reader *r, uint32_t cpu, const struct weft__ftrace_event *event)
{
	const uint32_t lane = r->lane_of[cpu] - 1;
	r->time_ns = ns_of(r, event->time);
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
		if (r->cpus[lane].runs)
			run(r, lane, 0);
		break;
	case WEFT__FTRACE_KINDS:
		break;
	}
}

static int linux_next(struct weft__reader *base, struct weft_event *ret_event)
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

/* ---- Opening ---- */

static int find_cpus(struct linux_reader *r)
{
	for (size_t i = 0; i < r->capture.count; i++)
		r->lane_of[r->capture.list[i].cpu] = 1;
	r->lane_of[0] |= !r->capture.count;
	for (uint32_t i = 0; i < WEFT__FTRACE_CPUS_MAX; i++)
		if (r->lane_of[i])
			r->lane_of[i] = ++r->cpu_count;
	r->cpus = calloc(r->cpu_count, sizeof(*r->cpus));
	for (uint32_t i = 0; i < WEFT__FTRACE_CPUS_MAX && r->cpus; i++)
		if (r->lane_of[i])
			r->cpus[r->lane_of[i] - 1].number = i;
	return r->cpus ? 0 : WEFT_ERROR_MEMORY;
}

/* A loss lasts until the next event of its processor. */
static int describe_losses(struct linux_reader *r, struct weft_trace_description *description)
{
	const struct weft__ftrace_position *list = r->capture.list;
	uint64_t *next = calloc(r->cpu_count, sizeof(*next));
	uint32_t count = 0;
	for (size_t i = 0; i < r->capture.count; i++)
		count += !list[i].size;
	r->losses = calloc(count + (size_t)1, sizeof(*r->losses));
	description->loss_period_count = r->losses && next ? count : 0;
	for (size_t i = r->capture.count; i > 0 && r->losses && next; i--) {
		const struct weft__ftrace_position *p = &list[i - 1];
		const uint32_t lane = r->lane_of[p->cpu] - 1;
		const uint64_t time_ns = ns_of(r, p->time);
		if (!p->size) {
			r->losses[--count] = (struct weft_loss_period){
				time_ns, next[lane] ? next[lane] : time_ns, p->at, lane, WEFT_LOSS_FULL};
			description->losses[WEFT_LOSS_FULL] += p->at ? p->at : 1;
		}
		next[lane] = time_ns;
	}
	free(next);
	description->loss_periods = r->losses;
	return description->loss_period_count || r->losses ? 0 : WEFT_ERROR_MEMORY;
}

static int describe_lanes(struct linux_reader *r, struct weft_trace_description *description)
{
	r->lanes = calloc(r->cpu_count, sizeof(*r->lanes));
	r->lane_names = calloc(r->cpu_count, sizeof(*r->lane_names));
	if (!r->lanes || !r->lane_names)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < r->cpu_count; i++) {
		snprintf(r->lane_names[i], sizeof(*r->lane_names), "CPU %u", r->cpus[i].number);
		r->lanes[i] =
			(struct weft_trace_thread){.name = r->lane_names[i], .tid = r->cpus[i].number};
	}
	r->buffer = (struct weft_trace_buffer){.process = "Linux", .host = "", .file = ""};
	description->buffers = &r->buffer;
	description->buffer_count = 1;
	description->threads = r->lanes;
	description->thread_count = r->cpu_count;
	return 0;
}

/* Times of the counter count from the first event on, as those of Xen's own trace do. */
static void describe_clock(struct linux_reader *r, struct weft_clock *clock)
{
	const bool is_monotonic = strcmp(r->capture.clock, "mono") == 0;
	clock->name = is_monotonic ? "monotonic" : r->capture.clock;
	clock->epoch = is_monotonic ? WEFT_EPOCH_MONOTONIC : WEFT_EPOCH_UNKNOWN;
	clock->hz = 1000000000;
	if (strcmp(r->capture.clock, COUNTER) != 0)
		return;
	clock->name = "tsc";
	clock->rate = r->base.input.hz ? WEFT_RATE_GIVEN : WEFT_RATE_ASSUMED;
	clock->hz = r->base.input.hz ? r->base.input.hz : ASSUMED_HZ;
	weft__format_ticks_init(&r->ticks, r->capture.count ? r->capture.list[0].time : 0, 0, clock->hz,
		UINT64_C(1000000000));
}

static void linux_close(struct weft__reader *base)
{
	struct linux_reader *r = (struct linux_reader *)base;
	weft__format_ftrace_capture_finish(&r->capture);
	if (r->index.slots)
		weft__index_finish(&r->index);
	free(r->threads);
	free(r->cpus);
	free(r->lanes);
	free(r->lane_names);
	free(r->losses);
	free(r);
}

static int fill(struct linux_reader *r, const struct weft__input *input)
{
	int error = weft__format_ftrace_capture_open(input->bytes, input->size, &r->capture);
	if (r->capture.wrong)
		weft_diagnostics_add(input->diagnostics, 0, r->capture.wrong);
	if (r->capture.damaged)
		weft_diagnostics_add(input->diagnostics, 0, "parts of the file are damaged or missing");
	if (error)
		return error;
	error = weft__index_init(&r->index);
	if (!error)
		error = find_cpus(r);
	if (error)
		return error;
	describe_clock(r, &input->description->clock);
	error = describe_lanes(r, input->description);
	return error ? error : describe_losses(r, input->description);
}

static int linux_open(const struct weft__input *input, struct weft__reader **ret_reader)
{
	struct linux_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return WEFT_ERROR_MEMORY;
	r->base.input = *input;
	int error = fill(r, input);
	if (error)
		linux_close(&r->base);
	else
		*ret_reader = &r->base;
	return error;
}

static bool is_trace_dat(const uint8_t *bytes, size_t size)
{
	return weft__format_ftrace_is_capture(bytes, size) && bytes[0] != 'P';
}

static bool is_perf_data(const uint8_t *bytes, size_t size)
{
	return weft__format_ftrace_is_capture(bytes, size) && bytes[0] == 'P';
}

const struct weft__format weft__format_trace_dat = {
	.name = "trace-dat",
	.probe = is_trace_dat,
	.open = linux_open,
	.next = linux_next,
	.close = linux_close,
};

const struct weft__format weft__format_perf_data = {
	.name = "perf-data",
	.probe = is_perf_data,
	.open = linux_open,
	.next = linux_next,
	.close = linux_close,
};
