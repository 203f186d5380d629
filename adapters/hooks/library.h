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

/* A function of the library that a hook stands in front of. */
struct weft__hooks_library_original {
	struct weft__hooks_library *library;
	const char *name;
	void *found;
	bool may_go; /* found when it was called: the program may unload the library */
};

/* Finds the function, in the library or where the code at `caller` finds it. Ends the process if
 * there is none: the caller could not have been linked. */
void *weft__hooks_library_find(struct weft__hooks_library_original *original, const void *caller);

/* Finds all these functions if the program is linked to the library, which has the function
 * `known`. For a constructor: a signal handler may not search later. */
void weft__hooks_library_begin(struct weft__hooks_library *library, const char *known);

/* The program may have unloaded something: functions of libraries that it has loaded itself are
 * searched again when they are called. */
void weft__hooks_library_unloaded(void);

/* True if the code at `caller` belongs to the library. */
static inline bool weft__hooks_library_has(
	const struct weft__hooks_library *library, const void *caller)
{
	return (uintptr_t)caller - library->begin < library->size;
}

/* In a hook: the function that it stands in front of. All are in one section (see HOOKS_ORIGINAL).
 */
#define LIBRARY_NEXT(library, name)                                                               \
	((__typeof__(name) *)__extension__({                                                          \
		static struct weft__hooks_library_original hooks__original                                \
			__attribute__((used, section("weft_library_originals"), aligned(sizeof(void *)))) = { \
				&(library), #name, NULL, false};                                                  \
		void *hooks__it = __atomic_load_n(&hooks__original.found, __ATOMIC_RELAXED);              \
		if (unlikely(!hooks__it))                                                                 \
			hooks__it = weft__hooks_library_find(&hooks__original, __builtin_return_address(0));  \
		hooks__it;                                                                                \
	}))

#endif
