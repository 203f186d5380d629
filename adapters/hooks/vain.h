/* SPDX-License-Identifier: ISC
 *
 * Calls that return at once and have nothing for the program, such as poll with a time-out of 0. A
 * thread that makes one after the other waits in a busy loop.
 */
#ifndef WEFT_ADAPTERS_VAIN_H
#define WEFT_ADAPTERS_VAIN_H

#include "hooks/hooks.h"

struct weft__hooks_loop {
	const char *call;    /* the last one */
	uint64_t began_ns;   /* of the present one; 0: not measured */
	uint64_t ended_ns;   /* of the last one */
	uint64_t spent_ns;   /* in calls, and in short times between them */
	uint64_t between_ns; /* these times */
	uint32_t calls, pauses;
	uint32_t epoch; /* of the process in which these are valid */
	bool is_mixed;  /* calls of several kinds */
};

extern __thread struct weft__hooks_loop weft__hooks_loop
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Before a call that is frequent: its begin is measured if it may be one of a busy loop. */
static inline void weft__hooks_may_be_vain(void)
{
	enum {
		MEASURED_FROM = 16 /* calls */
	};
	if (unlikely(weft__hooks_loop.calls >= MEASURED_FROM))
		weft__hooks_loop.began_ns = weft__hooks_now_ns();
}

/* A call that had nothing, and began at that time of the monotonic clock. 0: it began when
 * weft__hooks_may_be_vain was called, and may have waited. `call` is a literal. errno stays. */
void weft__hooks_vain(const char *call, uint64_t began_ns);

/* A call between two of these, with a result that the program may not use: what it does then tells.
 */
void weft__hooks_vain_goes_on(uint64_t began_ns, uint64_t ended_ns);

#endif
