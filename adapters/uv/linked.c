/* SPDX-License-Identifier: ISC
 *
 * The start of libweft-uv.a, as hooks/start.c is that of libweft-adapters.so.
 */
#include "uv/adapter.h"

WEFT_CATEGORY_DEFINE(thread, "thread", "the tasks of threads");
WEFT_CATEGORY_DEFINE(uv, "uv", "libuv's handles and requests");

/* The main thread's task runs from the start, unless the program has said what runs. libweft's own
 * constructor has run. */
__attribute__((constructor(110))) static void begin(void)
{
	int saved = weft__hooks_begin();
	if (weft_is_recording() && weft_current() == WEFT_TASK_NONE)
		weft__hooks_thread_task();
	weft__hooks_end(saved);
}

__attribute__((destructor(110))) static void end(void)
{
	const struct weft__hooks_thread *thread = &weft__hooks_thread;
	int saved = weft__hooks_begin();
	if (thread->epoch == weft__hooks_epoch())
		weft_resolve(thread->task);
	weft__hooks_end(saved);
}
