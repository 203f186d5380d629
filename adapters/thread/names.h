/* SPDX-License-Identifier: ISC
 *
 * Names of threads.
 */
#ifndef WEFT_ADAPTERS_THREAD_NAMES_H
#define WEFT_ADAPTERS_THREAD_NAMES_H

#include "hooks/hooks.h"

/* The name of the function that a new thread runs, in an empty text. */
void weft__thread_append_name(
	struct weft__hooks_text *text, const void *function, void *const *argument);

#endif
