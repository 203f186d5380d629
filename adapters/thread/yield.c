/* SPDX-License-Identifier: ISC
 *
 * sched_yield: it is over at once if no other thread wants the processor. So only one that took
 * long is recorded, as a span, like a call that blocks; and a thread that does nothing else.
 */
#include <sched.h>
#include <threads.h>

#define WEFT_CATEGORY thread
#include "hooks/counts.h"
#include "hooks/vain.h"

static void end_yield(uint64_t began, uint64_t began_ns, const char *name)
{
	weft__hooks_vain(name, began_ns);
	uint64_t ns = weft__hooks_ns_since(began);
	if (likely(ns < WEFT__HOOKS_LONG_NS))
		return;
	int saved = weft__hooks_begin();
	weft__hooks_count_blocked(name, ns);
	struct weft__hooks_text text = {0};
	weft__hooks_append(&text, name);
	weft__hooks_record_blocked(&text, began);
	weft__hooks_end(saved);
}

HOOK(sched_yield)
int sched_yield(void)
{
	if (!HOOKS_RECORD)
		return NEXT(sched_yield)();
	uint64_t began = weft_now(), began_ns = weft__hooks_now_ns();
	int result = NEXT(sched_yield)();
	end_yield(began, began_ns, "sched_yield");
	return result;
}

HOOK(thrd_yield)
void thrd_yield(void)
{
	if (!HOOKS_RECORD) {
		NEXT(thrd_yield)();
		return;
	}
	uint64_t began = weft_now(), began_ns = weft__hooks_now_ns();
	NEXT(thrd_yield)();
	end_yield(began, began_ns, "thrd_yield");
}
