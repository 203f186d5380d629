/* SPDX-License-Identifier: ISC
 *
 * The records of an xentrace file, in the order of time: those of each pCPU are in order, and are
 * merged by their counts of cycles. Memory does not depend on the number of records.
 *
 *     record   u32 header: bits 0-27 id, bits 28-30 number of words, bit 31 has cycles
 *              u64 cycles of the pCPU's TSC, if bit 31 is set
 *              u32 words[0 to 7]
 *
 * A record without cycles happened at the cycles of the record before it. Of records with equal
 * cycles, the pCPU that had the last one goes on: xenalyze has the same order.
 */
#ifndef WEFT_FORMAT_XENTRACE_RECORDS_H
#define WEFT_FORMAT_XENTRACE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/xentrace/windows.h"

#define WEFT__XENTRACE_WORDS_MAX 7

/* Ids of records that the order depends on. */
#define WEFT__XENTRACE_LOST 0x1f001u /* u32 count; u16 domain, vCPU; u64 cycles of the first */
#define WEFT__XENTRACE_WRAP 0x1f002u /* padding at the end of Xen's ring */

struct weft__xentrace_record {
	uint64_t cycles; /* never less than those of the records before it */
	uint64_t number; /* counts the records in the order of time, from 1 on */
	uint64_t offset;
	uint32_t cpu; /* index */
	uint32_t id;
	uint32_t words[WEFT__XENTRACE_WORDS_MAX]; /* those from `count` on are 0 */
	uint8_t count;
	bool has_cycles;
	/* A record LOST comes twice: when the loss begins, and at its own position when it ends. */
	bool is_loss_begin;
};

struct weft__xentrace_records {
	const uint8_t *bytes;
	const struct weft__xentrace_windows *windows;
	struct weft_diagnostics *diagnostics;
	struct weft__xentrace_cursor *cursors; /* by pCPU */
	uint32_t *heap;                        /* cursors that have a record, the next one first */
	uint32_t heap_count;
	uint64_t number;       /* of the last record */
	uint64_t cycles;       /* of the last one */
	uint64_t first_cycles; /* of the first record with cycles, from which times count */
	uint64_t last_cycles;  /* records after these are not given yet */
	bool has_turn;         /* the heap's first cursor has given its record */
};

/* A pCPU's last record: its cycles and its number; 0: none. */
struct weft__xentrace_before {
	uint64_t cycles, number;
};

/* The bytes of a pCPU's records that were not given: from `offset` to `end`, and the windows from
 * `window` on. */
struct weft__xentrace_rest {
	struct weft__xentrace_before before; /* the cycles of the next record, and the last number */
	uint64_t offset, end;
	uint32_t window;
};

/* Starts at the first record. `windows` and `bytes` are borrowed, and `diagnostics`, in which
 * damage is counted; it may be NULL. `before` has each pCPU's record before these; NULL: there is
 * none. 0 or WEFT_ERROR_MEMORY. */
int weft__format_xentrace_records_init(struct weft__xentrace_records *records, const uint8_t *bytes,
	const struct weft__xentrace_windows *windows, const struct weft__xentrace_before *before,
	struct weft_diagnostics *diagnostics);
void weft__format_xentrace_records_finish(struct weft__xentrace_records *records);

/* The rest of a pCPU, by index. */
struct weft__xentrace_rest weft__format_xentrace_records_rest(
	const struct weft__xentrace_records *records, uint32_t cpu);

/* False at the end, or if only later records than `last_cycles` are left. The record is valid until
 * the next call. */
bool weft__format_xentrace_records_next(
	struct weft__xentrace_records *records, const struct weft__xentrace_record **ret_record);

#endif
