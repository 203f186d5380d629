/* SPDX-License-Identifier: ISC
 *
 * The events that a record becomes. They wait in a list, which is emptied before the next record.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "format/xentrace/meaning.h"
#include "format/xentrace/names.h"
#include "format/xentrace/survey.h"
#include "model/xentrace_fields.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct weft__xentrace_task none = {WEFT__XENTRACE_XEN, WEFT_TASK_NONE};

static struct weft_slice slice_of(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

struct weft__xentrace_event *weft__format_xentrace_emit(
	struct weft__xentrace_meaning *m, unsigned type, struct weft__xentrace_task task)
{
	const struct weft__column column = {&m->events, sizeof(*m->events)};
	if (!m->error)
		m->error = weft__columns_reserve(&column, 1, &m->event_capacity, m->event_count + 1);
	struct weft__xentrace_event *event = &m->events[m->error ? 0 : m->event_count++];
	m->emitted_ns = m->time_ns;
	event->event = (struct weft_event){
		.time_ns = m->time_ns,
		.offset = m->offset,
		.type = (uint8_t)type,
		.task = task.id,
		.buffer = task.buffer,
	};
	return event;
}

/* Its bytes are the next ones of the event's words. */
static struct weft_field text_field(const char *name, size_t size)
{
	return (struct weft_field){
		.name = slice_of(name), .type = WEFT_FIELD_TEXT, .value.text.size = size};
}

/* The text is linked when the event is returned: until then its address may change. */
void weft__format_xentrace_set_text(
	struct weft__xentrace_event *event, const char *name, uint32_t count)
{
	int size = count ? snprintf(event->text, sizeof(event->text), "%.40s ×%u", name, count)
					 : snprintf(event->text, sizeof(event->text), "%.40s", name);
	event->event.text.size = size > 0 ? (size_t)size : 0;
}

void weft__format_xentrace_emit_mark(struct weft__xentrace_meaning *m,
	struct weft__xentrace_task task, const char *name, const struct weft__xentrace_record *record)
{
	struct weft__xentrace_event *event = weft__format_xentrace_emit(m, WEFT_EVENT_MARK, task);
	struct weft_xentrace_record shown = {.id = record->id, .arg_count = record->count};
	char words[WEFT__XENTRACE_FIELDS_BYTES + 1];
	memcpy(shown.args, record->words, sizeof(shown.args));
	*weft__model_xentrace_text(&shown, words) = '\0';
	int size = snprintf(event->text, sizeof(event->text), "%.22s %.40s", name, words);
	event->event.text.size = (size_t)size - !words[0];
}

void weft__format_xentrace_emit_words(struct weft__xentrace_meaning *m,
	struct weft__xentrace_task task, const struct weft__xentrace_record *record)
{
	char name[WEFT__XENTRACE_NAME_BYTES];
	struct weft__xentrace_event *event = weft__format_xentrace_emit(m, WEFT_EVENT_MARK, task);
	size_t size = 0;
	snprintf(name, sizeof(name), "guest 0x%x", record->id & 0xfff);
	weft__format_xentrace_set_text(event, name, 0);
	for (uint32_t i = 0; i < record->count; i++)
		size += (size_t)snprintf(event->words + size, sizeof(event->words) - size, "%s0x%08x",
			i ? " " : "", record->words[i]);
	event->fields[0] = text_field("words", size);
	event->event.field_count = 1;
}

void weft__format_xentrace_link_fields(struct weft__xentrace_event *event)
{
	const char *at = event->words;
	if (event->event.field_count)
		event->event.fields = event->fields;
	for (uint32_t i = 0; i < event->event.field_count; i++) {
		if (event->fields[i].type != WEFT_FIELD_TEXT)
			continue;
		event->fields[i].value.text.bytes = at;
		at += event->fields[i].value.text.size;
	}
}

/* ---- Contexts ---- */

/* Fields as those that programs record: src/model/contexts.c reads them. */
static void set_context(struct weft__xentrace_event *event,
	const struct weft__xentrace_context *context, uint64_t span, uint64_t parent)
{
	snprintf(event->words, sizeof(event->words),
		"%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64, context->trace_high,
		context->trace_low, span, parent);
	event->fields[0] = text_field("trace_id", 32);
	event->fields[1] = text_field("span_id", 16);
	event->fields[2] = (struct weft_field){
		.name = slice_of("trace_flags"), .type = WEFT_FIELD_U64, .value.u64 = context->flags};
	event->fields[3] = text_field("parent_span_id", 16);
	event->event.field_count = parent ? 4 : 3;
}

void weft__format_xentrace_emit_context(struct weft__xentrace_meaning *m,
	const struct weft__xentrace_state *vcpu, const struct weft__xentrace_context *context)
{
	struct weft__xentrace_event *event =
		weft__format_xentrace_emit(m, WEFT_EVENT_MARK, weft__format_xentrace_actor(m, vcpu));
	weft__format_xentrace_set_text(event, context->span ? "xen context" : "no xen context", 0);
	if (context->span)
		set_context(event, context, context->span, 0);
}

/* An id for a span of the vCPU, the same whenever the trace is read; not 0. */
static uint64_t make_span(
	struct weft__xentrace_state *vcpu, const struct weft__xentrace_context *context)
{
	const uint64_t of[] = {context->trace_low, context->span,
		(uint64_t)vcpu->domain << 32 | vcpu->vcpu, ++vcpu->contexts};
	uint64_t span = 0;
	for (size_t i = 0; i < COUNT(of); i++) {
		span = (span ^ of[i]) * UINT64_C(0x9e3779b97f4a7c15);
		span ^= span >> 29;
	}
	return span ? span : 1;
}

void weft__format_xentrace_emit_span_context(struct weft__xentrace_meaning *m,
	struct weft__xentrace_state *vcpu, const struct weft__xentrace_context *context)
{
	struct weft__xentrace_event *event =
		weft__format_xentrace_emit(m, WEFT_EVENT_MARK, weft__format_xentrace_actor(m, vcpu));
	weft__format_xentrace_set_text(event, "span context", 0);
	set_context(event, context, make_span(vcpu, context), context->span);
}

void weft__format_xentrace_emit_run(
	struct weft__xentrace_meaning *m, uint32_t cpu, struct weft__xentrace_task task)
{
	struct weft__xentrace_pcpu *pcpu = &m->pcpus[cpu];
	const struct weft__xentrace_task before = pcpu->runs;
	if (before.id == task.id && before.buffer == task.buffer)
		return;
	pcpu->runs = task;
	weft__format_xentrace_run_process(m, before, false);
	weft__format_xentrace_emit(m, WEFT_EVENT_SWITCH, task)->event.thread = pcpu->thread;
	weft__format_xentrace_run_process(m, task, true);
}

void weft__format_xentrace_emit_vcpu(
	struct weft__xentrace_meaning *m, uint32_t cpu, struct weft__xentrace_vcpu vcpu)
{
	struct weft__xentrace_vcpu *shown = &m->pcpus[cpu].shown;
	const uint32_t thread = m->pcpus[cpu].thread;
	char name[32] = "idle";
	if (shown->domain == vcpu.domain && shown->vcpu == vcpu.vcpu)
		return;
	if (shown->domain != WEFT_XENTRACE_UNKNOWN)
		weft__format_xentrace_emit(m, WEFT_EVENT_END, none)->event.thread = thread;
	*shown = vcpu;
	if (vcpu.domain == WEFT_XENTRACE_UNKNOWN)
		return;
	if (vcpu.domain < WEFT__XENTRACE_DOMAINS)
		snprintf(name, sizeof(name), "d%uv%u", vcpu.domain, vcpu.vcpu);
	struct weft__xentrace_event *event = weft__format_xentrace_emit(m, WEFT_EVENT_BEGIN, none);
	event->event.thread = thread;
	weft__format_xentrace_set_text(event, name, 0);
}

void weft__format_xentrace_emit_task(struct weft__xentrace_meaning *m,
	struct weft__xentrace_task task, const char *kind, const char *name, bool is_new)
{
	struct weft__xentrace_event *event;
	if (is_new) {
		event = weft__format_xentrace_emit(
			m, WEFT_EVENT_CREATE, (struct weft__xentrace_task){task.buffer, WEFT_TASK_NONE});
		event->event.other = task.id;
		event->event.kind_name = slice_of(kind);
		event = weft__format_xentrace_emit(m, WEFT_EVENT_LABEL, task);
	} else {
		event = weft__format_xentrace_emit(m, WEFT_EVENT_ALIVE, task);
		event->event.other = WEFT_TASK_NONE;
		event->event.kind_name = slice_of(kind);
		event->event.is_rundown = true;
	}
	weft__format_xentrace_set_text(event, name, 0);
}

/* Tasks of two buffers are joined by a message, of which they are the two sides. */
void weft__format_xentrace_emit_wake(struct weft__xentrace_meaning *m,
	struct weft__xentrace_task sender, struct weft__xentrace_task receiver)
{
	if (sender.id == WEFT_TASK_NONE ||
		(sender.id == receiver.id && sender.buffer == receiver.buffer))
		return;
	if (sender.buffer == receiver.buffer) {
		weft__format_xentrace_emit(m, WEFT_EVENT_SIGNAL, receiver)->event.other = sender.id;
		return;
	}
	const weft_message_key key = ++m->messages;
	weft__format_xentrace_emit(m, WEFT_EVENT_SEND, sender)->event.key = key;
	weft__format_xentrace_emit(m, WEFT_EVENT_RECEIVE, receiver)->event.key = key;
}

/* ---- Hypercalls ---- */

/* clang-format off */
static const char *const grant_commands[] = {
	"map_grant_ref", "unmap_grant_ref", "setup_table", "dump_table", "transfer", "copy", "query_size",
	"unmap_and_replace", "set_version", "get_status_frames", "get_version", "swap_grant_ref",
	"cache_flush",
};
static const char *const vcpu_commands[] = {
	"initialise", "up", "down", "is_up", "get_runstate_info", "register_runstate_memory_area",
	"set_periodic_timer", "stop_periodic_timer", "set_singleshot_timer", "stop_singleshot_timer",
	"register_vcpu_info", "send_nmi", "get_physid", "register_vcpu_time_memory_area",
};
static const char *const sched_commands[] = {
	"yield", "block", "shutdown", "poll", "remote_shutdown", "shutdown_code", "watchdog",
	"pin_override",
};
/* clang-format on */

enum {
	OP_MMU_UPDATE = 1,
	OP_MULTICALL = 13,
	OP_GRANT_TABLE_OP = 20,
	OP_VCPU_OP = 24,
	OP_MMUEXT_OP = 26,
	OP_SCHED_OP = 29,
};

/* The word of an argument that the record has; NULL: it has not. */
static const uint32_t *argument(const struct weft__xentrace_record *record, uint32_t wanted)
{
	uint32_t word = 1, present = record->words[0] >> 20;
	for (uint32_t i = 0; i < wanted; i++)
		word += present >> 2 * i & 3;
	return present >> 2 * wanted & 3 && word < record->count ? &record->words[word] : NULL;
}

static const char *command_name(const struct weft__xentrace_record *record, uint32_t op)
{
	const uint32_t *command = argument(record, 0);
	uint32_t number = command ? *command & 0xfff : UINT32_MAX;
	if (op == OP_GRANT_TABLE_OP && number < COUNT(grant_commands))
		return grant_commands[number];
	if (op == OP_VCPU_OP && number < COUNT(vcpu_commands))
		return vcpu_commands[number];
	if (op == OP_SCHED_OP && number < COUNT(sched_commands))
		return sched_commands[number];
	return NULL;
}

const char *weft__format_xentrace_call_name(
	const struct weft__xentrace_record *record, char name[WEFT__XENTRACE_NAME_BYTES])
{
	uint32_t op = record->words[0] & 0xfffff;
	const char *known = weft__format_xentrace_hypercall(op), *command = command_name(record, op);
	if (!known)
		snprintf(name, WEFT__XENTRACE_NAME_BYTES, "hypercall %u", op);
	else if (command)
		snprintf(name, WEFT__XENTRACE_NAME_BYTES, "%s %s", known, command);
	return known && !command ? known : name;
}

uint32_t weft__format_xentrace_call_count(const struct weft__xentrace_record *record)
{
	uint32_t op = record->words[0] & 0xfffff;
	bool has_count = op == OP_MMU_UPDATE || op == OP_MULTICALL || op == OP_MMUEXT_OP;
	const uint32_t *count = has_count                 ? argument(record, 1)
							: op == OP_GRANT_TABLE_OP ? argument(record, 2)
													  : NULL;
	return count ? *count & ~(op == OP_MULTICALL ? 0 : UINT32_C(0x80000000)) : 0;
}
