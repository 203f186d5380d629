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

/* True for the name of a function with which a library begins all of its threads: GLib's and Qt's
 * are not exported, and Rust's is `std::sys::...::thread_start`. */
bool weft__thread_is_generic(const struct weft__hooks_text *name);

#endif
