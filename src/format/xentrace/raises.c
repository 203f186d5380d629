/* SPDX-License-Identifier: ISC
 *
 * Raised events. Xen's trace has no ports, so a send is told from its effect: a vCPU of a domain
 * that sleeps, of which all vCPUs are blocked or offline, wakes up on a pCPU that is in a hypercall
 * that can send, in an exit of a virtual machine or in an interrupt, and no other pCPU is. The
 * domain had handled all earlier events before it slept. So the first event that it handles now is
 * the one that was sent there, if no pCPU can have sent another one meanwhile.
 *
 * If another vCPU was runnable, it might have taken an earlier event that the one that wakes up
 * handles. A vCPU that sends to another of its domain runs, so that domain does not sleep.
 *
 * That is known only later, so the send becomes an event of the model at once, for any port of the
 * domain, and is withdrawn by a send of no task as soon as
 *
 * - a pCPU enters Xen for something that can send, or handles an interrupt,
 * - the vCPU blocks or ends, or another one of the domain wakes up, whose own work may be an event,
 * - records were lost, a vCPU runs of whose entries the trace has none, or the trace ends.
 *
 * A trace from which the records of some domains were removed shows no raises.
 */
#include <weft/kinds.h>

#include "format/xentrace/meaning.h"

static void emit(struct weft__xentrace_meaning *m, struct weft__xentrace_task task, uint32_t domain)
{
	weft_message_key key = WEFT_KEY_CHANNEL | (uint64_t)domain << 32 | WEFT_KEY_CHANNEL_PORT;
	weft__format_xentrace_emit(m, WEFT_EVENT_SEND, task)->event.key = key;
}

void weft__format_xentrace_withdraw(struct weft__xentrace_meaning *m)
{
	const struct weft__xentrace_task nobody = {WEFT__XENTRACE_XEN, WEFT_TASK_NONE};
	if (m->raised)
		emit(m, nobody, m->raised - 1);
	m->raised = 0;
}

static void set(struct weft__xentrace_meaning *m, uint32_t cpu, enum weft__xentrace_sends sends)
{
	uint8_t *old = &m->pcpus[cpu].sends;
	m->senders -= *old != WEFT__XENTRACE_SENDS_NOT;
	m->senders += sends != WEFT__XENTRACE_SENDS_NOT;
	*old = (uint8_t)sends;
}

void weft__format_xentrace_set_sends(
	struct weft__xentrace_meaning *m, uint32_t cpu, enum weft__xentrace_sends sends)
{
	if (sends != WEFT__XENTRACE_SENDS_NOT)
		weft__format_xentrace_withdraw(m);
	set(m, cpu, sends);
}

/* Hypercalls that can send to another domain's event channel. A multicall's are its sub-calls. */
static bool can_send(uint32_t op)
{
	static const uint64_t ops = UINT64_C(1) << 16 |
								UINT64_C(1) << 32 /* event_channel_op, also by its old number */ |
								UINT64_C(1) << 19 | UINT64_C(1) << 33 /* physdev_op */ |
								UINT64_C(1) << 34 /* hvm_op */ | UINT64_C(1) << 41 /* dm_op */;
	return op < 64 && ops >> op & 1;
}

void weft__format_xentrace_enter_sender(struct weft__xentrace_meaning *m,
	struct weft__xentrace_state *vcpu, uint32_t kind, const struct weft__xentrace_record *record)
{
	enum weft__xentrace_sends sends = WEFT__XENTRACE_SENDS_NOT;
	switch (kind) {
	case WEFT__XENTRACE_HYPERCALL:
	case WEFT__XENTRACE_SUBCALL:
		if (can_send(record->words[0] & 0xfffff))
			sends = WEFT__XENTRACE_SENDS;
		break;
	case WEFT__XENTRACE_EXIT:
	case WEFT__XENTRACE_EXIT_SVM:
		sends = WEFT__XENTRACE_SENDS;
		break;
	case WEFT__XENTRACE_HYPERCALL_OLD:
		sends = WEFT__XENTRACE_SENDS_UNKNOWN;
		break;
	case WEFT__XENTRACE_ENTRY:
		break;
	default:
		if (record->id >> 12 != 0x201)
			return;
	}
	vcpu->has_entered = true;
	weft__format_xentrace_set_sends(m, record->cpu, sends);
}

void weft__format_xentrace_begin_interrupt(struct weft__xentrace_meaning *m, uint32_t cpu)
{
	bool is_only = m->pcpus[cpu].sends == WEFT__XENTRACE_SENDS_NOT;
	weft__format_xentrace_set_sends(
		m, cpu, is_only ? WEFT__XENTRACE_SENDS : WEFT__XENTRACE_SENDS_UNKNOWN);
}

/* Xen may go on with the interrupt's work afterwards, of which it records nothing. */
void weft__format_xentrace_end_interrupt(struct weft__xentrace_meaning *m, uint32_t cpu)
{
	set(m, cpu, WEFT__XENTRACE_SENDS_UNKNOWN);
}

/* ---- Sleeping domains ---- */

/* A loss on any pCPU may hide the end of a sleep. */
static void set_asleep(
	struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu, bool is_asleep)
{
	struct weft__xentrace_sleepers *domain = &m->sleepers[vcpu->domain];
	if (domain->epoch != m->epoch)
		domain->asleep = 0;
	domain->epoch = m->epoch;
	domain->asleep -= vcpu->asleep == m->epoch;
	domain->asleep += is_asleep;
	vcpu->asleep = is_asleep ? m->epoch : 0;
}

void weft__format_xentrace_end_sleep(
	struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu)
{
	set_asleep(m, vcpu, false);
}

/* True if all other vCPUs that the trace has of the domain sleep. A number that it does not have
 * below the highest one counts as a vCPU that may run. */
static bool others_sleep(struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu)
{
	set_asleep(m, vcpu, false);
	const struct weft__xentrace_sleepers *domain = &m->sleepers[vcpu->domain];
	return domain->asleep + 1 == domain->vcpus;
}

/* ---- Raises ---- */

void weft__format_xentrace_raise(struct weft__xentrace_meaning *m, uint32_t cpu,
	struct weft__xentrace_task task, struct weft__xentrace_state *vcpu)
{
	bool is_proven = m->pcpus[cpu].sends == WEFT__XENTRACE_SENDS && m->senders == 1;
	/* Dom0's programs take events from its kernel, which may block before they do. */
	if (!m->shows_raises || !is_proven || !vcpu->domain || !others_sleep(m, vcpu))
		return;
	weft__format_xentrace_withdraw(m);
	emit(m, task, vcpu->domain);
	m->raised = vcpu->domain + 1;
	m->woken = vcpu->vcpu;
}

void weft__format_xentrace_follow_raise(struct weft__xentrace_meaning *m,
	const struct weft__xentrace_record *record, struct weft__xentrace_state *vcpu)
{
	uint32_t new = record->id >> 4 & 15, word = record->words[0], domain = word >> 16;
	bool is_seen = vcpu ? vcpu->has_entered : domain == WEFT_XENTRACE_IDLE;
	bool sleeps = !(new == WEFT__XENTRACE_RUNNING || new == WEFT__XENTRACE_RUNNABLE);
	if (vcpu)
		set_asleep(m, vcpu, sleeps);
	if (m->raised == domain + 1 && (sleeps || (word & 0xffff) != m->woken))
		weft__format_xentrace_withdraw(m);
	if (new == WEFT__XENTRACE_RUNNING)
		weft__format_xentrace_set_sends(
			m, record->cpu, is_seen ? WEFT__XENTRACE_SENDS_NOT : WEFT__XENTRACE_SENDS_UNKNOWN);
}
