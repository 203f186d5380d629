/* SPDX-License-Identifier: ISC
 *
 * Programs that install a seccomp filter, which may end them at any system call that they have not
 * foreseen.
 *
 * Hooks make few system calls, but some: they read /proc to name a lock, and ask for addresses of
 * sockets. So all adapters are turned off once a filter is in place. `weft ctl` can turn them on
 * again, at the user's risk.
 *
 * Libraries install filters by prctl or by syscall. One that is installed otherwise, or that this
 * program inherited, is not noticed.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

#define WEFT_CATEGORY thread
#include "hooks/asked.h"
#include "hooks/unseen.h"

static void mark(void *of)
{
	(void)of;
	weft_mark("seccomp filter: adapters stop recording");
}

/* Recorded before: an event may make a system call, too, to wake a reader. */
static int begin_confinement(void)
{
	int saved = weft__hooks_begin();
	weft__hooks_aside(mark, NULL);
	weft__hooks_confine();
	return saved;
}

static void end_confinement(bool is_in_place, int saved_errno)
{
	int error = errno;
	if (is_in_place) {
		weft__hooks_unseen("filter", "the program");
		weft__hooks_turn_off();
	} else {
		weft__hooks_unconfine();
	}
	weft__hooks_thread.inside = 0;
	errno = is_in_place ? saved_errno : error;
}

/* Calls `call`, which installs a filter if `is_filter`. */
#define CONFINE(is_filter, type, call)                       \
	__extension__({                                          \
		bool weft__is_filter = unlikely(is_filter);          \
		int weft__saved = 0;                                 \
		if (weft__is_filter)                                 \
			weft__saved = begin_confinement();               \
		type weft__result = (call);                          \
		if (weft__is_filter)                                 \
			end_confinement(weft__result >= 0, weft__saved); \
		weft__result;                                        \
	})

/* libseccomp passes no filter to find out which flags the kernel knows. */
static bool is_filter(long mode, long filter)
{
	return mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && filter);
}

/* The caller may have passed fewer arguments: any value will do for these. */
HOOK(prctl)
int prctl(int option, ...)
{
	long argument[4];
	va_list list;
	va_start(list, option);
	for (int i = 0; i < 4; i++)
		argument[i] = va_arg(list, long);
	va_end(list);
	int result = CONFINE(option == PR_SET_SECCOMP && is_filter(argument[0], argument[1]), int,
		NEXT(prctl)(option, argument[0], argument[1], argument[2], argument[3]));
	if (option != PR_SET_NAME || result != 0 || !HOOKS_RECORD)
		return result;
	int saved = weft__hooks_begin();
	weft__hooks_renamed();
	weft__hooks_end(saved);
	return result;
}

/* The calls that a ring takes are the kernel's alone to see. */
HOOKS_ASKED(SYS_io_uring_setup, ask_for_ring)
{
	long result = weft__hooks_ask(it);
	if (result < 0 || !HOOKS_RECORD)
		return result;
	int saved = weft__hooks_begin();
	weft__hooks_unseen("io_uring", "the process");
	weft__hooks_end(saved);
	return result;
}

HOOKS_ASKED(SYS_seccomp, ask_for_filter)
{
	const long *argument = it->argument;
	bool is_strict = argument[0] == SECCOMP_SET_MODE_STRICT;
	bool is_installed = argument[0] == SECCOMP_SET_MODE_FILTER && argument[2];
	return CONFINE(is_strict || is_installed, long, weft__hooks_ask(it));
}
