/* SPDX-License-Identifier: ISC
 *
 * Made traces of Xen in which dom0's vCPU makes hypercalls, and the events that they become as
 * text. A cycle is 1 ns, and time counts from the first record, which these traces have at 1000.
 */
#ifndef WEFT_TESTS_XENTRACE_EVENTS_H
#define WEFT_TESTS_XENTRACE_EVENTS_H

#include <stdio.h>
#include <string.h>

#include "made_xentrace.h"

#define PREEMPTED 0x80000000u

enum {
	MMU_UPDATE = 1,
	MEMORY_OP = 12,
	MULTICALL = 13,
	XEN_VERSION = 17,
	GRANT_TABLE_OP = 20,
	IRET = 23,
	VCPU_OP = 24,
	MMUEXT_OP = 26,
	SCHED_OP = 29,
	EVENT_CHANNEL_OP = 32,
	DOMCTL = 36,
};

/* ---- Traces ---- */

/* dom0's vCPU runs on pCPU 0 from 1000 on. */
static inline struct made_xentrace *start(void)
{
	struct made_xentrace *t = xentrace_begin();
	xentrace_window(t, 0);
	xentrace_runstate(t, 1000, 0, 0, RUNNABLE, RUNNING);
	return t;
}

static inline void call(struct made_xentrace *t, uint64_t cycles, uint32_t op)
{
	RECORD(t, 0x20100d, cycles, op);
}

/* The hypercall's second argument is recorded. */
static inline void call_count(struct made_xentrace *t, uint64_t cycles, uint32_t op, uint32_t count)
{
	RECORD(t, 0x20100d, cycles, op | 1u << 22, count);
}

/* Its first argument is. */
static inline void call_command(
	struct made_xentrace *t, uint64_t cycles, uint32_t op, uint32_t command)
{
	RECORD(t, 0x20100d, cycles, op | 1u << 20, command);
}

/* The command is `map_grant_ref`, 1 `unmap_grant_ref`; `done` of the pages follow. */
static inline void call_grants(
	struct made_xentrace *t, uint64_t cycles, uint32_t command, uint32_t count, uint32_t done)
{
	RECORD(t, 0x20100d, cycles, GRANT_TABLE_OP | 1u << 20 | 1u << 24, command, count);
	for (uint32_t i = 0; i < done; i++)
		RECORD(t, command & 1 ? 0x10f002 : 0x10f001, cycles + 1 + i, 1);
}

static inline void subcalls(struct made_xentrace *t, uint64_t cycles, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		RECORD(t, 0x20200e, cycles + i, XEN_VERSION);
}

/* Xen's scheduler runs for 2 cycles and lets the vCPU go on. */
static inline void schedule(struct made_xentrace *t, uint64_t cycles)
{
	RECORD(t, 0x22215, cycles, 0, 0);
	RECORD(t, 0x21002, cycles + 2, 0);
}

/* ---- Events ---- */

static inline void print_id(
	char *text, size_t size, const char *before, uint32_t buffer, uint64_t id)
{
	if (id == WEFT_TASK_NONE)
		snprintf(text, size, "%s-", before);
	else
		snprintf(text, size, "%s%u.%llu", before, buffer, (unsigned long long)id);
}

/* One line: the time, the event, its task as buffer.id, and what else the event has. */
static inline size_t print_event(char *text, size_t size, const struct weft_event *e)
{
	char task[40], other[40] = "", value[200] = "", thread[20] = "";
	size_t used = 0;
	print_id(task, sizeof(task), "", e->buffer, e->task);
	if (e->type == WEFT_EVENT_CREATE ||
		(e->type == WEFT_EVENT_ALIVE && e->other != WEFT_TASK_NONE) ||
		e->type == WEFT_EVENT_SIGNAL || e->type == WEFT_EVENT_RESOLVE)
		print_id(other, sizeof(other), " ", e->buffer, e->other);
	if (e->type == WEFT_EVENT_SEND || e->type == WEFT_EVENT_RECEIVE || e->has_value)
		snprintf(value, sizeof(value), " %lld", (long long)e->value);
	for (uint32_t i = 0; e->type == WEFT_EVENT_MARK && i < e->field_count; i++) {
		const struct weft_field *field = &e->fields[i];
		used += (size_t)snprintf(
			value + used, sizeof(value) - used, " %.*s=", (int)field->name.size, field->name.bytes);
		if (field->type == WEFT_FIELD_TEXT)
			used += (size_t)snprintf(value + used, sizeof(value) - used, "%.*s",
				(int)field->value.text.size, field->value.text.bytes);
		else
			used += (size_t)snprintf(
				value + used, sizeof(value) - used, "%llu", (unsigned long long)field->value.u64);
	}
	if (e->type == WEFT_EVENT_SWITCH)
		snprintf(thread, sizeof(thread), " cpu%u", e->thread);
	return (size_t)snprintf(text, size, "%llu %s%s %s%s%s%.*s%s%.*s%s\n",
		(unsigned long long)e->time_ns, weft_event_describe(e->type)->name, thread, task, other,
		e->kind_name.size ? " " : "", (int)e->kind_name.size, e->kind_name.bytes,
		e->text.size ? " " : "", (int)e->text.size, e->text.bytes, value);
}

/* True for the spans of a pCPU itself, which tests of vCPUs leave out. */
static inline bool is_of_pcpu(const struct weft_event *event)
{
	bool is_part = event->type == WEFT_EVENT_BEGIN || event->type == WEFT_EVENT_END;
	return is_part && event->task == WEFT_TASK_NONE;
}

/* The events from `from_ns` on. */
static inline void assert_events_of(
	const struct opened_xentrace *opened, uint64_t from_ns, const char *expected)
{
	struct weft_event event;
	char got[8192] = "";
	size_t at = 0;
	assert_int_equal(opened->finished, 0);
	while (weft_decoder_next(opened->decoder, &event) == WEFT_OK)
		if (event.time_ns >= from_ns && !is_of_pcpu(&event))
			at += print_event(got + at, sizeof(got) - at, &event);
	assert_string_equal(got, expected);
	assert_int_equal(weft_decoder_diagnostics(opened->decoder)->count, 0);
}

/* The same. Frees the trace. */
static inline void assert_events(struct made_xentrace *t, uint64_t from_ns, const char *expected)
{
	struct opened_xentrace opened = xentrace_open(t);
	assert_events_of(&opened, from_ns, expected);
	xentrace_finish(&opened);
	free(t);
}

/* The names of hypercalls in order, each with the number of its continuations. Frees the trace. */
static inline void assert_calls(struct made_xentrace *t, const char *expected)
{
	struct opened_xentrace opened = xentrace_open(t);
	struct weft_event event;
	char got[4096] = "";
	size_t at = 0;
	while (weft_decoder_next(opened.decoder, &event) == WEFT_OK) {
		char name[64];
		snprintf(name, sizeof(name), "%.*s", (int)event.text.size, event.text.bytes);
		bool is_call = event.type == WEFT_EVENT_BEGIN && !is_of_pcpu(&event) &&
					   strcmp(name, "iret") != 0 && strcmp(name, "preempted") != 0 &&
					   strcmp(name, "runnable") != 0 && strcmp(name, "physdev_op_compat") != 0;
		if (is_call)
			at += (size_t)snprintf(got + at, sizeof(got) - at, at ? ", %s" : "%s", name);
		if (event.type == WEFT_EVENT_TAG)
			at += (size_t)snprintf(got + at, sizeof(got) - at, "+%lld", (long long)event.value);
	}
	assert_string_equal(got, expected);
	xentrace_finish(&opened);
	free(t);
}

#endif
