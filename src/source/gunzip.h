/* SPDX-License-Identifier: ISC
 *
 * Unpacks files of gzip, whose format is that of RFC 1952.
 */
#ifndef WEFT_SOURCE_GUNZIP_H
#define WEFT_SOURCE_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the bytes begin like such a file. */
bool weft__source_is_gzip(const void *bytes, size_t size);

/* Unpacks all members into a file; content before damage is kept. 0 or an error of the library:
 * WEFT_ERROR_SIZE if the content exceeds `max_bytes`. */
int weft__source_gunzip(const void *bytes, size_t size, uint64_t max_bytes, int fd);

#endif
