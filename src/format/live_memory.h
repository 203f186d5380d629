/* SPDX-License-Identifier: ISC
 *
 * Memory that another process may be writing, perhaps a hostile one. A value that is loaded twice
 * may differ between a check and its use. So each word is loaded once, by an atomic load, which a
 * compiler neither repeats nor splits; checks and uses are of the loaded value.
 */
#ifndef WEFT_FORMAT_LIVE_MEMORY_H
#define WEFT_FORMAT_LIVE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Both pointers are aligned to 8 bytes, and the size is a multiple of 8. The writer stores whole
 * words, so no copied word is torn. */
static inline void weft__format_live_copy_words(uint8_t *to, const uint8_t *from, size_t size)
{
	for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
		uint64_t word =
			__atomic_load_n((const uint64_t *)(const void *)(from + i), __ATOMIC_RELAXED);
		memcpy(to + i, &word, sizeof(word));
	}
}

/* Copies bytes of any alignment and size. The fence keeps the compiler from reloading `from` where
 * the caller uses `to`. */
static inline void weft__format_live_copy(void *to, const void *from, size_t size)
{
	size_t words = (uintptr_t)from % sizeof(uint64_t) ? 0 : size - size % sizeof(uint64_t);
	weft__format_live_copy_words(to, from, words);
	memcpy((uint8_t *)to + words, (const uint8_t *)from + words, size - words);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

#endif
