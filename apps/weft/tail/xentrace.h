/* SPDX-License-Identifier: ISC
 *
 * weft tail of a file that xentrace writes.
 */
#ifndef WEFT_APPS_TAIL_XENTRACE_H
#define WEFT_APPS_TAIL_XENTRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/xen_filter.h"

struct tail_xentrace {
	bool json;
	bool only_new;                   /* leave out what is in the file already */
	bool is_followed;                /* goes on when no process writes the file */
	const struct xen_filter *filter; /* NULL: all records */
	uint64_t start_ns, end_ns; /* of records; `end_ns` is exclusive, unless it is UINT64_MAX */
};

/* True if the file is Xen's own trace, and some process is writing it. */
bool tail_xentrace_fits(const char *path);
/* True if it is Xen's own trace. */
bool tail_xentrace_is(const char *path);

/* Prints its records, in the order of time, until no process writes it any more, the range ends, or
 * Ctrl-C. Returns an exit status. */
int tail_xentrace(const char *path, const struct tail_xentrace *what);

#endif
