/* SPDX-License-Identifier: ISC
 *
 * Compression by libzstd, if weft was built with it.
 */
#ifndef WEFT_APPS_STREAM_COMPRESS_H
#define WEFT_APPS_STREAM_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

struct stream_compressor;

bool stream_can_compress(void);

/* NULL without memory. */
struct stream_compressor *stream_compressor_create(void);
void stream_compressor_destroy(struct stream_compressor *compressor);

/* All of the bytes, such that they can be read back though nothing more comes; with `last`, nothing
 * does. The result stays until the next call. False without memory. */
bool stream_compress(struct stream_compressor *compressor, const void *bytes, size_t size,
	bool last, const char **ret_bytes, size_t *ret_size);

#endif
