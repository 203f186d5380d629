/* SPDX-License-Identifier: ISC
 *
 * Compressed files.
 */
#ifndef WEFT_SOURCE_EXPAND_H
#define WEFT_SOURCE_EXPAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Do the bytes begin like a compressed file? */
bool weft__is_compressed(const void *bytes, size_t size);

/* What they hold, in a file that nobody else sees. A file that is cut short or damaged holds what
 * comes before that. 0 and a descriptor, or an error of the library: WEFT_ERROR_SIZE if they hold
 * more than `max_bytes`. */
int weft__expand(const void *bytes, size_t size, uint64_t max_bytes, int *ret_fd);

#endif
