/* SPDX-License-Identifier: ISC
 *
 * Short forms of the symbols of C++ and Rust, for labels. Nothing here allocates, and the adapters
 * have it, too.
 */
#ifndef WEFT_SYMBOLS_DEMANGLE_H
#define WEFT_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* A text in a room of the caller's. No NUL ends it, and what does not fit is left out. */
struct weft__symbols_name {
	char *bytes;
	size_t size, room;
};

void weft__symbols_add(struct weft__symbols_name *name, const char *bytes, size_t size);

/* Appends the short form of a symbol, or the symbol if it has none: "server::accept". */
void weft__symbols_demangle(struct weft__symbols_name *name, const char *symbol);

/* The same for Rust's symbols since 2025 (demangle_rust.c). False, and nothing is appended, if it
 * is none of them. */
bool weft__symbols_demangle_rust(struct weft__symbols_name *name, const char *symbol);

#endif
