/* SPDX-License-Identifier: ISC
 *
 * Names for the locks and conditions of libraries that wait for futexes: a hook of the library's
 * function stores here which code has called it, before the library asks the kernel.
 */
#ifndef WEFT_ADAPTERS_THREAD_FUTEX_H
#define WEFT_ADAPTERS_THREAD_FUTEX_H

#include <stdint.h>

/* Set by the library's hooks around its functions, because the code that asks the kernel is in the
 * library, and its address is the same for all locks. */
struct weft__thread_futex_name {
	const void *caller;    /* the code that called the library; NULL: no hook has set it */
	const void *condition; /* the futex of a condition, or NULL; any other futex is a lock's */
};

extern __thread struct weft__thread_futex_name weft__thread_futex_name
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
