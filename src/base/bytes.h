/* SPDX-License-Identifier: ISC
 *
 * A growing array of bytes, in which outputs are put together; numbers are little-endian.
 *
 * A failed allocation is remembered and makes every later put do nothing, so that a writer checks
 * for it only once, at its end.
 */
#ifndef WEFT_BASE_BYTES_H
#define WEFT_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft__bytes {
	uint8_t *data; /* NULL until the first put */
	size_t size, capacity;
	bool failed; /* out of memory: the content is incomplete */
};

void weft__bytes_finish(struct weft__bytes *bytes);

void weft__bytes_put(struct weft__bytes *bytes, const void *data, size_t size);
void weft__bytes_put_u8(struct weft__bytes *bytes, uint8_t value);
void weft__bytes_put_u16(struct weft__bytes *bytes, uint16_t value);
void weft__bytes_put_u32(struct weft__bytes *bytes, uint32_t value);
void weft__bytes_put_u64(struct weft__bytes *bytes, uint64_t value);

/* Formatted text, without a NUL. */
void weft__bytes_print(struct weft__bytes *bytes, const char *format, ...)
	__attribute__((format(printf, 2, 3), nonnull(2)));

#endif
