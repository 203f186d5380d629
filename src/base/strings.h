/* SPDX-License-Identifier: ISC
 *
 * A table of interned strings: equal bytes have one number; numbers are dense and never change.
 */
#ifndef WEFT_BASE_STRINGS_H
#define WEFT_BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "base/shared.h"

struct weft__strings {
	char *bytes; /* all strings, each with a NUL */
	size_t size, capacity;
	size_t *start; /* offset of string n in `bytes`; start[count] is the end of the last one */
	size_t start_capacity;
	uint32_t count;
	struct weft__index index;
	struct weft__shared *shared_bytes, *shared_start; /* if views read them */
};

int weft__strings_init(struct weft__strings *strings);
void weft__strings_finish(struct weft__strings *strings);
/* Makes a table of the strings so far that shares their memory; it is only for reading, on any
 * thread. 0, or WEFT_ERROR_MEMORY; then there is no view to finish. */
int weft__strings_view(struct weft__strings *strings, struct weft__strings *ret_view);

/* Finds the number of these bytes, or adds them. */
int weft__strings_intern(
	struct weft__strings *strings, const char *bytes, size_t size, uint32_t *ret_string);

/* NUL-terminated; valid until the next intern. */
const char *weft__strings_bytes(const struct weft__strings *strings, uint32_t string);
size_t weft__strings_size(const struct weft__strings *strings, uint32_t string);

/* Frees the unused capacity. */
void weft__strings_trim(struct weft__strings *strings);

#endif
