/* SPDX-License-Identifier: ISC
 *
 * Which entries of a large table are in use: a bit each. A rundown looks at these alone, so that it
 * does not pull the whole table through the processor's cache.
 */
#ifndef WEFT_ADAPTERS_HOOKS_USED_H
#define WEFT_ADAPTERS_HOOKS_USED_H

#include <stddef.h>
#include <stdint.h>

/* The words for a table of `size` entries, a multiple of 64. */
#define WEFT__HOOKS_USED(size) ((size) / 64)

/* Call it when the entry has been filled: a rundown that clears the bit meanwhile sees the entry.
 */
static inline void weft__hooks_use(uint64_t *used, size_t index)
{
	__atomic_fetch_or(&used[index / 64], UINT64_C(1) << index % 64, __ATOMIC_SEQ_CST);
}

/* Call it before looking whether the entry is still filled. */
static inline void weft__hooks_unuse(uint64_t *used, size_t index)
{
	__atomic_fetch_and(&used[index / 64], ~(UINT64_C(1) << index % 64), __ATOMIC_SEQ_CST);
}

/* The first entry in use from `index` on; `size` if there is none. */
static inline size_t weft__hooks_next_used(const uint64_t *used, size_t size, size_t index)
{
	while (index < size) {
		uint64_t bits = __atomic_load_n(&used[index / 64], __ATOMIC_SEQ_CST) >> index % 64;
		if (bits)
			return index + (size_t)__builtin_ctzll(bits);
		index = (index / 64 + 1) * 64;
	}
	return size;
}

#endif
