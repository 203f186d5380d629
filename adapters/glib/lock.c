/* SPDX-License-Identifier: ISC
 *
 * GMutex and GCond, which wait for futexes: see thread/futex.c. Here they are only named by the
 * function that calls them. GRecMutex and GRWLock are locks of libc. GLib itself calls these
 * functions directly, so its own locks are named by its code.
 */
#include "glib/adapter.h"
#include "thread/futex.h"

static void enter(const void *caller, GCond *condition)
{
	if (!HOOKS_RECORD)
		return;
	weft__thread_futex_name =
		(struct weft__thread_futex_name){caller, condition ? &condition->i[0] : NULL};
}

static void leave(void)
{
	weft__thread_futex_name = (struct weft__thread_futex_name){0};
}

/* GMutexLocker of GLib's header calls it. */
void weft__glib_mutex_lock(GMutex *mutex);
HOOK_BY(g_mutex_lock, weft__glib_mutex_lock)
void weft__glib_mutex_lock(GMutex *mutex)
{
	enter(__builtin_return_address(0), NULL);
	GLIB_NEXT(g_mutex_lock)(mutex);
	leave();
}

HOOK(g_cond_wait)
void g_cond_wait(GCond *condition, GMutex *mutex)
{
	enter(__builtin_return_address(0), condition);
	GLIB_NEXT(g_cond_wait)(condition, mutex);
	leave();
}

HOOK(g_cond_wait_until)
gboolean g_cond_wait_until(GCond *condition, GMutex *mutex, gint64 end)
{
	enter(__builtin_return_address(0), condition);
	gboolean is_signalled = GLIB_NEXT(g_cond_wait_until)(condition, mutex, end);
	leave();
	return is_signalled;
}
