/* SPDX-License-Identifier: ISC
 *
 * Metrics of what the program does: bytes, waits, times for which it was blocked. They change where
 * a hook records, without events of their own.
 *
 * Other processes see them once the process has done enough to be of interest: a short command is
 * not worth the memory and system calls that this takes. Until then values are private; none is
 * lost.
 */
#ifndef WEFT_ADAPTERS_HOOKS_COUNTS_H
#define WEFT_ADAPTERS_HOOKS_COUNTS_H

#include <weft/metrics.h>

#include "hooks/hooks.h"

/* A metric of that type with these labels. errno stays. */
weft_metric weft__hooks_metric(
	const struct weft_metric_type *type, const char *const *labels, unsigned pairs);

/* The process shares its values once it has done so many requests since it began. */
enum {
	WEFT__HOOKS_ENOUGH = 1000,
	WEFT__HOOKS_BLOCKED_NS = 100000 /* counts as a request */
};

extern bool weft__hooks_counts_are_shared __attribute__((visibility("hidden")));

void weft__hooks_share_counts(uint64_t requests);
static inline void weft__hooks_has_done(uint64_t requests)
{
	if (unlikely(!__atomic_load_n(&weft__hooks_counts_are_shared, __ATOMIC_RELAXED)))
		weft__hooks_share_counts(requests);
}

/* The thread was blocked in a call for that time. `call` is a literal. errno stays. */
void weft__hooks_count_blocked(const char *call, uint64_t ns);

#endif
