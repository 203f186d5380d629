/* SPDX-License-Identifier: ISC
 *
 * Unpacks compressed files.
 */
#ifndef WEFT_SOURCE_EXPAND_H
#define WEFT_SOURCE_EXPAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT__COMPRESSED_MAGIC_BYTES 4

/* True if the bytes begin like a compressed file. */
bool weft__source_is_compressed(const void *bytes, size_t size);

/* Unpacks the bytes into a nameless file. If they are truncated or damaged, the content before the
 * damage is kept. 0 and a descriptor, or an error of the library: WEFT_ERROR_SIZE if the content
 * exceeds `max_bytes`. */
int weft__source_expand(const void *bytes, size_t size, uint64_t max_bytes, int *ret_fd);

/* ---- A file that grows: by zstd only ---- */

bool weft__source_is_zstd(const void *bytes, size_t size);

struct weft__expansion;

int weft__source_expansion_create(struct weft__expansion **ret_expansion);
void weft__source_expansion_destroy(struct weft__expansion *expansion);

/* The next bytes of the file, borrowed until weft__source_expansion_next() answers WEFT_AGAIN. */
void weft__source_expansion_feed(struct weft__expansion *expansion, const void *bytes, size_t size);

/* WEFT_OK and unpacked bytes, valid until the next call; WEFT_AGAIN if it takes more of the file;
 * WEFT_ERROR_DAMAGED; or WEFT_ERROR_SIZE beyond the limit of weft_source_open(). */
int weft__source_expansion_next(
	struct weft__expansion *expansion, const void **ret_bytes, size_t *ret_size);

#endif
