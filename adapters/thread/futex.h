/* SPDX-License-Identifier: ISC
 *
 * The lock of a library for whose futex the calling thread may wait.
 */
#ifndef WEFT_ADAPTERS_THREAD_FUTEX_H
#define WEFT_ADAPTERS_THREAD_FUTEX_H

#include <stdint.h>

/* Set by hooks of that library around its functions, because its code, which asks the kernel, has
 * no name that tells locks apart. */
struct weft__thread_futex_name {
	const void *caller;    /* of the library; NULL: the lock is named by the code that asks */
	const void *condition; /* the futex of a condition; others are locks; or NULL */
};

extern __thread struct weft__thread_futex_name weft__thread_futex_name
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
