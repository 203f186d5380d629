/* SPDX-License-Identifier: ISC
 *
 * Facts about records that only later records tell: interrupts, whose record comes at their end,
 * hypercalls that Xen preempted and issues again, and kicks. A search takes the records in the
 * order of time, before events are made of them.
 */
#ifndef WEFT_FORMAT_XENTRACE_FOLDS_H
#define WEFT_FORMAT_XENTRACE_FOLDS_H

#include "format/xentrace/kicks.h"
#include "format/xentrace/reader.h"
#include "format/xentrace/vcpus.h"

/* An interrupt on a pCPU, which began before its record. */
struct weft__xentrace_irq {
	uint64_t begin; /* cycles */
	uint32_t cpu, number;
};

/* Facts about a record that later records tell. */
struct weft__xentrace_hindsight {
	uint32_t continuations; /* of this hypercall, whose first record it is; 0: none */
	uint32_t kick;          /* the number of the kick that begins or ends here; 0: none */
	uint32_t target;        /* the index of the pCPU that is kicked */
	bool is_continuation;   /* of an earlier hypercall */
};

/* Facts that a record tells of earlier ones, which are named by their numbers. */
struct weft__xentrace_finding {
	uint64_t call;   /* the first record of the hypercall that this one continues; 0: of none */
	uint64_t tickle; /* the tickle that led to this decision of a scheduler; 0: none */
	struct weft__xentrace_irq irq;
	bool has_irq;
};

/* A pCPU up to the last record. */
struct weft__xentrace_searched {
	struct weft__xentrace_running running;
	uint64_t last_cycles;
};

struct weft__xentrace_search {
	struct weft__xentrace_reader *reader;
	struct weft__xentrace_searched *cpus;
	struct weft__xentrace_vcpus vcpus;
	struct weft__xentrace_kicks kicks;
	/* A time in which a guest cannot return to its program and make another hypercall; 0: unknown.
	 */
	uint64_t quick_cycles;
	bool has_gaps; /* a vCPU stops, and the record of the next one is not there */
};

/* The search is for records of `cpus` pCPUs, of which kicks.h must know the numbers. 0 or
 * WEFT_ERROR_MEMORY; it is to be finished in each case. */
int weft__format_xentrace_search_init(
	struct weft__xentrace_search *search, struct weft__xentrace_reader *reader, size_t cpus);
void weft__format_xentrace_search_finish(struct weft__xentrace_search *search);

/* Takes the next record. 0 or WEFT_ERROR_MEMORY. */
int weft__format_xentrace_search_take(struct weft__xentrace_search *search,
	const struct weft__xentrace_record *record, struct weft__xentrace_finding *ret_finding);

#endif
