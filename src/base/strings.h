/* SPDX-License-Identifier: ISC
 *
 * A table of interned strings: equal strings have one number. Numbers are dense and never change.
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
	struct weft__shared *shared_bytes, *shared_start; /* NULL: no view shares the memory */
};

/* 0 or an error; then there is nothing to finish. */
int weft__strings_init(struct weft__strings *strings);
void weft__strings_finish(struct weft__strings *strings);
/* Makes a read-only table of the strings so far that shares their memory; any thread may read it
 * while strings are added to the original. 0; or WEFT_ERROR_MEMORY, with no view to finish. */
int weft__strings_view(struct weft__strings *strings, struct weft__strings *ret_view);

/* The number of a string; WEFT__INDEX_EMPTY: the table does not have it. */
uint32_t weft__strings_find(const struct weft__strings *strings, const char *bytes, size_t size);

/* Finds the number of a string, or adds the string. 0, WEFT_ERROR_MEMORY or WEFT_ERROR_LIMIT. */
int weft__strings_intern(
	struct weft__strings *strings, const char *bytes, size_t size, uint32_t *ret_string);

/* The bytes of a string, followed by a NUL; valid until the next intern. The size is without that
 * NUL. */
const char *weft__strings_bytes(const struct weft__strings *strings, uint32_t string);
size_t weft__strings_size(const struct weft__strings *strings, uint32_t string);

/* Frees the unused capacity. */
void weft__strings_trim(struct weft__strings *strings);

#endif
