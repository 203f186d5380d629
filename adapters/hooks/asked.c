/* SPDX-License-Identifier: ISC
 *
 * The hook of syscall(2), by which programs and libraries ask the kernel without a function of libc
 * for that call.
 *
 * A call that nothing here records has to leave the hook by a jump: clone may give the child
 * another stack, on which there is only the address that libc's function returns to. And the last
 * argument is on the caller's stack. Where the caller has passed fewer, that word is its own, and
 * other threads may change it: it may be read, but not written, as compilers do for a call in place
 * of a return. So the jump is in assembly language.
 */
#include <unistd.h>

#define WEFT_CATEGORY always
#include "hooks/asked.h"

extern struct weft__hooks_asking __start_weft_asked[] __attribute__((visibility("hidden")));
extern struct weft__hooks_asking __stop_weft_asked[] __attribute__((visibility("hidden")));

typedef long syscall_function(long number, long a, long b, long c, long d, long e, long f);

static const struct weft__hooks_asking *find_asking(long number)
{
	for (const struct weft__hooks_asking *it = __start_weft_asked; it < __stop_weft_asked; it++)
		if (it->number == number)
			return it;
	return NULL;
}

extern syscall_function weft__hooks_syscall;
HOOK_BY(syscall, weft__hooks_syscall)

#if defined(__x86_64__) && defined(__LP64__)
/* Makes a call that is recorded. */
static long make(long number, long a, long b, long c, long d, long e, long f)
{
	const struct weft__hooks_asked it = {number, {a, b, c, d, e, f}, __builtin_return_address(0)};
	return find_asking(number)->function(&it);
}

/* The function to jump to. */
syscall_function *weft__hooks_before_syscall(long number)
	__attribute__((visibility("hidden"), used));
syscall_function *weft__hooks_before_syscall(long number)
{
	return find_asking(number) ? make : (syscall_function *)(void *)NEXT(syscall);
}

__asm__(".pushsection .text\n"
		".p2align 4\n"
		".type weft__hook_syscall, @function\n"
		".globl weft__hook_syscall\n"
		"weft__hook_syscall:\n"
		".cfi_startproc\n"
		"endbr64\n"
		"push %rdi\n"
		".cfi_adjust_cfa_offset 8\n"
		"push %rsi\n"
		".cfi_adjust_cfa_offset 8\n"
		"push %rdx\n"
		".cfi_adjust_cfa_offset 8\n"
		"push %rcx\n"
		".cfi_adjust_cfa_offset 8\n"
		"push %r8\n"
		".cfi_adjust_cfa_offset 8\n"
		"push %r9\n"
		".cfi_adjust_cfa_offset 8\n"
		"sub $8, %rsp\n"
		".cfi_adjust_cfa_offset 8\n"
		"call weft__hooks_before_syscall\n"
		"add $8, %rsp\n"
		".cfi_adjust_cfa_offset -8\n"
		"pop %r9\n"
		".cfi_adjust_cfa_offset -8\n"
		"pop %r8\n"
		".cfi_adjust_cfa_offset -8\n"
		"pop %rcx\n"
		".cfi_adjust_cfa_offset -8\n"
		"pop %rdx\n"
		".cfi_adjust_cfa_offset -8\n"
		"pop %rsi\n"
		".cfi_adjust_cfa_offset -8\n"
		"pop %rdi\n"
		".cfi_adjust_cfa_offset -8\n"
		"jmp *%rax\n"
		".cfi_endproc\n"
		".size weft__hook_syscall, . - weft__hook_syscall\n"
		".popsection\n");
#else
/* A copy of the arguments is passed on, and the child of such a clone fails. */
long weft__hooks_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	const struct weft__hooks_asking *asking = find_asking(number);
	const struct weft__hooks_asked it = {number, {a, b, c, d, e, f}, __builtin_return_address(0)};
	long result = asking ? asking->function(&it) : weft__hooks_ask(&it);
	__asm__ volatile("");
	return result;
}
#endif
