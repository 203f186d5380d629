/* SPDX-License-Identifier: ISC
 *
 * A paravirtualised kernel tells Xen the stack of each thread that it switches to, so from the
 * record of a context to the next such hypercall one thread runs: the one that wrote it. On other
 * vCPUs, of virtual machines or of kernels that do not do so, nothing is proven.
 */
#include "format/xentrace/contexts.h"

#include <stdlib.h>

#include "abi/xen_abi.h"
#include "base/array.h"
#include "format/xentrace/meaning.h"

enum {
	OP_STACK_SWITCH = 3,
	OP_MULTICALL = 13,        /* one of its calls may be that */
	OP_SET_SEGMENT_BASE = 25, /* it comes shortly before */
};

/* ---- Owners ---- */

int weft__format_xentrace_owners_init(struct weft__xentrace_owners *owners)
{
	return weft__index_init(&owners->index);
}

void weft__format_xentrace_owners_finish(struct weft__xentrace_owners *owners)
{
	free(owners->list);
	weft__index_finish(&owners->index);
}

static uint64_t hash_of(const struct weft__hash_key *key, uint64_t high, uint64_t low)
{
	struct weft__hash hash = weft__hash_begin(key);
	weft__hash_word(&hash, high);
	weft__hash_word(&hash, low);
	return weft__hash_end(&hash);
}

static uint64_t hash_owner(const struct weft__hash_key *key, const void *of, uint32_t number)
{
	const struct weft__xentrace_owner *owner =
		&((const struct weft__xentrace_owners *)of)->list[number];
	return hash_of(key, owner->trace_high, owner->trace_low);
}

static int add_owner(struct weft__xentrace_owners *o, const struct weft__xentrace_owner *owner)
{
	const struct weft__column column = {&o->list, sizeof(*o->list)};
	int error = weft__columns_reserve(&column, 1, &o->capacity, o->count + 1);
	if (error)
		return error;
	o->list[o->count] = *owner;
	error = weft__index_add(&o->index, (uint32_t)o->count, hash_owner, o);
	o->count += !error;
	return error;
}

/* True if the trace id belongs to the domain. If it belongs to none yet, it does from now on. */
static bool owns(
	struct weft__xentrace_meaning *m, const struct weft__xentrace_context *context, uint32_t domain)
{
	struct weft__xentrace_owners *o = &m->owners;
	const struct weft__xentrace_owner owner = {context->trace_high, context->trace_low, domain};
	uint32_t slot = weft__index_start(
				 &o->index, hash_of(&o->index.key, owner.trace_high, owner.trace_low)),
			 number;
	while ((number = o->index.slots[slot]) != WEFT__INDEX_EMPTY) {
		if (o->list[number].trace_high == owner.trace_high &&
			o->list[number].trace_low == owner.trace_low)
			return o->list[number].domain == domain;
		slot = weft__index_next(&o->index, slot);
	}
	if (!m->error)
		m->error = add_owner(o, &owner);
	return !m->error;
}

/* ---- Records ---- */

static uint64_t join(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

static bool read(
	const struct weft__xentrace_record *record, struct weft__xentrace_context *ret_context)
{
	const uint32_t *words = record->words;
	if ((record->id & 0xfff) != WEFT_ABI_XEN_CONTEXT ||
		record->count != WEFT_ABI_XEN_CONTEXT_WORDS || words[6] >> 8 != WEFT_ABI_XEN_CONTEXT_NAME)
		return false;
	*ret_context = (struct weft__xentrace_context){
		.trace_high = join(words),
		.trace_low = join(words + 2),
		.span = join(words + 4),
		.flags = (uint8_t)words[6],
	};
	return !ret_context->span || ret_context->trace_high || ret_context->trace_low;
}

bool weft__format_xentrace_take_context(struct weft__xentrace_meaning *m,
	struct weft__xentrace_state *vcpu, const struct weft__xentrace_record *record)
{
	struct weft__xentrace_context context;
	if (!vcpu || !read(record, &context))
		return false;
	weft__format_xentrace_emit_context(m, vcpu, &context);
	bool is_own = context.span && owns(m, &context, vcpu->domain);
	/* The record is of the hypercall that the vCPU made last. */
	bool is_proven = is_own && vcpu->is_hvm_op && vcpu->shows_switches && !m->is_filtered;
	vcpu->context = is_proven ? context : (struct weft__xentrace_context){0};
	vcpu->changes_context = true;
	return true;
}

/* ---- The vCPU's span ---- */

void weft__format_xentrace_end_context(
	struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu)
{
	vcpu->changes_context = false;
	weft__format_xentrace_close(m, vcpu, WEFT__XENTRACE_LEVEL_CONTEXT);
}

void weft__format_xentrace_check_switch(
	struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu, uint32_t op)
{
	vcpu->shows_switches |= op == OP_STACK_SWITCH;
	if (op == OP_STACK_SWITCH || op == OP_SET_SEGMENT_BASE || op == OP_MULTICALL)
		weft__format_xentrace_end_context(m, vcpu);
}

/* Its span is the outermost one. */
static bool has_context(const struct weft__xentrace_state *vcpu)
{
	return vcpu->changes_context ||
		   (vcpu->open.depth && vcpu->open.levels[0] == WEFT__XENTRACE_LEVEL_CONTEXT);
}

static bool runs_elsewhere(
	const struct weft__xentrace_meaning *m, const struct weft__xentrace_state *vcpu, uint32_t cpu)
{
	const struct weft__xentrace_running *running = m->reader->running;
	for (uint32_t i = 0; i < m->reader->cpu_count; i++)
		if (i != cpu && running[i].now.domain == vcpu->domain && running[i].now.vcpu == vcpu->vcpu)
			return true;
	return false;
}

void weft__format_xentrace_lose_contexts(struct weft__xentrace_meaning *m, uint32_t cpu)
{
	for (size_t i = 0; i < m->vcpus.count; i++) {
		struct weft__xentrace_state *vcpu = &m->vcpus.list[i];
		if (has_context(vcpu) && !runs_elsewhere(m, vcpu, cpu))
			weft__format_xentrace_end_context(m, vcpu);
	}
}

void weft__format_xentrace_change_context(
	struct weft__xentrace_meaning *m, struct weft__xentrace_state *vcpu)
{
	const struct weft__xentrace_context context = vcpu->context;
	weft__format_xentrace_end_context(m, vcpu);
	if (!context.span)
		return;
	while (vcpu->open.depth)
		weft__format_xentrace_pop(m, vcpu);
	weft__format_xentrace_push(m, vcpu, WEFT__XENTRACE_LEVEL_CONTEXT, "context", 0);
	weft__format_xentrace_emit_span_context(m, vcpu, &context);
}
