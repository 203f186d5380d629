/* SPDX-License-Identifier: ISC
 *
 * The entries of hooks.
 *
 * A library of the program may have functions of its own with libc's names, such as `connect` with
 * other arguments. Without this library they would be found first by all that call them. So what is
 * exported is a jump to the hook, or to such a function. It changes no register in which an
 * argument may be, and nothing of the stack:
 *
 *     connect:  jmp *entry_connect   ->  first        finds out where to (entry.c), jumps there
 *                                    ->  the hook     if libc's function comes next
 *                                    ->  theirs       if it is another one: the trace only says
 * that such calls are not in it
 *
 * The hook itself has another name in the symbol table, and is not exported.
 */
#ifndef WEFT_ADAPTERS_ENTRY_H
#define WEFT_ADAPTERS_ENTRY_H

#include <stdint.h>

/* The libraries in front of which hooks stand. */
#define HOOKS_LIBC  0
#define HOOKS_UV    1
#define HOOKS_GLIB  2
#define HOOKS_URING 3

struct weft__hooks_entry {
	void *target; /* where the entry jumps to */
	void *hook;
	const char *name;
	uint64_t library;
	void *theirs; /* the function of another library that comes next, or NULL */
};

/* HOOK(close) int close(int fd) { ... } defines the hook of libc's close. A file of hooks of
 * another library defines HOOKS_OF. */
#ifndef HOOKS_OF
#define HOOKS_OF HOOKS_LIBC
#endif
#define HOOK(name) HOOKS__ENTRY(name, #name, HOOKS_OF)
/* The same where a header calls the function, so that it cannot be defined under its own name:
 * `hook` is declared before. */
#define HOOK_BY(name, hook) HOOKS__ENTRY(hook, #name, HOOKS_OF)
#define HOOKS__ENTRY(...)   HOOKS__ENTRY_OF(__VA_ARGS__)

/* clang-format off */
#if defined(__x86_64__) && defined(__LP64__)
#define HOOKS__JUMP(name) \
	"endbr64\n"           \
	"jmp *entry_" name "(%rip)\n"
#define HOOKS__FIRST(name)             \
	"endbr64\n"                        \
	"lea entry_" name "(%rip), %r11\n" \
	"jmp weft__hooks_enter_first\n"
#elif defined(__aarch64__) && defined(__LP64__)
#define HOOKS__JUMP(name)                    \
	"hint #34\n"                             \
	"adrp x16, entry_" name "\n"             \
	"ldr x16, [x16, :lo12:entry_" name "]\n" \
	"br x16\n"
#define HOOKS__FIRST(name)                 \
	"hint #34\n"                           \
	"adrp x17, entry_" name "\n"           \
	"add x17, x17, :lo12:entry_" name "\n" \
	"b weft__hooks_enter_first\n"
#endif

#ifdef HOOKS__JUMP
#define HOOKS__ENTRY_OF(it, name, of)                                                             \
	__asm__(".pushsection .text\n"                                                                \
			".p2align 4\n"                                                                        \
			".globl " name "\n"                                                                   \
			".hidden weft__hook_" name "\n"                                                       \
			".type " name ", %function\n"                                                         \
			name ":\n"                                                                            \
			".cfi_startproc\n"                                                                    \
			HOOKS__JUMP(name)                                                                     \
			".cfi_endproc\n"                                                                      \
			".size " name ", . - " name "\n"                                                      \
			"first_" name ":\n"                                                                   \
			".cfi_startproc\n"                                                                    \
			HOOKS__FIRST(name)                                                                    \
			".cfi_endproc\n"                                                                      \
			".popsection\n"                                                                       \
			".pushsection .rodata.str1.1, \"aMS\", %progbits, 1\n"                                \
			"name_" name ": .asciz \"" name "\"\n"                                                \
			".popsection\n"                                                                       \
			".pushsection weft_entries, \"aw\", %progbits\n"                                      \
			".p2align 3\n"                                                                        \
			"entry_" name ":\n"                                                                   \
			".quad first_" name ", weft__hook_" name ", name_" name ", " HOOKS__TEXT(of) ", 0\n"  \
			".popsection\n");                                                                     \
	extern __typeof__(it) it __asm__("weft__hook_" name) __attribute__((used));
#define HOOKS__TEXT(number) #number
#else
#define HOOKS__ENTRY_OF(it, name, of) \
	extern __typeof__(it) it __asm__(name) __attribute__((visibility("default")));
#endif
/* clang-format on */

#endif
