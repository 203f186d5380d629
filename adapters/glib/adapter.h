/* SPDX-License-Identifier: ISC
 *
 * The hooks of GLib: their common declarations.
 *
 * A source is a task from when it is attached until it is removed, and runs while it is dispatched.
 * GLib's libraries call most of their own functions directly, so hooks see only calls of the
 * program and of other libraries. But all dispatches are seen, since these go through tables of
 * functions in writable memory: `dispatch` is replaced there.
 */
#ifndef WEFT_ADAPTERS_GLIB_ADAPTER_H
#define WEFT_ADAPTERS_GLIB_ADAPTER_H

#include <gio/gio.h>
#include <glib-unix.h>

#undef likely
#undef unlikely
#define WEFT_CATEGORY glib
#define HOOKS_OF      HOOKS_GLIB
#include "hooks/callbacks.h"
#include "hooks/library.h"

extern struct weft__hooks_library weft__glib_library,
	weft__gio_library __attribute__((visibility("hidden")));

#define GLIB_NEXT(name) LIBRARY_NEXT(weft__glib_library, name)
#define GIO_NEXT(name)  LIBRARY_NEXT(weft__gio_library, name)

/* Dispatches of sources with these functions are seen from now on, if they are in writable memory.
 * `word`: what such sources are called. */
void weft__glib_watch(const GSourceFuncs *functions, const char *word);

#endif
