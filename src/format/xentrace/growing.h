/* SPDX-License-Identifier: ISC
 *
 * The records of a growing xentrace file as its reader has them.
 */
#ifndef WEFT_FORMAT_XENTRACE_GROWING_H
#define WEFT_FORMAT_XENTRACE_GROWING_H

#include <weft/xentrace.h>

#include "format/xentrace/reader.h"

/* Damage is counted in these diagnostics from now on. */
void weft__format_xentrace_growing_report(
	struct weft_xentrace_growing *growing, struct weft_diagnostics *diagnostics);

/* Like weft_xentrace_growing_next(), but also the begins of losses are given; that of a loss which
 * ends in a later batch comes again. The record's offset and the index of its pCPU are those in the
 * batch. It is valid until the next call. */
int weft__format_xentrace_growing_take(
	struct weft_xentrace_growing *growing, const struct weft__xentrace_record **ret_record);

/* The reader of the batch, and how many batches there were. */
const struct weft__xentrace_reader *weft__format_xentrace_growing_batch(
	const struct weft_xentrace_growing *growing, uint64_t *ret_number);

/* True if all bytes were read. */
bool weft__format_xentrace_growing_is_empty(const struct weft_xentrace_growing *growing);

#endif
