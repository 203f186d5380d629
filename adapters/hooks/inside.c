/* SPDX-License-Identifier: ISC
 *
 * Hooks that are left by a jump. A signal handler may interrupt a hook while that records, or while
 * the thread is blocked in the original, and leave both by siglongjmp: neither would ever end, and
 * the thread would not be recorded any more.
 *
 * So a hook notes where on the stack it is. What it calls, and a handler that interrupts it, is
 * further down; a call from further up shows that it has been left. The hook of siglongjmp knows
 * where the jump goes, so that it is noticed also if the thread goes on further down. A wait is
 * left only by a jump that has a hook: the original may itself call functions that have hooks.
 *
 *     further up     main         <- the jump goes here, and calls hooks again
 *                    the hook     <- inside, waiting
 *                    what it calls
 *     further down   the handler  <- its hooks are not recorded, if the hook was recording
 *
 * An alternate stack of signal handlers is neither. A handler on it has interrupted what is on the
 * other stack, however their addresses compare. Coroutines that a handler switches to are taken for
 * a part of the same stack.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WEFT_CATEGORY always
#include "hooks/hooks.h"

static bool has(const stack_t *stack, uintptr_t address)
{
	return !(stack->ss_flags & SS_DISABLE) && address - (uintptr_t)stack->ss_sp < stack->ss_size;
}

/* Also what libweft was about to write. */
static void leave_hook(void)
{
	weft__left_by_jump();
	weft__hooks_thread.inside = 0;
}

/* True if what began at one address is over when the thread is, or goes, at another. */
static bool has_left(uintptr_t began, uintptr_t address)
{
	stack_t alternate = {.ss_flags = SS_DISABLE};
	int saved = errno;
	if (weft__hooks_system_begin()) {
		if (syscall(SYS_sigaltstack, NULL, &alternate) != 0)
			alternate.ss_flags = SS_DISABLE;
		weft__hooks_system_end();
	}
	errno = saved;
	bool was_on_it = has(&alternate, began);
	return has(&alternate, address) == was_on_it ? address > began : was_on_it;
}

bool weft__hooks_may_record(uintptr_t address)
{
	const struct weft__hooks_thread *thread = &weft__hooks_thread;
	if (address > thread->inside && has_left(thread->inside, address))
		leave_hook();
	return !thread->inside;
}

void weft__hooks_jump(uintptr_t address)
{
	struct weft__hooks_thread *thread = &weft__hooks_thread;
	if (thread->inside && address && has_left(thread->inside, address))
		leave_hook();
	if (!thread->inside && thread->waiting && (!address || has_left(thread->waiting, address)))
		thread->leave_wait();
}

void weft__hooks_waits(void (*leave)(void))
{
	weft__hooks_thread.leave_wait = leave;
	weft__hooks_thread.waiting = (uintptr_t)__builtin_dwarf_cfa();
}

void weft__hooks_waits_no_longer(void)
{
	weft__hooks_thread.waiting = 0;
	weft__hooks_thread.leave_wait = NULL;
}
