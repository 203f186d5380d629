/* SPDX-License-Identifier: ISC
 *
 * Compression by libzstd, if weft was built with it.
 */
#ifndef WEFT_RUNS_COMPRESS_H
#define WEFT_RUNS_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

struct weft__compressor;

bool weft__runs_compressor_is_there(void);

/* NULL if memory is short. */
struct weft__compressor *weft__runs_compressor_create(void);
void weft__runs_compressor_destroy(struct weft__compressor *compressor);

/* Compresses the bytes and flushes them, so that a reader can decompress all of them at once;
 * `last` ends the frame. The result is valid until the next call. False if memory is short. */
bool weft__runs_compressor_add(struct weft__compressor *compressor, const void *bytes, size_t size,
	bool last, const char **ret_bytes, size_t *ret_size);

#endif
