/* SPDX-License-Identifier: ISC
 *
 * Libraries that are loaded with RTLD_DEEPBIND: they find libc's functions before the hooks.
 */
#ifndef WEFT_ADAPTERS_MEND_H
#define WEFT_ADAPTERS_MEND_H

#include <stdbool.h>

#if defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))
#define WEFT__HOOKS_MENDS 1
#endif

/* The objects that were loaded before. */
struct weft__hooks_loaded {
	unsigned long long added; /* objects, ever */
	bool has_rpath;           /* an object besides the program has DT_RPATH */
};

/* Both take the dynamic linker's lock: call them where the program itself asks the dynamic linker
 * for something. */
struct weft__hooks_loaded weft__hooks_look_at_loaded(void);

/* Lets the libraries that were loaded since call the hooks. Records those with which that fails.
 * errno stays. */
void weft__hooks_mend(const struct weft__hooks_loaded *before);

#endif
