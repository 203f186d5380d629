/* SPDX-License-Identifier: ISC
 *
 * Which library a call comes from, by its return address. Calls from inside of libuv or GLib are
 * left to these libraries' own adapters, if those record.
 *
 * _dl_find_object takes no lock. A program waits at few addresses, so each thread keeps the library
 * of the last one.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "io/loop.h"

enum library {
	OTHER,
	LIBUV,
	GLIB
};

static bool has_name(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	return strncmp(slash ? slash + 1 : path, name, strlen(name)) == 0;
}

static enum library find_library(const void *caller)
{
	struct dl_find_object found;
	if (_dl_find_object((void *)caller, &found) != 0 || !found.dlfo_link_map)
		return OTHER;
	const char *path = found.dlfo_link_map->l_name;
	return has_name(path, "libuv.so")                                            ? LIBUV
		   : has_name(path, "libglib-2.0.so") || has_name(path, "libgio-2.0.so") ? GLIB
																				 : OTHER;
}

static enum library library_of(const void *caller)
{
	static __thread const void *last_caller __attribute__((tls_model("initial-exec")));
	static __thread enum library last_library __attribute__((tls_model("initial-exec")));
	if (unlikely(caller != last_caller)) {
		last_library = find_library(caller);
		last_caller = caller;
	}
	return last_library;
}

bool weft__io_is_programs(const void *caller)
{
	enum library library = library_of(caller);
	if (library == LIBUV)
		return !weft_category_enabled(uv, WEFT_LEVEL_INFO);
	return library != GLIB || !weft_category_enabled(glib, WEFT_LEVEL_INFO);
}

/* Inside of the loops that GLib's adapter sees, no other hook records. Elsewhere GLib waits in
 * threads of its own, and for processes. */
bool weft__io_is_wait(const void *caller, bool may_sleep)
{
	return weft__io_is_programs(caller) || (may_sleep && library_of(caller) == GLIB);
}
