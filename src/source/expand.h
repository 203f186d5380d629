/* SPDX-License-Identifier: ISC
 *
 * Unpacks compressed files.
 */
#ifndef WEFT_SOURCE_EXPAND_H
#define WEFT_SOURCE_EXPAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the bytes begin like a compressed file. */
bool weft__is_compressed(const void *bytes, size_t size);

/* Unpacks the bytes into a nameless file. If they are truncated or damaged, the content before the
 * damage is kept. 0 and a descriptor, or an error of the library: WEFT_ERROR_SIZE if the content
 * exceeds `max_bytes`. */
int weft__expand(const void *bytes, size_t size, uint64_t max_bytes, int *ret_fd);

#endif
