/* SPDX-License-Identifier: ISC
 *
 * Calls of the kernel that a program makes by syscall(2). The hook of that function jumps to libc's
 * with all arguments untouched, except for the calls that a file here has named:
 *
 *     HOOKS_ASKED(SYS_nanosleep, ask_nanosleep)
 *     {
 *         ... weft__hooks_ask(it) ...
 *     }
 */
#ifndef WEFT_ADAPTERS_ASKED_H
#define WEFT_ADAPTERS_ASKED_H

#include <sys/syscall.h>
#include <unistd.h>

#include "hooks/hooks.h"

struct weft__hooks_asked {
	long number;
	long argument[6]; /* the caller may have passed fewer: the others are any values */
	const void *caller;
};

struct weft__hooks_asking {
	long number;
	long (*function)(const struct weft__hooks_asked *it);
};

/* Begins a function that makes, and records, the call of that number. All are in one section. */
#define HOOKS_ASKED(number, function)                                                \
	static long function(const struct weft__hooks_asked *it);                        \
	static struct weft__hooks_asking asking_##function __attribute__((               \
		used, section("weft_asked"), aligned(sizeof(void *)))) = {number, function}; \
	static long function(const struct weft__hooks_asked *it)

/* Makes the call by libc's syscall(), which sets errno. */
static inline long weft__hooks_ask(const struct weft__hooks_asked *it)
{
	const long *a = it->argument;
	return NEXT(syscall)(it->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* An argument that is a pointer. */
static inline void *weft__hooks_pointer(const struct weft__hooks_asked *it, int argument)
{
	return (void *)(uintptr_t)it->argument[argument];
}

#endif
