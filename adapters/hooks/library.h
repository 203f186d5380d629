/* SPDX-License-Identifier: ISC
 *
 * Finds a library that is not libc, and tells calls from it from calls of the program.
 *
 * Usually the program is linked to the library, and the dynamic linker has it after this one. A
 * plugin may have brought it in without making it visible to others, or contain a copy of its own.
 * The plugin's calls reach the hooks nevertheless, and must go on to that copy.
 */
#ifndef WEFT_ADAPTERS_LIBRARY_H
#define WEFT_ADAPTERS_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "hooks/hooks.h"

struct weft__hooks_library {
	const char *file;      /* as it is linked to: "libuv.so.1" */
	uintptr_t begin, size; /* where its code is; 0: unknown, or it is a part of another file */
};

/* The function of that name, in the library or where the code at `caller` finds it. Stores it in
 * `*cache`. Ends the process if there is none: the caller could not have been linked. */
void *weft__hooks_library_find(
	struct weft__hooks_library *library, void **cache, const char *name, const void *caller);

/* Finds where the library's code is, if it is loaded: by the address of any of its functions. */
void weft__hooks_library_locate(struct weft__hooks_library *library, const void *function);

/* True if the code at `caller` belongs to the library. */
static inline bool weft__hooks_library_has(
	const struct weft__hooks_library *library, const void *caller)
{
	return (uintptr_t)caller - library->begin < library->size;
}

/* In a hook: the function that it stands in front of. */
#define LIBRARY_NEXT(library, name)                                             \
	((__typeof__(name) *)__extension__({                                        \
		static void *hooks__found;                                              \
		void *hooks__it = __atomic_load_n(&hooks__found, __ATOMIC_RELAXED);     \
		if (unlikely(!hooks__it))                                               \
			hooks__it = weft__hooks_library_find(                               \
				&(library), &hooks__found, #name, __builtin_return_address(0)); \
		hooks__it;                                                              \
	}))

#endif
