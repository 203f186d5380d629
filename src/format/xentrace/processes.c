/* SPDX-License-Identifier: ISC
 *
 * Linux records a switch before it makes it. Then it asks Xen to change the page tables, and at
 * last gives Xen the new kernel stack (stack_switch). Only from the next record on, Linux certainly
 * acts for the new process. In between, entries are the vCPU's own.
 *
 * What a process has begun, such as a page fault for which it waits, stays open while others run.
 */
#include "format/xentrace/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/array.h"
#include "format/xentrace/meaning.h"

#define OP_STACK_SWITCH 3u

/* The first key of idle processes. */
#define IDLE (WEFT_XENTRACE_PROCESS_UNKNOWN + 1u)

/* ---- The table ---- */

static uint64_t hash_key(const struct weft__hash_key *secret, uint32_t key)
{
	struct weft__hash hash = weft__hash_begin(secret);
	weft__hash_word(&hash, key);
	return weft__hash_end(&hash);
}

static uint64_t hash_process(
	const struct weft__hash_key *secret, const void *owner, uint32_t number)
{
	return hash_key(secret, ((const struct weft__xentrace_processes *)owner)->list[number].key);
}

static struct weft__xentrace_process *process_at(
	const struct weft__xentrace_meaning *m, uint32_t number)
{
	return &m->processes.list[number - 1];
}

static struct weft__xentrace_task task_of(const struct weft__xentrace_meaning *m, uint32_t number)
{
	return (struct weft__xentrace_task){
		m->processes.buffer, number ? number : (weft_task_id)WEFT_TASK_NONE};
}

static uint32_t *find_slot(struct weft__xentrace_processes *p, uint32_t key)
{
	uint32_t slot = weft__index_start(&p->index, hash_key(&p->index.key, key));
	while (p->index.slots[slot] != WEFT__INDEX_EMPTY && p->list[p->index.slots[slot]].key != key)
		slot = weft__index_next(&p->index, slot);
	return &p->index.slots[slot];
}

static int append(struct weft__xentrace_processes *p, struct weft__xentrace_process process)
{
	const struct weft__column column = {&p->list, sizeof(*p->list)};
	int error = p->index.slots ? 0 : weft__index_init(&p->index);
	if (!error)
		error = weft__columns_reserve(&column, 1, &p->capacity, p->count + 1);
	if (!error)
		p->list[p->count++] = process;
	return error;
}

/* The process that has the key now; the first call for it adds it. 0 without memory. */
static uint32_t find(struct weft__xentrace_meaning *m, uint32_t key)
{
	struct weft__xentrace_processes *p = &m->processes;
	uint32_t *slot = p->count ? find_slot(p, key) : NULL;
	const bool is_again = slot && *slot != WEFT__INDEX_EMPTY;
	if (is_again && !p->list[*slot].has_ended)
		return *slot + 1;
	int error = append(p, (struct weft__xentrace_process){.key = key, .is_new = is_again});
	if (!error && is_again)
		*slot = (uint32_t)p->count - 1;
	else if (!error)
		error = weft__index_add(&p->index, (uint32_t)p->count - 1, hash_process, p);
	if (error && !m->error)
		m->error = error;
	return error ? 0 : (uint32_t)p->count;
}

void weft__format_xentrace_processes_finish(struct weft__xentrace_processes *p)
{
	free(p->list);
	if (p->index.slots)
		weft__index_finish(&p->index);
	*p = (struct weft__xentrace_processes){0};
}

/* ---- Events ---- */

static const char *name_of(
	const struct weft__xentrace_process *p, char name[WEFT__XENTRACE_NAME_BYTES])
{
	if (p->key >= IDLE)
		return "idle";
	snprintf(name, WEFT__XENTRACE_NAME_BYTES, "%s %u", p->name[0] ? p->name : "pid", p->key);
	return name;
}

static void emit_label(struct weft__xentrace_meaning *m, uint32_t number)
{
	char name[WEFT__XENTRACE_NAME_BYTES];
	weft__format_xentrace_set_text(
		weft__format_xentrace_emit(m, WEFT_EVENT_LABEL, task_of(m, number)),
		name_of(process_at(m, number), name), 0);
}

static void know(struct weft__xentrace_meaning *m, uint32_t number)
{
	char name[WEFT__XENTRACE_NAME_BYTES];
	struct weft__xentrace_process *p = number ? process_at(m, number) : NULL;
	if (!p || p->is_known)
		return;
	p->is_known = true;
	weft__format_xentrace_emit_task(m, task_of(m, number), "process", name_of(p, name), p->is_new);
}

static void end_spans(struct weft__xentrace_meaning *m, uint32_t number)
{
	struct weft__xentrace_levels *levels = &process_at(m, number)->levels;
	for (; levels->depth; levels->depth--)
		weft__format_xentrace_emit(m, WEFT_EVENT_END, task_of(m, number));
}

static void end(struct weft__xentrace_meaning *m, uint32_t number)
{
	struct weft__xentrace_process *p = process_at(m, number);
	end_spans(m, number);
	if (p->is_known)
		weft__format_xentrace_emit(m, WEFT_EVENT_RESOLVE, task_of(m, 0))->event.other = number;
	p->has_ended = true;
}

/* Shows the process that runs, if the vCPU has a pCPU. One that ended before the first record is
 * not in the trace. */
static void show(struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu)
{
	char name[WEFT__XENTRACE_NAME_BYTES];
	uint32_t wanted = vcpu->is_on ? vcpu->process : 0;
	if (wanted == vcpu->shown || !vcpu->lane)
		return;
	const uint32_t lane = vcpu->lane - 1;
	know(m, wanted);
	if (vcpu->shown)
		weft__format_xentrace_emit(m, WEFT_EVENT_END, task_of(m, 0))->event.thread = lane;
	weft__format_xentrace_emit(m, WEFT_EVENT_SWITCH, task_of(m, wanted))->event.thread = lane;
	vcpu->shown = wanted;
	if (!wanted)
		return;
	struct weft__xentrace_event *begin =
		weft__format_xentrace_emit(m, WEFT_EVENT_BEGIN, task_of(m, 0));
	begin->event.thread = lane;
	weft__format_xentrace_set_text(begin, name_of(process_at(m, wanted), name), 0);
}

void weft__format_xentrace_run_process(
	struct weft__xentrace_meaning *m, struct weft__xentrace_task task, bool is_on)
{
	const uint32_t buffer = m->buffers[0];
	if (!buffer || task.buffer != buffer || task.id == WEFT_TASK_NONE ||
		task.id >= WEFT__XENTRACE_BUILDS)
		return;
	struct weft__xentrace_state *vcpu =
		weft__format_xentrace_vcpus_find(&m->vcpus, 0, (uint32_t)(task.id - 1) & 0xffff);
	if (!vcpu)
		return;
	vcpu->is_on = is_on;
	show(m, vcpu);
}

/* ---- Lanes ---- */

static int add_lane(struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu)
{
	char name[WEFT__XENTRACE_THREAD_BYTES];
	if (vcpu->lane)
		return 0;
	snprintf(name, sizeof(name), "d0v%u processes", vcpu->vcpu & 0x7fff);
	int error = weft__format_xentrace_add_buffer_of_processes(m);
	if (!error)
		error = weft__format_xentrace_add_thread(
			m->reader, name, vcpu->vcpu, m->processes.buffer, &vcpu->lane);
	vcpu->lane += !error;
	return error;
}

/* dom0's vCPU, which has a lane; NULL after an error. */
static struct weft__xentrace_state *find_vcpu(struct weft__xentrace_meaning *m, uint32_t number)
{
	struct weft__xentrace_state *vcpu = weft__format_xentrace_vcpus_find(&m->vcpus, 0, number);
	int error = vcpu ? add_lane(m, vcpu) : WEFT_ERROR_MEMORY;
	if (error && !m->error)
		m->error = error;
	return error ? NULL : vcpu;
}

int weft__format_xentrace_describe_processes(
	struct weft__xentrace_meaning *m, const struct weft__xentrace_moments *moments)
{
	for (size_t i = 0; i < moments->count && !m->error; i++)
		if (moments->list[i].kind != WEFT_XENTRACE_NOTE_NAME)
			(void)find_vcpu(m, moments->list[i].vcpu);
	return m->error;
}

/* ---- Switches ---- */

/* Xen's records from now on are about another process; those of the one that ran stay open. */
static void leave(struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu)
{
	weft__format_xentrace_end_context(m, vcpu);
	weft__format_xentrace_enter(m, vcpu);
	if (vcpu->owner)
		process_at(m, vcpu->owner)->levels = vcpu->open;
	else if (vcpu->process && !vcpu->has_new_stack) /* it ran while records were lost */
		end_spans(m, vcpu->process);
	while (!vcpu->owner && vcpu->open.depth)
		weft__format_xentrace_pop(m, vcpu);
	vcpu->open = (struct weft__xentrace_levels){0};
	vcpu->owner = 0;
	vcpu->has_new_stack = false;
}

static void end_loss(struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu)
{
	if (vcpu->lost && !m->error)
		m->error = weft__format_xentrace_add_loss(m, vcpu->lost_since, vcpu->lost, vcpu->lane - 1);
	vcpu->lost = 0;
}

static uint32_t key_of(const struct weft__xentrace_moment *moment, uint32_t pid)
{
	return pid ? pid : IDLE + moment->vcpu;
}

static void on_switch(struct weft__xentrace_meaning *m, const struct weft__xentrace_moment *moment)
{
	struct weft__xentrace_state *vcpu = find_vcpu(m, moment->vcpu);
	const bool is_loss = moment->pid == WEFT_XENTRACE_PROCESS_UNKNOWN;
	if (!vcpu)
		return;
	leave(m, vcpu);
	end_loss(m, vcpu);
	vcpu->process = is_loss ? 0 : find(m, key_of(moment, moment->pid));
	if (is_loss && !moment->has_ended) {
		vcpu->lost_since = m->time_ns;
		vcpu->lost = moment->other ? moment->other : 1;
	}
	show(m, vcpu);
	if (moment->has_ended && moment->other && !is_loss) {
		uint32_t other = find(m, moment->other);
		if (other && other != vcpu->process)
			end(m, other);
	}
}

static void on_fork(struct weft__xentrace_meaning *m, const struct weft__xentrace_moment *moment)
{
	if (!moment->pid || moment->pid == moment->other || !find_vcpu(m, moment->vcpu))
		return;
	uint32_t old = find(m, moment->pid), parent = find(m, key_of(moment, moment->other));
	if (!old || !parent || !m->has_begun)
		return;
	if (process_at(m, old)->is_known)
		end(m, old);
	else /* the child has its entry, but is another one */
		process_at(m, old)->name[0] = '\0';
	uint32_t child = find(m, moment->pid);
	if (!child)
		return;
	know(m, parent);
	process_at(m, child)->is_known = true;
	struct weft__xentrace_event *event =
		weft__format_xentrace_emit(m, WEFT_EVENT_CREATE, task_of(m, parent));
	event->event.other = child;
	event->event.kind_name = (struct weft_slice){"process", strlen("process")};
}

static void on_name(struct weft__xentrace_meaning *m, const struct weft__xentrace_moment *moment)
{
	uint32_t number = moment->pid ? find(m, moment->pid) : 0;
	struct weft__xentrace_process *p = number ? process_at(m, number) : NULL;
	if (!p || strcmp(p->name, moment->name) == 0)
		return;
	memcpy(p->name, moment->name, sizeof(p->name));
	if (p->is_known)
		emit_label(m, number);
}

void weft__format_xentrace_meaning_moment(
	struct weft__xentrace_meaning *m, const struct weft__xentrace_moment *moment)
{
	uint64_t time_ns = weft__format_xentrace_ns(&m->reader->clock, moment->cycles);
	m->time_ns = time_ns > m->time_ns ? time_ns : m->time_ns;
	if (moment->kind == WEFT_XENTRACE_NOTE_SWITCH)
		on_switch(m, moment);
	else if (moment->kind == WEFT_XENTRACE_NOTE_FORK)
		on_fork(m, moment);
	else
		on_name(m, moment);
}

void weft__format_xentrace_end_processes(struct weft__xentrace_meaning *m)
{
	for (uint32_t i = m->vcpus.first[0]; i != UINT32_MAX; i = m->vcpus.list[i].next)
		end_loss(m, &m->vcpus.list[i]);
}

/* ---- Entries ---- */

void weft__format_xentrace_settle_process(struct weft__xentrace_meaning *m,
	struct weft__xentrace_state *vcpu, const struct weft__xentrace_record *record)
{
	const bool is_call =
		record->id == WEFT__XENTRACE_HYPERCALL || record->id == WEFT__XENTRACE_SUBCALL;
	if (vcpu->owner == vcpu->process)
		return;
	if (vcpu->has_new_stack && record->id != WEFT__XENTRACE_SUBCALL) {
		while (vcpu->open.depth)
			weft__format_xentrace_pop(m, vcpu);
		vcpu->owner = vcpu->process;
		vcpu->open = process_at(m, vcpu->owner)->levels;
		process_at(m, vcpu->owner)->levels.depth = 0;
	} else if (is_call && (record->words[0] & 0xfffff) == OP_STACK_SWITCH) {
		vcpu->has_new_stack = true;
	}
}

struct weft__xentrace_task weft__format_xentrace_actor(
	const struct weft__xentrace_meaning *m, const struct weft__xentrace_state *vcpu)
{
	return vcpu->owner ? task_of(m, vcpu->owner) : weft__format_xentrace_task_of(m, vcpu);
}
