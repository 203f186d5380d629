/* SPDX-License-Identifier: ISC
 *
 * Facts about an xentrace file that are recorded later than they begin: interrupts, whose record
 * comes at their end, and hypercalls that Xen preempted and issues again. They are found by a pass
 * over the records in the order of time, before the one that makes events.
 */
#ifndef WEFT_FORMAT_XENTRACE_FOLDS_H
#define WEFT_FORMAT_XENTRACE_FOLDS_H

#include "format/xentrace/reader.h"
#include "format/xentrace/vcpus.h"

/* An interrupt on a pCPU, which began before its record. */
struct weft__xentrace_irq {
	uint64_t begin; /* cycles */
	uint32_t cpu, number;
};

/* A hypercall's record that is continued by later ones, or continues one. */
struct weft__xentrace_fold {
	uint64_t offset;
	uint32_t continuations; /* 0: it continues one */
};

struct weft__xentrace_folds {
	struct weft__xentrace_irq *irqs; /* by begin */
	size_t irq_count, irq_capacity;
	struct weft__xentrace_fold *list; /* by offset */
	size_t count, capacity;
	uint64_t last_cycles; /* of all records */
};

/* Reads all records. `quick_cycles` is a time in which a guest cannot return to its program and
 * make another hypercall; 0: unknown. 0 or WEFT_ERROR_MEMORY. */
int weft__xentrace_folds_find(struct weft__xentrace_reader *reader, uint64_t quick_cycles,
	struct weft__xentrace_folds *folds);
void weft__xentrace_folds_finish(struct weft__xentrace_folds *folds);

/* The fold of the record at this offset, or NULL. */
const struct weft__xentrace_fold *weft__xentrace_fold_at(
	const struct weft__xentrace_folds *folds, uint64_t offset);

#endif
