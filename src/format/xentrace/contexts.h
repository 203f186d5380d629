/* SPDX-License-Identifier: ISC
 *
 * Trace contexts that programs write into Xen's trace: abi/xen_abi.h. What a vCPU asks of Xen from
 * then on is for the context's span, as long as the trace proves that the guest has not switched to
 * another thread.
 */
#ifndef WEFT_FORMAT_XENTRACE_CONTEXTS_H
#define WEFT_FORMAT_XENTRACE_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"

struct weft__xentrace_context {
	uint64_t trace_high, trace_low;
	uint64_t span; /* 0: no context */
	uint8_t flags;
};

/* The domain that wrote a trace id first: no other one continues that trace. */
struct weft__xentrace_owner {
	uint64_t trace_high, trace_low;
	uint32_t domain;
};

struct weft__xentrace_owners {
	struct weft__xentrace_owner *list;
	size_t count, capacity;
	struct weft__index index;
};

int weft__format_xentrace_owners_init(struct weft__xentrace_owners *owners);
void weft__format_xentrace_owners_finish(struct weft__xentrace_owners *owners);

struct weft__xentrace_meaning;
struct weft__xentrace_record;
struct weft__xentrace_state;

/* Takes a guest's own record, on the vCPU that runs there. False if it is no context. */
bool weft__format_xentrace_take_context(struct weft__xentrace_meaning *meaning,
	struct weft__xentrace_state *vcpu, const struct weft__xentrace_record *record);

/* The vCPU is about to make a hypercall, by which the guest may switch to another thread. */
void weft__format_xentrace_check_switch(
	struct weft__xentrace_meaning *meaning, struct weft__xentrace_state *vcpu, uint32_t op);

/* Another thread may run on the vCPU from now on. */
void weft__format_xentrace_end_context(
	struct weft__xentrace_meaning *meaning, struct weft__xentrace_state *vcpu);

/* The pCPU loses records, among which may be those of all vCPUs that run on no other one. */
void weft__format_xentrace_lose_contexts(struct weft__xentrace_meaning *meaning, uint32_t cpu);

/* Begins the context that waits for the vCPU's next entry, after the one before has ended. */
void weft__format_xentrace_change_context(
	struct weft__xentrace_meaning *meaning, struct weft__xentrace_state *vcpu);

#endif
