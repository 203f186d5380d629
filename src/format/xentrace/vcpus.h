/* SPDX-License-Identifier: ISC
 *
 * The vCPUs of an xentrace file, by domain and number, with their state.
 */
#ifndef WEFT_FORMAT_XENTRACE_VCPUS_H
#define WEFT_FORMAT_XENTRACE_VCPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "format/xentrace/contexts.h"

/* A hypercall that Xen may have preempted: see xentrace/folds.c. */
struct weft__xentrace_call {
	uint64_t last_iret; /* cycles */
	uint32_t op, count, command;
	uint32_t subcalls, grants; /* records since it was issued */
	uint64_t number;           /* of its first record */
	uint8_t irets;
	bool is_valid;
	bool was_scheduled; /* the scheduler ran */
	bool was_entered;   /* the guest ran and entered Xen again */
	bool ends_in_iret;  /* and the last time was an iret */
	bool has_upcall;    /* and it made other hypercalls before that */
	bool is_chain;      /* it continues an earlier record, and there was no fault since */
};

/* The open spans of a vCPU, from the outermost one. */
enum weft__xentrace_level {
	WEFT__XENTRACE_LEVEL_CONTEXT,   /* a thread of the guest works for a trace context */
	WEFT__XENTRACE_LEVEL_FAULT,     /* from a fault to the guest's next iret */
	WEFT__XENTRACE_LEVEL_EXIT,      /* from an exit of a virtual machine to its entry */
	WEFT__XENTRACE_LEVEL_ENTRY,     /* a hypercall or an emulation for a PV guest */
	WEFT__XENTRACE_LEVEL_SUBCALL,   /* of a multicall */
	WEFT__XENTRACE_LEVEL_PREEMPTED, /* a hypercall waits to be continued */
	WEFT__XENTRACE_LEVEL_RUNNABLE,  /* the vCPU waits for a pCPU */
};

#define WEFT__XENTRACE_LEVELS_MAX 8

/* Those of a vCPU, or of the process that it runs. */
struct weft__xentrace_levels {
	uint32_t left; /* continuations of the open hypercall that will come */
	uint8_t levels[WEFT__XENTRACE_LEVELS_MAX];
	uint8_t depth;
};

struct weft__xentrace_state {
	uint32_t domain, vcpu;
	uint32_t next;       /* of the domain; or UINT32_MAX */
	uint32_t generation; /* the number of vCPUs with this number that ended before */
	struct weft__xentrace_levels open;
	bool is_known;        /* an event told of it */
	bool gives_up;        /* the open hypercall ends when the vCPU is switched out */
	bool may_wake;        /* the open hypercall or exit can wake other vCPUs */
	bool has_entered;     /* the trace has entries of this vCPU */
	bool is_hvm_op;       /* the last entry is this hypercall of a PV guest */
	bool shows_switches;  /* the guest has told Xen that it switched to another thread */
	bool changes_context; /* `context` begins at the next entry */
	uint32_t asleep; /* the epoch in which it blocked or went offline; 0: it runs, or may run */
	struct weft__xentrace_call call;
	struct weft__xentrace_context context;
	uint32_t contexts; /* that it had so far */
	uint64_t loops;    /* a bit for each hypercall that it issued twice with nothing in between */
	/* Used for vCPUs of dom0 alone: see xentrace/processes.h. */
	uint32_t process;    /* that Linux runs here */
	uint32_t shown;      /* that its lane shows */
	uint32_t owner;      /* of the open spans, except "runnable" */
	uint32_t lane;       /* 1 + its thread; 0: none */
	uint32_t lost;       /* switches that are missing since `lost_since` */
	uint64_t lost_since; /* ns */
	bool is_on;          /* it has a pCPU */
	bool has_new_stack;  /* Linux has left that of the process before */
};

struct weft__xentrace_vcpus {
	struct weft__xentrace_state *list;
	size_t count, capacity;
	uint32_t *first; /* by domain: the number of its last vCPU that has not ended, or UINT32_MAX */
	struct weft__index index;
};

int weft__format_xentrace_vcpus_init(struct weft__xentrace_vcpus *vcpus);
void weft__format_xentrace_vcpus_finish(struct weft__xentrace_vcpus *vcpus);

/* A vCPU; the first call for it adds it. NULL without memory, or if the domain is not one of a
 * guest. Valid until the next call. */
struct weft__xentrace_state *weft__format_xentrace_vcpus_find(
	struct weft__xentrace_vcpus *vcpus, uint32_t domain, uint32_t vcpu);

#endif
