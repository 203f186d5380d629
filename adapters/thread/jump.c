/* SPDX-License-Identifier: ISC
 *
 * Jumps out of signal handlers: a wait that the signal has interrupted does not return, so it ends
 * here. Programs limit the time of a call by an alarm in this way, and shells leave `wait`.
 */
/* With _FORTIFY_SOURCE, the header would declare longjmp under its checking variant's name. */
#undef _FORTIFY_SOURCE
#include <setjmp.h>

#define WEFT_CATEGORY thread
#include "hooks/hooks.h"

void __longjmp_chk(jmp_buf environment, int value) __attribute__((noreturn));

/* Ends the interrupted wait of any adapter, even if the level of this adapter is off. */
#define JUMP(name)                                                                    \
	HOOK(name)                                                                        \
	void name(struct __jmp_buf_tag environment[1], int value)                         \
	{                                                                                 \
		if (unlikely(weft__hooks_thread.is_waiting) && !weft__hooks_thread.is_inside) \
			weft__hooks_wait_left();                                                  \
		NEXT(name)(environment, value);                                               \
		__builtin_unreachable();                                                      \
	}

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)
