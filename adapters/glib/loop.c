/* SPDX-License-Identifier: ISC
 *
 * The main loop of GLib: between the dispatches of sources, no task runs on its thread.
 */
#include "glib/adapter.h"

HOOK(g_main_loop_run)
void g_main_loop_run(GMainLoop *loop)
{
	if (!HOOKS_RECORD) {
		GLIB_NEXT(g_main_loop_run)(loop);
		return;
	}
	struct weft__hooks_loop run = weft__hooks_loop_begin();
	GLIB_NEXT(g_main_loop_run)(loop);
	weft__hooks_loop_end(&run);
}

/* An iteration that may not block is not recorded as a loop: it is a part of a loop of the
 * program's own. */
HOOK(g_main_context_iteration)
gboolean g_main_context_iteration(GMainContext *context, gboolean may_block)
{
	if (!HOOKS_RECORD || !may_block)
		return GLIB_NEXT(g_main_context_iteration)(context, may_block);
	struct weft__hooks_loop run = weft__hooks_loop_begin();
	gboolean is_any = GLIB_NEXT(g_main_context_iteration)(context, may_block);
	weft__hooks_loop_end(&run);
	return is_any;
}
