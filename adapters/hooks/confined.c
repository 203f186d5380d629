/* SPDX-License-Identifier: ISC
 *
 * System calls that hooks make of their own. In a sandbox they make none.
 *
 * A filter may be set for all threads at once, so the one that sets it forbids further calls first,
 * and waits for those that have begun. They take microseconds.
 */
#define WEFT_CATEGORY always
#include "hooks/hooks.h"
#include "kernel/call.h"

static bool is_confined;
static uint32_t callers;

bool weft__hooks_is_confined(void)
{
	return unlikely(__atomic_load_n(&is_confined, __ATOMIC_RELAXED));
}

/* Counted before the flag is read, as the flag is set before the count is read. */
bool weft__hooks_system_begin(void)
{
	__atomic_fetch_add(&callers, 1, __ATOMIC_SEQ_CST);
	if (likely(!__atomic_load_n(&is_confined, __ATOMIC_SEQ_CST)))
		return true;
	weft__hooks_system_end();
	return false;
}

void weft__hooks_system_end(void)
{
	__atomic_fetch_sub(&callers, 1, __ATOMIC_SEQ_CST);
}

/* The tries are bounded: a signal handler that has interrupted a hook would wait for itself, and
 * the child of a fork for a thread that it does not have. */
void weft__hooks_confine(void)
{
	enum {
		TRIES = 10000
	};
	__atomic_store_n(&is_confined, true, __ATOMIC_SEQ_CST);
	for (int i = 0; i < TRIES && __atomic_load_n(&callers, __ATOMIC_SEQ_CST); i++)
		weft__kernel_yield();
}

void weft__hooks_unconfine(void)
{
	__atomic_store_n(&is_confined, false, __ATOMIC_SEQ_CST);
}
