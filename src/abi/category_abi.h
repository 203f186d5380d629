/* SPDX-License-Identifier: ISC
 *
 * Setting levels: done by the program itself, or by any process that may write its buffer.
 */
#ifndef WEFT_ABI_CATEGORY_H
#define WEFT_ABI_CATEGORY_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/buffer_abi.h"

/* True if the name matches; each * of the pattern stands for any text. */
static inline bool weft__abi_matches(const char *pattern, const char *name, uint32_t size)
{
	const char *star = 0, *end = name + size, *from = 0;
	while (name < end) {
		if (*pattern == '*') {
			star = ++pattern;
			from = name;
		} else if (*pattern && *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* Other processes may note changes at the same time, and may be killed in between: each gets an
 * entry of its own, whose number is stored last. */
static inline void weft__abi_note_change(
	struct weft_abi_buffer *header, uint64_t ticks, uint8_t category, uint8_t level)
{
	uint32_t number = __atomic_fetch_add(&header->changes_count, 1, __ATOMIC_RELAXED);
	struct weft_abi_change *change = &header->changes[number % WEFT_ABI_CHANGES];
	__atomic_store_n(&change->number, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&change->ticks, ticks, __ATOMIC_RELEASE); /* after the 0 */
	__atomic_store_n(&change->category, category, __ATOMIC_RELEASE);
	__atomic_store_n(&change->level, level, __ATOMIC_RELEASE);
	__atomic_store_n(&change->number, number + 1, __ATOMIC_RELEASE);
}

/* The numbers of levels.def that are special in a buffer. */
#define WEFT_ABI_LEVEL_COUNT 6

/* The byte that calls compare with their level. */
static inline uint8_t weft__abi_level_byte(uint8_t level)
{
	return level == WEFT_ABI_LEVEL_COUNT ? 0 : level;
}

static inline void weft__abi_store_level(
	struct weft_abi_buffer *header, unsigned category, uint8_t level)
{
	__atomic_store_n(&header->counting[category], level == WEFT_ABI_LEVEL_COUNT, __ATOMIC_RELAXED);
	__atomic_store_n(&header->levels[category], weft__abi_level_byte(level), __ATOMIC_RELAXED);
}

/* Takes effect from the next event on. */
static inline void weft__abi_set_level(
	struct weft_abi_buffer *header, uint64_t ticks, uint8_t category, uint8_t level)
{
	for (unsigned i = 0; i < WEFT_ABI_LEVELS; i++)
		if (i == category || category == WEFT_ABI_CATEGORY_ALL)
			weft__abi_store_level(header, i, level);
	weft__abi_note_change(header, ticks, category, level);
}

#endif
