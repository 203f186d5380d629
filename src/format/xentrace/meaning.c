/* SPDX-License-Identifier: ISC
 *
 * From records to events. A pCPU is a thread, a vCPU a task of its domain's buffer; Xen's scheduler
 * on each pCPU and each interrupt are tasks of Xen's own buffer. What Xen does for a vCPU is a
 * span.
 */
#include "format/xentrace/meaning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/xentrace/names.h"
#include "format/xentrace/survey.h"

#define KNOWN_IRQS 4096u /* others are new each time, which changes nothing */

static const struct weft__xentrace_task none = {WEFT__XENTRACE_XEN, WEFT_TASK_NONE};

static struct weft__xentrace_task xen_task(weft_task_id id)
{
	return (struct weft__xentrace_task){WEFT__XENTRACE_XEN, id};
}

/* ---- vCPUs ---- */

/* The state of a vCPU whose task the model knows; NULL for those of Xen itself, and without
 * memory. */
static struct weft__xentrace_state *know_vcpu(
	struct weft__xentrace_meaning *m, struct weft__xentrace_vcpu of, bool is_new)
{
	char name[32];
	if (of.domain >= WEFT__XENTRACE_DOMAINS)
		return NULL;
	if (!m->error)
		m->error = weft__format_xentrace_add_domain(m, of.domain);
	struct weft__xentrace_state *vcpu =
		weft__format_xentrace_vcpus_find(&m->vcpus, of.domain, of.vcpu);
	if (!vcpu)
		m->error = WEFT_ERROR_MEMORY;
	if (!vcpu || vcpu->is_known)
		return vcpu;
	if (vcpu->generation) { /* the list of its domain was emptied */
		vcpu->next = m->vcpus.first[of.domain];
		m->vcpus.first[of.domain] = (uint32_t)(vcpu - m->vcpus.list);
	}
	vcpu->is_known = true;
	weft__format_xentrace_end_build(m, of.domain);
	snprintf(name, sizeof(name), "d%uv%u", of.domain, of.vcpu);
	bool is_created = is_new || vcpu->generation;
	weft__format_xentrace_emit_task(
		m, weft__format_xentrace_task_of(m, vcpu), "vcpu", name, is_created);
	return vcpu;
}

static struct weft__xentrace_state *vcpu_on(struct weft__xentrace_meaning *m, uint32_t cpu)
{
	return know_vcpu(m, m->reader->running[cpu].now, false);
}

/* The task of the vCPU that runs on a pCPU: none if that is idle, or if it is not known. */
static struct weft__xentrace_task task_on(struct weft__xentrace_meaning *m, uint32_t cpu)
{
	struct weft__xentrace_state *vcpu = vcpu_on(m, cpu);
	return vcpu ? weft__format_xentrace_task_of(m, vcpu) : none;
}

/* The same, or the process that the vCPU runs, if that is known. */
static struct weft__xentrace_task actor_on(struct weft__xentrace_meaning *m, uint32_t cpu)
{
	struct weft__xentrace_state *vcpu = vcpu_on(m, cpu);
	return vcpu ? weft__format_xentrace_actor(m, vcpu) : none;
}

/* The task that is the reason if a vCPU becomes runnable now on this pCPU: an interrupt, or a guest
 * that asked Xen for something. */
static struct weft__xentrace_task waker_on(struct weft__xentrace_meaning *m, uint32_t cpu)
{
	const struct weft__xentrace_pcpu *pcpu = &m->pcpus[cpu];
	if (pcpu->irqs)
		return pcpu->irq;
	struct weft__xentrace_state *vcpu = vcpu_on(m, cpu);
	return vcpu && vcpu->may_wake ? weft__format_xentrace_actor(m, vcpu) : none;
}

static void count_wake(struct weft__xentrace_meaning *m, struct weft__xentrace_task waker)
{
	enum weft_waker by = waker.id == WEFT_TASK_NONE           ? WEFT_WAKER_NOBODY
						 : waker.buffer == WEFT__XENTRACE_XEN ? WEFT_WAKER_INTERRUPT
															  : WEFT_WAKER_VCPU;
	m->reader->base.input.description->wakes[by]++;
}

static void set_runnable(
	struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu, bool is_runnable)
{
	bool is_now = weft__format_xentrace_top(vcpu) == WEFT__XENTRACE_LEVEL_RUNNABLE;
	if (is_runnable && !is_now)
		weft__format_xentrace_push(m, vcpu, WEFT__XENTRACE_LEVEL_RUNNABLE, "runnable", 0);
	else if (!is_runnable && is_now)
		weft__format_xentrace_pop(m, vcpu);
}

/* A change of the state of a vCPU: `old` and `new` are of enum weft__xentrace_runstate. */
static void on_runstate(
	struct weft__xentrace_meaning *m, const struct weft__xentrace_record *record)
{
	uint32_t new = record->id >> 4 & 15, old = record->id >> 8 & 15, word = record->words[0];
	const struct weft__xentrace_vcpu of = {word >> 16, word & 0xffff};
	struct weft__xentrace_task waker =
		old == WEFT__XENTRACE_BLOCKED ? waker_on(m, record->cpu) : none;
	struct weft__xentrace_state *vcpu = know_vcpu(m, of, old == WEFT__XENTRACE_OFFLINE);
	if (vcpu && new == WEFT__XENTRACE_RUNNABLE && old == WEFT__XENTRACE_BLOCKED)
		count_wake(m, waker);
	if (vcpu && new == WEFT__XENTRACE_RUNNABLE && waker.id != WEFT_TASK_NONE) {
		weft__format_xentrace_emit_wake(m, waker, weft__format_xentrace_task_of(m, vcpu));
		weft__format_xentrace_raise(m, record->cpu, waker, vcpu);
	}
	if (vcpu && vcpu->gives_up && old == WEFT__XENTRACE_RUNNING) {
		weft__format_xentrace_close(m, vcpu, WEFT__XENTRACE_LEVEL_ENTRY);
		vcpu->gives_up = false;
	}
	if (vcpu && old == WEFT__XENTRACE_RUNNING && m->pcpus_in_loss)
		weft__format_xentrace_end_context(m, vcpu);
	/* While a pCPU loses records, it may run the vCPU. */
	if (vcpu)
		set_runnable(m, vcpu, new == WEFT__XENTRACE_RUNNABLE && !m->pcpus_in_loss);
	weft__format_xentrace_follow_raise(m, record, vcpu);
	if (new == WEFT__XENTRACE_RUNNING)
		weft__format_xentrace_emit_run(
			m, record->cpu, vcpu ? weft__format_xentrace_task_of(m, vcpu) : none);
}

/* The task of Xen's scheduler on a pCPU. */
static struct weft__xentrace_task scheduler_on(struct weft__xentrace_meaning *m, uint32_t cpu)
{
	struct weft__xentrace_pcpu *pcpu = &m->pcpus[cpu];
	const struct weft__xentrace_task task = xen_task(WEFT__XENTRACE_SCHEDULER + cpu);
	char name[32];
	if (!pcpu->has_scheduler) {
		pcpu->has_scheduler = true;
		snprintf(
			name, sizeof(name), "scheduler %u", (unsigned)m->reader->threads[pcpu->thread].tid);
		weft__format_xentrace_emit_task(m, task, "scheduler", name, false);
	}
	return task;
}

/* The scheduler runs because another pCPU kicked this one. */
static void take_kick(struct weft__xentrace_meaning *m, uint32_t cpu, uint32_t kick)
{
	struct weft__xentrace_pcpu *pcpu = &m->pcpus[cpu];
	if (kick && kick == pcpu->kick)
		weft__format_xentrace_emit(m, WEFT_EVENT_RECEIVE, scheduler_on(m, cpu))->event.key =
			WEFT__XENTRACE_KICKS + kick;
	pcpu->kick = 0;
}

static void on_schedule(struct weft__xentrace_meaning *m, uint32_t cpu, uint32_t kick)
{
	struct weft__xentrace_state *vcpu = vcpu_on(m, cpu);
	if (vcpu) {
		vcpu->may_wake = false;
		weft__format_xentrace_preempt(m, vcpu);
	}
	weft__format_xentrace_emit_run(m, cpu, scheduler_on(m, cpu));
	take_kick(m, cpu, kick);
}

/* A kick comes from the task that makes another one runnable here, as waker_on() finds it;
 * otherwise all that the trace says is that Xen's scheduler sent it. */
static void on_tickle(struct weft__xentrace_meaning *m, uint32_t cpu,
	const struct weft__xentrace_hindsight *hindsight)
{
	struct weft__xentrace_task sender = waker_on(m, cpu);
	if (!hindsight->kick)
		return;
	if (sender.id == WEFT_TASK_NONE)
		sender = scheduler_on(m, cpu);
	m->pcpus[hindsight->target].kick = hindsight->kick;
	weft__format_xentrace_emit(m, WEFT_EVENT_SEND, sender)->event.key =
		WEFT__XENTRACE_KICKS + hindsight->kick;
}

/* ---- Entries into Xen ---- */

/* Hypercalls by which a guest can make a vCPU runnable. */
static bool can_wake(uint32_t op)
{
	static const uint64_t ops = UINT64_C(1) << 13 /* multicall */ | UINT64_C(1) << 16 |
								UINT64_C(1) << 20 /* grant_table_op */ |
								UINT64_C(1) << 24 /* vcpu_op */ | UINT64_C(1) << 29 /* sched_op */ |
								UINT64_C(1) << 32 /* event_channel_op */ | UINT64_C(1) << 33 |
								UINT64_C(1) << 34 /* hvm_op */ | UINT64_C(1) << 36 /* domctl */ |
								UINT64_C(1) << 41 /* dm_op */;
	return op < 64 && ops >> op & 1;
}

#define OP_IRET   23u
#define OP_HVM_OP 34u

/* The guest goes back to where a fault interrupted it. */
static void on_iret(struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu)
{
	weft__format_xentrace_push(m, vcpu, WEFT__XENTRACE_LEVEL_ENTRY, "iret", 0);
	weft__format_xentrace_pop(m, vcpu);
	if (weft__format_xentrace_top(vcpu) == WEFT__XENTRACE_LEVEL_FAULT)
		weft__format_xentrace_pop(m, vcpu);
}

static void on_hypercall(struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu,
	const struct weft__xentrace_record *record, const struct weft__xentrace_hindsight *hindsight)
{
	char name[WEFT__XENTRACE_NAME_BYTES];
	uint32_t op = record->words[0] & 0xfffff;
	if (hindsight->is_continuation && vcpu->open.left) {
		vcpu->open.left--;
		weft__format_xentrace_close(m, vcpu, WEFT__XENTRACE_LEVEL_PREEMPTED);
		weft__format_xentrace_close(m, vcpu, WEFT__XENTRACE_LEVEL_SUBCALL);
		return;
	}
	weft__format_xentrace_check_switch(m, vcpu, op);
	weft__format_xentrace_enter(m, vcpu);
	vcpu->may_wake = can_wake(op);
	vcpu->is_hvm_op = op == OP_HVM_OP;
	if (op == OP_IRET) {
		on_iret(m, vcpu);
		return;
	}
	const char *known = weft__format_xentrace_call_name(record, name);
	weft__format_xentrace_push(
		m, vcpu, WEFT__XENTRACE_LEVEL_ENTRY, known, weft__format_xentrace_call_count(record));
	vcpu->gives_up = !strcmp(known, "sched_op block") || !strcmp(known, "sched_op yield") ||
					 !strcmp(known, "sched_op poll");
	if (!hindsight->continuations)
		return;
	vcpu->open.left = hindsight->continuations;
	struct weft__xentrace_event *tag =
		weft__format_xentrace_emit(m, WEFT_EVENT_TAG, weft__format_xentrace_actor(m, vcpu));
	weft__format_xentrace_set_text(tag, "continuations", 0);
	tag->event.value = hindsight->continuations;
	tag->event.has_value = true;
}

static void on_subcall(struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu,
	const struct weft__xentrace_record *record)
{
	char name[WEFT__XENTRACE_NAME_BYTES];
	weft__format_xentrace_close(m, vcpu, WEFT__XENTRACE_LEVEL_SUBCALL);
	vcpu->may_wake |= can_wake(record->words[0] & 0xfffff);
	vcpu->is_hvm_op = (record->words[0] & 0xfffff) == OP_HVM_OP;
	weft__format_xentrace_check_switch(m, vcpu, record->words[0] & 0xfffff);
	weft__format_xentrace_push(m, vcpu, WEFT__XENTRACE_LEVEL_SUBCALL,
		weft__format_xentrace_call_name(record, name), weft__format_xentrace_call_count(record));
}

/* Faults are handled by the guest, up to its iret; one that has not ended has left its handler in
 * another way. */
static void on_fault(
	struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu, const char *name)
{
	weft__format_xentrace_enter(m, vcpu);
	vcpu->may_wake = false;
	if (weft__format_xentrace_top(vcpu) == WEFT__XENTRACE_LEVEL_FAULT)
		weft__format_xentrace_pop(m, vcpu);
	weft__format_xentrace_push(m, vcpu, WEFT__XENTRACE_LEVEL_FAULT, name, 0);
}

static void on_trap(struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu,
	const struct weft__xentrace_record *record)
{
	char name[WEFT__XENTRACE_NAME_BYTES];
	uint32_t number = record->words[record->id & WEFT__XENTRACE_64 ? 2 : 1] & 0x7fff;
	const char *known = weft__format_xentrace_trap(number);
	snprintf(name, sizeof(name), "trap %u", number);
	on_fault(m, vcpu, known ? known : name);
}

static void on_entry(
	struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu, const char *name)
{
	weft__format_xentrace_enter(m, vcpu);
	vcpu->may_wake = false;
	weft__format_xentrace_push(m, vcpu, WEFT__XENTRACE_LEVEL_ENTRY, name, 0);
}

static void on_exit_record(struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu,
	const struct weft__xentrace_record *record, bool is_svm)
{
	char number[WEFT__XENTRACE_NAME_BYTES];
	const char *name = weft__format_xentrace_exit(record->words[0], is_svm);
	while (vcpu->open.depth)
		weft__format_xentrace_pop(m, vcpu);
	snprintf(number, sizeof(number), "vmexit 0x%x", record->words[0]);
	vcpu->may_wake = true;
	weft__format_xentrace_push(m, vcpu, WEFT__XENTRACE_LEVEL_EXIT, name ? name : number, 0);
}

/* Records of a guest's class that have a meaning for the vCPU that runs. */
static void on_guest(struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu,
	const struct weft__xentrace_known *known, const struct weft__xentrace_record *record,
	const struct weft__xentrace_hindsight *hindsight)
{
	const char *name;
	switch (known->kind) {
	case WEFT__XENTRACE_HYPERCALL:
		on_hypercall(m, vcpu, record, hindsight);
		break;
	case WEFT__XENTRACE_SUBCALL:
		on_subcall(m, vcpu, record);
		break;
	case WEFT__XENTRACE_TRAP:
		on_trap(m, vcpu, record);
		break;
	case WEFT__XENTRACE_PAGE_FAULT:
		on_fault(m, vcpu, known->name);
		break;
	case WEFT__XENTRACE_HYPERCALL_OLD:
		name =
			weft__format_xentrace_hypercall(record->words[record->id & WEFT__XENTRACE_64 ? 2 : 1]);
		on_entry(m, vcpu, name ? name : known->name);
		break;
	case WEFT__XENTRACE_EXIT:
	case WEFT__XENTRACE_EXIT_SVM:
		on_exit_record(
			m, vcpu, record, m->reader->is_svm || known->kind == WEFT__XENTRACE_EXIT_SVM);
		break;
	case WEFT__XENTRACE_VMMCALL:
		name = weft__format_xentrace_hypercall(record->words[0]);
		weft__format_xentrace_push(
			m, vcpu, WEFT__XENTRACE_LEVEL_ENTRY, name ? name : known->name, 0);
		break;
	case WEFT__XENTRACE_ENTRY:
		weft__format_xentrace_close(m, vcpu, WEFT__XENTRACE_LEVEL_EXIT);
		break;
	default:
		if (record->id >> 12 == 0x201)
			on_entry(m, vcpu, known->name);
	}
}

/* ---- Xen ---- */

static void end_domain(struct weft__xentrace_meaning *m, uint32_t domain)
{
	if (domain >= WEFT__XENTRACE_DOMAINS)
		return;
	uint32_t *first = &m->vcpus.first[domain];
	weft__format_xentrace_withdraw(m);
	weft__format_xentrace_end_build(m, domain);
	for (uint32_t number = *first; number != UINT32_MAX;) {
		struct weft__xentrace_state *vcpu = &m->vcpus.list[number];
		number = vcpu->next;
		vcpu->open.depth = 0;
		vcpu->open.left = 0;
		vcpu->changes_context = vcpu->shows_switches = false;
		weft__format_xentrace_end_sleep(m, vcpu);
		if (!vcpu->is_known)
			continue;
		struct weft__xentrace_event *event = weft__format_xentrace_emit(m, WEFT_EVENT_RESOLVE,
			(struct weft__xentrace_task){m->buffers[domain], WEFT_TASK_NONE});
		event->event.other = weft__format_xentrace_task_of(m, vcpu).id;
		vcpu->is_known = false;
		vcpu->generation++;
	}
	*first = UINT32_MAX;
}

static void on_interrupt_begin(
	struct weft__xentrace_meaning *m, const struct weft__xentrace_irq *irq)
{
	struct weft__xentrace_pcpu *pcpu = &m->pcpus[irq->cpu];
	char name[32];
	uint8_t bit = (uint8_t)(1u << irq->number % 8);
	uint8_t *known = irq->number < KNOWN_IRQS ? &m->is_irq_known[irq->number / 8] : NULL;
	pcpu->irq = xen_task(WEFT__XENTRACE_IRQS + irq->number);
	pcpu->irqs++;
	weft__format_xentrace_begin_interrupt(m, irq->cpu);
	if (known && !(*known & bit)) {
		*known |= bit;
		snprintf(name, sizeof(name), "irq %u", irq->number);
		weft__format_xentrace_emit_task(m, pcpu->irq, "irq", name, false);
	}
	weft__format_xentrace_emit_run(m, irq->cpu, pcpu->irq);
}

static void on_interrupt_end(struct weft__xentrace_meaning *m, uint32_t cpu)
{
	struct weft__xentrace_pcpu *pcpu = &m->pcpus[cpu];
	if (pcpu->irqs)
		pcpu->irqs--;
	weft__format_xentrace_end_interrupt(m, cpu);
	if (!pcpu->irqs)
		weft__format_xentrace_emit_run(m, cpu, task_on(m, cpu));
}

int weft__format_xentrace_add_loss(
	struct weft__xentrace_meaning *m, uint64_t since_ns, uint32_t count, uint32_t thread)
{
	struct weft_trace_description *description = m->reader->base.input.description;
	const struct weft__column column = {&m->losses, sizeof(*m->losses)};
	int error = weft__columns_reserve(&column, 1, &m->loss_capacity, m->loss_count + 1);
	if (error)
		return error;
	m->losses[m->loss_count++] = (struct weft_loss_period){
		.start = since_ns,
		.end = m->time_ns,
		.count = count,
		.thread = thread,
		.cause = WEFT_LOSS_FULL,
	};
	description->losses[WEFT_LOSS_FULL] += count;
	description->loss_periods = m->losses;
	description->loss_period_count = (uint32_t)m->loss_count;
	return 0;
}

/* Any pCPU may run a vCPU that waits for one. */
static void end_waits(struct weft__xentrace_meaning *m)
{
	for (size_t i = 0; i < m->vcpus.count; i++)
		set_runnable(m, &m->vcpus.list[i], false);
}

static void on_loss(struct weft__xentrace_meaning *m, const struct weft__xentrace_record *record)
{
	struct weft__xentrace_state *vcpu = vcpu_on(m, record->cpu);
	struct weft__xentrace_pcpu *pcpu = &m->pcpus[record->cpu];
	weft__format_xentrace_set_sends(m, record->cpu, WEFT__XENTRACE_SENDS_UNKNOWN);
	m->epoch++;
	if (record->count != 4)
		return;
	m->pcpus_in_loss += (uint32_t)record->is_loss_begin - (uint32_t)pcpu->is_in_loss;
	pcpu->is_in_loss = record->is_loss_begin;
	if (!record->is_loss_begin) {
		if (!m->error)
			m->error = weft__format_xentrace_add_loss(
				m, m->loss_begins[record->cpu], record->words[0], pcpu->thread);
		pcpu->irqs = 0;
		return;
	}
	m->loss_begins[record->cpu] = weft__format_xentrace_ns(&m->reader->clock, record->cycles);
	if (vcpu) {
		weft__format_xentrace_settle_process(m, vcpu, record);
		vcpu->open.left = 0;
		while (vcpu->open.depth)
			weft__format_xentrace_pop(m, vcpu);
	}
	end_waits(m);
	weft__format_xentrace_lose_contexts(m, record->cpu);
	weft__format_xentrace_emit_run(m, record->cpu, none);
}

static void take_known(struct weft__xentrace_meaning *m, const struct weft__xentrace_known *known,
	const struct weft__xentrace_record *record, const struct weft__xentrace_hindsight *hindsight)
{
	struct weft__xentrace_state *vcpu;
	const uint32_t *words = record->words;
	switch (known->kind) {
	case WEFT__XENTRACE_RUNSTATE:
		on_runstate(m, record);
		return;
	case WEFT__XENTRACE_CREDIT2_TICKLE:
	case WEFT__XENTRACE_RTDS_TICKLE:
		on_tickle(m, record->cpu, hindsight);
		return;
	case WEFT__XENTRACE_CREDIT_SCHEDULE:
	case WEFT__XENTRACE_CREDIT2_SCHEDULE:
	case WEFT__XENTRACE_ARINC653_SCHEDULE:
	case WEFT__XENTRACE_RTDS_SCHEDULE:
	case WEFT__XENTRACE_NULL_SCHEDULE:
		on_schedule(m, record->cpu, hindsight->kick);
		return;
	case WEFT__XENTRACE_GUEST:
		if (!weft__format_xentrace_take_context(m, vcpu_on(m, record->cpu), record))
			weft__format_xentrace_emit_words(m, actor_on(m, record->cpu), record);
		return;
	case WEFT__XENTRACE_LOST:
		on_loss(m, record);
		return;
	case WEFT__XENTRACE_IRQ:
		on_interrupt_end(m, record->cpu);
		return;
	case WEFT__XENTRACE_DOMAIN_ADD:
	case WEFT__XENTRACE_DOMAIN_REMOVE:
	case WEFT__XENTRACE_SHUTDOWN:
	case WEFT__XENTRACE_CREATE:
	case WEFT__XENTRACE_DESTROY:
	case WEFT__XENTRACE_GRANT_MAP:
	case WEFT__XENTRACE_GRANT_UNMAP:
	case WEFT__XENTRACE_GRANT_TRANSFER:
		weft__format_xentrace_emit_mark(m, actor_on(m, record->cpu), known->name, record);
		if (known->kind == WEFT__XENTRACE_CREATE)
			weft__format_xentrace_begin_build(m, words[0]);
		if (known->kind == WEFT__XENTRACE_DOMAIN_REMOVE)
			end_domain(m, words[0]);
		return;
	default:
		vcpu = vcpu_on(m, record->cpu);
		/* Those of one word or more have one in each version of Xen. */
		if (vcpu && (record->count || record->id >> 12 != 0x202)) {
			weft__format_xentrace_settle_process(m, vcpu, record);
			weft__format_xentrace_enter_sender(m, vcpu, known->kind, record);
			on_guest(m, vcpu, known, record, hindsight);
		}
	}
}

/* ---- The events ---- */

void weft__format_xentrace_meaning_begin_irq(
	struct weft__xentrace_meaning *m, const struct weft__xentrace_irq *irq)
{
	uint64_t begin_ns = weft__format_xentrace_ns(&m->reader->clock, irq->begin);
	m->time_ns = begin_ns > m->time_ns ? begin_ns : m->time_ns;
	on_interrupt_begin(m, irq);
}

void weft__format_xentrace_meaning_take(struct weft__xentrace_meaning *m,
	const struct weft__xentrace_record *record, const struct weft__xentrace_hindsight *hindsight)
{
	struct weft__xentrace_reader *r = m->reader;
	const struct weft__xentrace_known *known = weft__format_xentrace_know(r, record->id);
	uint64_t time_ns = weft__format_xentrace_ns(&r->clock, record->cycles);
	/* A loss is recorded when it ends. In a growing file, later events may have been given. */
	if (!record->is_loss_begin || time_ns > m->time_ns)
		m->time_ns = time_ns;
	m->offset = record->offset;
	take_known(m, known, record, hindsight);
	weft__format_xentrace_follow(&r->running[record->cpu], known->kind, record);
	if (known->kind == WEFT__XENTRACE_CONTINUE ||
		(known->kind == WEFT__XENTRACE_LOST && !record->is_loss_begin))
		weft__format_xentrace_emit_run(m, record->cpu, task_on(m, record->cpu));
	weft__format_xentrace_emit_vcpu(m, record->cpu, r->running[record->cpu].now);
	/* Time begins with the first record, also if that becomes no event. */
	if (!m->has_begun && !m->event_count)
		weft__format_xentrace_emit(m, WEFT_EVENT_SWITCH, none)->event.thread =
			m->pcpus[record->cpu].thread;
	m->has_begun = true;
}

void weft__format_xentrace_meaning_end(struct weft__xentrace_meaning *m)
{
	weft__format_xentrace_withdraw(m);
	weft__format_xentrace_end_processes(m);
}

int weft__format_xentrace_meaning_next(
	struct weft__xentrace_meaning *m, struct weft_event *ret_event)
{
	if (m->error)
		return m->error;
	if (m->given == m->event_count) {
		m->given = m->event_count = 0;
		return WEFT_AGAIN;
	}
	struct weft__xentrace_event *event = &m->events[m->given++];
	if (event->event.text.size)
		event->event.text.bytes = event->text;
	weft__format_xentrace_link_fields(event);
	*ret_event = event->event;
	return WEFT_OK;
}

int weft__format_xentrace_meaning_create(
	struct weft__xentrace_reader *reader, size_t cpus, struct weft__xentrace_meaning **ret_meaning)
{
	struct weft__xentrace_meaning *m = calloc(1, sizeof(*m));
	if (!m)
		return WEFT_ERROR_MEMORY;
	m->reader = reader;
	m->pcpus = calloc(cpus + 1, sizeof(*m->pcpus));
	m->loss_begins = calloc(cpus + 1, sizeof(*m->loss_begins));
	m->buffers = calloc(WEFT__XENTRACE_DOMAINS, sizeof(*m->buffers));
	m->sleepers = calloc(WEFT__XENTRACE_DOMAINS, sizeof(*m->sleepers));
	m->builds = calloc(WEFT__XENTRACE_DOMAINS, sizeof(*m->builds));
	m->epoch = 1;
	m->is_irq_known = calloc(KNOWN_IRQS / 8, 1);
	m->event_capacity = 16;
	m->events = calloc(m->event_capacity, sizeof(*m->events));
	int error = weft__format_xentrace_vcpus_init(&m->vcpus);
	if (!error)
		error = weft__format_xentrace_owners_init(&m->owners);
	if (!m->pcpus || !m->loss_begins || !m->buffers || !m->sleepers || !m->builds ||
		!m->is_irq_known || !m->events)
		error = WEFT_ERROR_MEMORY;
	if (!error)
		error = weft__format_xentrace_describe_xen(m);
	for (size_t i = 0; i < cpus && !error; i++)
		m->pcpus[i] = (struct weft__xentrace_pcpu){
			.thread = (uint32_t)i, .runs = none, .shown = {WEFT_XENTRACE_UNKNOWN, 0}};
	if (error)
		weft__format_xentrace_meaning_destroy(m);
	else
		*ret_meaning = m;
	return error;
}

void weft__format_xentrace_meaning_destroy(struct weft__xentrace_meaning *m)
{
	if (!m)
		return;
	weft__format_xentrace_vcpus_finish(&m->vcpus);
	weft__format_xentrace_owners_finish(&m->owners);
	weft__format_xentrace_processes_finish(&m->processes);
	free(m->pcpus);
	free(m->buffers);
	free(m->sleepers);
	free(m->builds);
	free(m->descriptions);
	free(m->events);
	free(m->losses);
	free(m->loss_begins);
	free(m->is_irq_known);
	free(m);
}
