/* SPDX-License-Identifier: ISC
 *
 * Waits for completions of io_uring, by syscall(). The operations themselves are the kernel's alone
 * to see: the thread waits for the ring's task, whose completions it asks for.
 */
#include <linux/io_uring.h>

#include "io/call.h"
#include "io/loop.h"

#include "hooks/asked.h"

enum {
	IS_INDEX = 1 << 4 /* IORING_ENTER_REGISTERED_RING: the first argument is no descriptor */
};

/* False: the call does not wait. */
static bool waits(const struct weft__hooks_asked *it)
{
	return it->argument[2] && it->argument[3] & IORING_ENTER_GETEVENTS;
}

HOOKS_ASKED(SYS_io_uring_enter, ask_io_uring_enter)
{
	static __thread bool was_slow __attribute__((tls_model("initial-exec"))) = true;
	struct weft__io_call call;
	if (!waits(it) || !HOOKS_RECORD || !weft__io_is_programs(it->caller))
		return weft__hooks_ask(it);
	if (it->argument[3] & IS_INDEX)
		weft__io_call_begin_other(&call, &was_slow, "io_uring_enter", NULL);
	else
		weft__io_call_begin(&call, (int)it->argument[0], WEFT__IO_IN, 0, "io_uring_enter");
	long result = weft__hooks_ask(it);
	weft__io_call_end(&call, result >= 0);
	return result;
}
