/* SPDX-License-Identifier: ISC
 *
 * The times that vCPUs, domains and pCPUs spent in each state: see weft/xentrace.h.
 */
#ifndef WEFT_FORMAT_XENTRACE_STAYS_H
#define WEFT_FORMAT_XENTRACE_STAYS_H

#include "format/xentrace/reader.h"

/* 0, an error of `take`, or WEFT_ERROR_MEMORY. */
int weft__format_xentrace_stays(struct weft__xentrace_reader *reader,
	int (*take)(void *context, const struct weft_xentrace_stay *stay), void *context);

#endif
