/* SPDX-License-Identifier: ISC
 *
 * The open spans of a vCPU. Xen records when a PV guest enters it, not when it returns: an entry
 * lasts until the next one at most. Exits of virtual machines have both ends.
 */
#include "format/xentrace/meaning.h"

struct weft__xentrace_task weft__format_xentrace_task_of(
	const struct weft__xentrace_meaning *m, const struct weft__xentrace_state *vcpu)
{
	return (struct weft__xentrace_task){
		m->buffers[vcpu->domain], (uint64_t)vcpu->generation << 16 | (vcpu->vcpu + UINT64_C(1))};
}

int weft__format_xentrace_top(const struct weft__xentrace_state *vcpu)
{
	return vcpu->open.depth ? vcpu->open.levels[vcpu->open.depth - 1] : -1;
}

static bool has_level(const struct weft__xentrace_state *vcpu, enum weft__xentrace_level level)
{
	for (uint8_t i = 0; i < vcpu->open.depth; i++)
		if (vcpu->open.levels[i] == level)
			return true;
	return false;
}

/* Exits of virtual machines have both ends, and faults have an iret. A hypercall in an exit returns
 * before the guest is entered again, at an unknown time. */
static bool is_exact(enum weft__xentrace_level level)
{
	return level != WEFT__XENTRACE_LEVEL_ENTRY && level != WEFT__XENTRACE_LEVEL_SUBCALL;
}

/* A vCPU waits for a pCPU, not its process. */
static struct weft__xentrace_task owner_of(
	const struct weft__xentrace_meaning *m, const struct weft__xentrace_state *vcpu, uint8_t level)
{
	return level == WEFT__XENTRACE_LEVEL_RUNNABLE ? weft__format_xentrace_task_of(m, vcpu)
												  : weft__format_xentrace_actor(m, vcpu);
}

void weft__format_xentrace_push(struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu,
	enum weft__xentrace_level level, const char *name, uint32_t count)
{
	if (vcpu->open.depth == WEFT__XENTRACE_LEVELS_MAX)
		return;
	vcpu->open.levels[vcpu->open.depth++] = (uint8_t)level;
	struct weft__xentrace_event *event =
		weft__format_xentrace_emit(m, WEFT_EVENT_BEGIN, owner_of(m, vcpu, (uint8_t)level));
	event->event.flag = !is_exact(level);
	weft__format_xentrace_set_text(event, name, count);
}

void weft__format_xentrace_pop(struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu)
{
	uint8_t level = vcpu->open.levels[--vcpu->open.depth];
	weft__format_xentrace_emit(m, WEFT_EVENT_END, owner_of(m, vcpu, level));
}

void weft__format_xentrace_close(struct weft__xentrace_meaning *m,
	struct weft__xentrace_state *vcpu, enum weft__xentrace_level level)
{
	uint8_t depth = 0;
	while (depth < vcpu->open.depth && vcpu->open.levels[depth] != level)
		depth++;
	while (vcpu->open.depth > depth)
		weft__format_xentrace_pop(m, vcpu);
}

/* True if the open hypercall will be continued, and still runs. */
static bool will_stop(const struct weft__xentrace_state *vcpu)
{
	return vcpu->open.left && !has_level(vcpu, WEFT__XENTRACE_LEVEL_PREEMPTED);
}

void weft__format_xentrace_preempt(
	struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu)
{
	if (will_stop(vcpu))
		weft__format_xentrace_push(m, vcpu, WEFT__XENTRACE_LEVEL_PREEMPTED, "preempted", 0);
}

void weft__format_xentrace_enter(
	struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu)
{
	const uint64_t now_ns = m->time_ns;
	const bool changes = vcpu->changes_context && !will_stop(vcpu);
	int top;
	vcpu->gives_up = vcpu->is_hvm_op = false;
	/* The thread ran on before this entry. A span that begins with another one has no context. */
	if (changes && m->emitted_ns < now_ns)
		m->time_ns--;
	while ((top = weft__format_xentrace_top(vcpu)) == WEFT__XENTRACE_LEVEL_SUBCALL ||
		   top == WEFT__XENTRACE_LEVEL_RUNNABLE ||
		   (top == WEFT__XENTRACE_LEVEL_ENTRY && !will_stop(vcpu)))
		weft__format_xentrace_pop(m, vcpu);
	if (changes)
		weft__format_xentrace_change_context(m, vcpu);
	m->time_ns = now_ns;
	weft__format_xentrace_preempt(m, vcpu);
}
