/* SPDX-License-Identifier: ISC
 *
 * Work of a hook that needs more stack than a hook may use, such as finding a name: it runs on a
 * stack of this library's own. The program's may be a signal handler's, of 2 KiB.
 *
 * There are a few such stacks for all threads, since the work is rare and takes microseconds.
 * Signals are blocked meanwhile: their handlers may need any amount of stack, and may never return.
 * If there is no stack, or none may be asked for, the work runs where the hook is.
 *
 *     table     a page: which stacks are taken. A forked child gets it empty
 *     stacks    16 of 16 KiB. A forked child does not have them, and asks for its own
 */
#include <stdint.h>

#define WEFT_CATEGORY always
#include "hooks/hooks.h"
#include "kernel/call.h"

#if (defined(__x86_64__) && defined(__LP64__)) || (defined(__aarch64__) && defined(__LP64__))

#define STACKS      16
#define STACK_BYTES ((size_t)16 * 1024)

struct table {
	uint32_t taken; /* a bit for each stack */
	unsigned char *stacks;
};

static struct table *table;

/* ---- The switch ---- */

/* Calls work(of) with the stack that ends at `end`, a multiple of 16. */
void weft__hooks_call_on(unsigned char *end, void (*work)(void *), void *of)
	__attribute__((visibility("hidden")));

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
		".p2align 4\n"
		".type weft__hooks_call_on, @function\n"
		".hidden weft__hooks_call_on\n"
		".globl weft__hooks_call_on\n"
		"weft__hooks_call_on:\n"
		".cfi_startproc\n"
		"endbr64\n"
		"push %rbp\n"
		".cfi_def_cfa_offset 16\n"
		".cfi_offset %rbp, -16\n"
		"mov %rsp, %rbp\n"
		".cfi_def_cfa_register %rbp\n"
		"mov %rdi, %rsp\n"
		"mov %rdx, %rdi\n"
		"call *%rsi\n"
		"leave\n"
		".cfi_def_cfa %rsp, 8\n"
		"ret\n"
		".cfi_endproc\n"
		".size weft__hooks_call_on, . - weft__hooks_call_on\n"
		".popsection\n");
#else
__asm__(".pushsection .text\n"
		".p2align 2\n"
		".type weft__hooks_call_on, %function\n"
		".hidden weft__hooks_call_on\n"
		".globl weft__hooks_call_on\n"
		"weft__hooks_call_on:\n"
		".cfi_startproc\n"
		"hint #34\n"
		"stp x29, x30, [sp, #-16]!\n"
		".cfi_def_cfa_offset 16\n"
		".cfi_offset x29, -16\n"
		".cfi_offset x30, -8\n"
		"mov x29, sp\n"
		".cfi_def_cfa_register x29\n"
		"mov sp, x0\n"
		"mov x0, x2\n"
		"blr x1\n"
		"mov sp, x29\n"
		"ldp x29, x30, [sp], #16\n"
		".cfi_def_cfa sp, 0\n"
		".cfi_restore x29\n"
		".cfi_restore x30\n"
		"ret\n"
		".cfi_endproc\n"
		".size weft__hooks_call_on, . - weft__hooks_call_on\n"
		".popsection\n");
#endif

/* ---- The stacks ---- */

static void *map(size_t size, int advice)
{
	void *memory = NULL;
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	if (weft__kernel_map(size, PROT_READ | PROT_WRITE, flags, -1, &memory) != 0)
		return NULL;
	if (weft__kernel_advise(memory, size, advice) == 0)
		return memory;
	weft__kernel_unmap(memory, size);
	return NULL;
}

/* Makes what `where` points to, once; another thread may be first. */
static void *make_once(void **where, size_t size, int advice)
{
	void *is = __atomic_load_n(where, __ATOMIC_ACQUIRE);
	void *made = is ? NULL : map(size, advice);
	if (!made)
		return is;
	if (__atomic_compare_exchange_n(where, &is, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return made;
	weft__kernel_unmap(made, size);
	return is;
}

static bool find_stacks(struct table **ret)
{
	struct table *it = make_once((void **)&table, sizeof(*it), MADV_WIPEONFORK);
	*ret = it;
	return it && make_once((void **)&it->stacks, STACKS * STACK_BYTES, MADV_DONTFORK);
}

/* The stack's number, or STACKS. */
static unsigned take_entry(struct table *of)
{
	uint32_t taken = __atomic_load_n(&of->taken, __ATOMIC_RELAXED);
	for (;;) {
		unsigned stack = (unsigned)__builtin_ctz(~taken | 1u << STACKS);
		if (stack == STACKS || __atomic_compare_exchange_n(&of->taken, &taken, taken | 1u << stack,
								   false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return stack;
	}
}

static void give_back(struct table *to, unsigned stack)
{
	__atomic_fetch_and(&to->taken, ~(1u << stack), __ATOMIC_RELEASE);
}

static bool is_aside(const struct table *in)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	return here - (uintptr_t)in->stacks < STACKS * STACK_BYTES;
}

/* ---- Work ---- */

static void run_aside(struct table *in, void (*work)(void *), void *of)
{
	uint64_t before, all = ~UINT64_C(0);
	weft__kernel_signal_mask(&all, &before);
	unsigned stack = take_entry(in);
	if (stack < STACKS) {
		weft__hooks_call_on(in->stacks + (stack + 1) * STACK_BYTES, work, of);
		give_back(in, stack);
	} else {
		work(of);
	}
	weft__kernel_signal_mask(&before, NULL);
}

void weft__hooks_aside(void (*work)(void *of), void *of)
{
	struct table *in;
	if (!weft__hooks_system_begin()) {
		work(of);
		return;
	}
	if (!find_stacks(&in) || is_aside(in))
		work(of);
	else
		run_aside(in, work, of);
	weft__hooks_system_end();
}

#else

void weft__hooks_aside(void (*work)(void *of), void *of)
{
	work(of);
}

#endif
