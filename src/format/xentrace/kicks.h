/* SPDX-License-Identifier: ISC
 *
 * Kicks: Xen's scheduler on one pCPU makes that of another one run, by an interrupt between
 * processors, which Xen does not trace. Of Xen's schedulers only credit2 and rtds record both
 * ends: the pCPU that they tickle, and at the next decision there, that it was tickled.
 */
#ifndef WEFT_FORMAT_XENTRACE_KICKS_H
#define WEFT_FORMAT_XENTRACE_KICKS_H

#include <stddef.h>
#include <stdint.h>

#include "format/xentrace/records.h"

struct weft__xentrace_kicks {
	uint64_t *tickles; /* by pCPU's number: the record of its tickle, until it decides; 0: none */
	uint16_t *numbers; /* by pCPU's index */
};

/* For `cpus` pCPUs. 0 or WEFT_ERROR_MEMORY; to be finished in each case. */
int weft__format_xentrace_kicks_init(struct weft__xentrace_kicks *kicks, size_t cpus);
void weft__format_xentrace_kicks_finish(struct weft__xentrace_kicks *kicks);

/* The pCPU of this index has that number. Call it before its first record is taken. */
void weft__format_xentrace_kicks_know(
	struct weft__xentrace_kicks *kicks, uint32_t index, uint32_t number);

/* Takes each record in the order of time. If it is the decision of a pCPU that was tickled, returns
 * the number of the tickle's record; else 0. */
uint64_t weft__format_xentrace_kicks_take(
	struct weft__xentrace_kicks *kicks, uint32_t kind, const struct weft__xentrace_record *record);

#endif
