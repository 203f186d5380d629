/* SPDX-License-Identifier: ISC
 *
 * Comparisons of Xen's system time with the clocks of this domain. The rates of these clocks differ
 * and change, so they are compared again and again: more and more seldom, so that the list covers
 * any time with few comparisons.
 */
#ifndef WEFT_XEN_COMPARISONS_H
#define WEFT_XEN_COMPARISONS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/buffer_abi.h"
#include "xen/access.h"

/* Zeroed: none was made yet. */
struct weft__comparisons {
	struct weft_abi_comparison list[WEFT_ABI_COMPARISONS];
	uint32_t count;
	uint64_t interval_ns, due_ns;
	bool has_extra; /* the last one was made before it was due; the next one replaces it */
};

/* Makes one comparison. False if Xen does not say its time. */
bool weft__xen_comparison_make(
	const struct weft__xen_access *access, struct weft_abi_comparison *ret_comparison);

/* Makes a comparison if it is due, or if it is wanted at once, and if Xen says its time. */
void weft__xen_comparisons_add(
	struct weft__comparisons *comparisons, const struct weft__xen_access *access, bool at_once);

#endif
