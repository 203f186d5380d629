/* SPDX-License-Identifier: ISC
 *
 * Signal handlers of the program. A stand-in is installed in place of each: it records the signal,
 * and goes on with the handler. Dispositions without a handler stay as they are.
 *
 *     handlers   | on_term  | on_child | 0 ...
 *     stand-ins  | handle_0 | handle_1 | handle_2 ...    each goes on with the one above
 *
 * A handler gets a stand-in of its own for ever, so that one of two threads may change a
 * disposition while the other one gets the signal: the kernel's disposition says which handler is
 * meant. Functions that return a disposition translate it back. When all stand-ins are taken,
 * further handlers are installed as they are, and are not recorded.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#include "thread/objects.h"

typedef void (*handler)(int number, siginfo_t *info, void *context);

int __sigaction(int number, const struct sigaction *new, struct sigaction *old);
__sighandler_t __sysv_signal(int number, __sighandler_t function);
__sighandler_t bsd_signal(int number, __sighandler_t function);

/* Programs still call functions that are deprecated. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Handlers with an odd index were installed without SA_SIGINFO. */
#define HANDLERS 128
static handler handlers[HANDLERS];

bool weft__thread_has_handlers;

/* ---- Stand-ins ---- */

/* False on an alternate stack that is almost full: programs choose its size for their own handlers.
 */
static bool has_room(const ucontext_t *context)
{
	const uintptr_t needed = 4096;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t begin = (uintptr_t)context->uc_stack.ss_sp;
	bool is_on_it = here - begin < context->uc_stack.ss_size;
	return !is_on_it || here - begin >= needed;
}

/* The handler may not return, so nothing follows it. A thread without a task is left alone, because
 * making one takes more of the stack. */
static __attribute__((noinline)) void record(
	int number, const siginfo_t *info, const ucontext_t *context)
{
	if (!has_room(context) || !weft__hooks_is_this_process())
		return;
	int saved = weft__hooks_begin();
	uint64_t task = weft__hooks_own_call();
	if (task == WEFT_TASK_NONE)
		task = weft_current() != WEFT_TASK_NONE ? WEFT_TASK_CURRENT : weft__hooks_thread.task;
	weft__hooks_signal_received(task, number, info->si_code, info->si_pid);
	weft__hooks_end(saved);
}

#define STAND_IN(at)                                                             \
	static void handle_##at(int number, siginfo_t *info, void *context)          \
	{                                                                            \
		if (HOOKS_RECORD)                                                        \
			record(number, info, context);                                       \
		__atomic_load_n(&handlers[at], __ATOMIC_RELAXED)(number, info, context); \
	}
/* clang-format off */
#define SIXTEEN(of, row) of(row##0) of(row##1) of(row##2) of(row##3) of(row##4) of(row##5) of(row##6) of(row##7) \
	of(row##8) of(row##9) of(row##a) of(row##b) of(row##c) of(row##d) of(row##e) of(row##f)
#define ALL(of) SIXTEEN(of, 0x0) SIXTEEN(of, 0x1) SIXTEEN(of, 0x2) SIXTEEN(of, 0x3) \
	SIXTEEN(of, 0x4) SIXTEEN(of, 0x5) SIXTEEN(of, 0x6) SIXTEEN(of, 0x7)
ALL(STAND_IN)
/* clang-format on */

#define ADDRESS(at) handle_##at,
static const handler stand_ins[HANDLERS] = {ALL(ADDRESS)};

/* ---- Translation ---- */

/* SIG_DFL, SIG_IGN, SIG_HOLD and SIG_ERR are no functions. */
static bool is_function(handler it)
{
	uintptr_t address = (uintptr_t)it;
	return address > 255 && address != (uintptr_t)SIG_ERR;
}

/* -1: it is no stand-in. */
static int find_stand_in(handler it)
{
	for (int i = 0; i < HANDLERS && is_function(it); i++)
		if (stand_ins[i] == it)
			return i;
	return -1;
}

/* The index of the handler, which is entered if it is new. -1: there is no room. */
static int enter(handler it, bool is_plain)
{
	for (int i = is_plain; i < HANDLERS; i += 2) {
		handler known = NULL;
		if (__atomic_compare_exchange_n(
				&handlers[i], &known, it, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
			known == it)
			return i;
	}
	return -1;
}

/* Where a plain handler would find other arguments on its stack with SA_SIGINFO, as in i386, it is
 * left alone. */
static bool is_recorded(const struct sigaction *action)
{
	bool is_plain = !(action->sa_flags & SA_SIGINFO);
	return is_function(action->sa_sigaction) && find_stand_in(action->sa_sigaction) < 0 &&
		   (!is_plain || sizeof(void *) == 8);
}

static void replace(struct sigaction *action)
{
	int at = enter(action->sa_sigaction, !(action->sa_flags & SA_SIGINFO));
	if (at < 0)
		return;
	action->sa_sigaction = stand_ins[at];
	action->sa_flags |= SA_SIGINFO;
}

static void restore(struct sigaction *action)
{
	int at = find_stand_in(action->sa_sigaction);
	if (at < 0)
		return;
	action->sa_sigaction = handlers[at];
	if (at % 2)
		action->sa_flags &= ~SA_SIGINFO;
}

static __sighandler_t restored(__sighandler_t function)
{
	struct sigaction action = {.sa_handler = function};
	restore(&action);
	return action.sa_handler;
}

/* Signals whose plain handler has a stand-in, which needs SA_SIGINFO. The flag stays when the
 * kernel has reset such a signal (SA_RESETHAND). */
static bool is_plain[_NSIG];

static void restore_reset(int number, struct sigaction *action)
{
	if (number > 0 && number < _NSIG && action->sa_handler == SIG_DFL &&
		(action->sa_flags & (int)SA_RESETHAND) &&
		__atomic_load_n(&is_plain[number], __ATOMIC_RELAXED))
		action->sa_flags &= ~SA_SIGINFO;
}

/* ---- Hooks ---- */

typedef __typeof__(sigaction) *sigaction_function;

static WEFT__OWN_FRAME int change(
	sigaction_function next, int number, const struct sigaction *new, struct sigaction *old)
{
	struct sigaction changed, before;
	bool is_now_plain = false;
	if (new &&number > 0 && number < _NSIG && HOOKS_RECORD &&is_recorded(new)) {
		changed = *new;
		is_now_plain = !(changed.sa_flags & SA_SIGINFO);
		replace(&changed);
		if (number != SIGINT) /* every Python program has one for that */
			weft__thread_has_handlers = true;
		new = &changed;
	}
	int result = next(number, new, old ? &before : NULL);
	if (result != 0)
		return result;
	if (old)
		restore_reset(number, &before);
	if (new)
		__atomic_store_n(&is_plain[number], new == &changed &&is_now_plain, __ATOMIC_RELAXED);
	if (!old)
		return result;
	restore(&before);
	*old = before;
	return result;
}

HOOK(sigaction)
int sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
	return change(NEXT(sigaction), number, new, old);
}

HOOK(__sigaction)
int __sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
	return sigaction(number, new, old);
}

/* Signals whose handlers interrupt system calls if they are installed by signal. */
static sigset_t interrupting;

HOOK(siginterrupt)
int siginterrupt(int number, int interrupts)
{
	int result = NEXT(siginterrupt)(number, interrupts);
	if (result == 0 && interrupts)
		sigaddset(&interrupting, number);
	else if (result == 0)
		sigdelset(&interrupting, number);
	return result;
}

/* As libc's: the original would install the stand-in without SA_SIGINFO. */
static __sighandler_t install(int number, __sighandler_t function)
{
	struct sigaction action = {.sa_handler = function}, old;
	sigemptyset(&action.sa_mask);
	if (sigaddset(&action.sa_mask, number) != 0)
		return SIG_ERR;
	action.sa_flags = sigismember(&interrupting, number) ? 0 : SA_RESTART;
	return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

HOOK(signal)
__sighandler_t signal(int number, __sighandler_t function)
{
	const struct sigaction action = {.sa_handler = function};
	if (HOOKS_RECORD && is_recorded(&action))
		return install(number, function);
	return restored(NEXT(signal)(number, function));
}

HOOK(ssignal)
__sighandler_t ssignal(int number, __sighandler_t function)
{
	return signal(number, function);
}

HOOK(bsd_signal)
__sighandler_t bsd_signal(int number, __sighandler_t function)
{
	return signal(number, function);
}

/* Variants of System V, which few programs use, are not recorded. */

HOOK(__sysv_signal)
__sighandler_t __sysv_signal(int number, __sighandler_t function)
{
	return restored(NEXT(__sysv_signal)(number, function));
}

HOOK(sysv_signal)
__sighandler_t sysv_signal(int number, __sighandler_t function)
{
	return restored(NEXT(__sysv_signal)(number, function));
}

HOOK(sigset)
__sighandler_t sigset(int number, __sighandler_t function)
{
	return restored(NEXT(sigset)(number, function));
}
