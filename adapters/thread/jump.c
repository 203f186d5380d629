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

/* Where on the stack a jump goes, or 0: unknown. libc has mixed the address with a secret number of
 * the process. */
static uintptr_t place_of(const struct __jmp_buf_tag *environment)
{
#if defined(__x86_64__) && defined(__LP64__)
	enum {
		STACK_POINTER = 6,
		SHIFT = 17
	};
	uintptr_t secret, mixed = (uintptr_t)environment->__jmpbuf[STACK_POINTER];
	__asm__("mov %%fs:0x30, %0" : "=r"(secret));
	return (mixed >> SHIFT | mixed << (64 - SHIFT)) ^ secret;
#else
	(void)environment;
	return 0;
#endif
}

/* Ends the interrupted wait of any adapter, even if the level of this adapter is off. */
#define JUMP(name)                                                             \
	HOOK(name)                                                                 \
	void name(struct __jmp_buf_tag environment[1], int value)                  \
	{                                                                          \
		if (unlikely(weft__hooks_thread.waiting || weft__hooks_thread.inside)) \
			weft__hooks_jump(place_of(environment));                           \
		NEXT(name)(environment, value);                                        \
		__builtin_unreachable();                                               \
	}

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)
