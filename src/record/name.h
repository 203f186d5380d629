/* SPDX-License-Identifier: ISC
 *
 * Names: text stored once in the buffer, known by a 16-bit id.
 */
#ifndef WEFT_RECORD_NAME_H
#define WEFT_RECORD_NAME_H

#include <stdint.h>

#include "record/atomics.h"
#include "record/recorder.h"

/* A name in parts, one after the other. Those who join texts need no room for it. */
struct weft__name_part {
	const char *bytes;
	uint32_t size;
};

struct weft__name {
	const struct weft__name_part *parts;
	uint32_t count; /* of parts */
	uint32_t size;  /* of all of them */
};

/* A hash whose low bits may index a table. */
uint32_t weft__record_name_hash(const struct weft__name *name);

/* Returns the id of these bytes in the slot's buffer; 0 if its table is full, which is counted. */
uint16_t weft__record_name_intern(
	const struct weft_abi_slot *slot, const char *bytes, uint32_t size);

uint16_t weft__record_name_intern_parts(
	const struct weft_abi_slot *slot, const struct weft__name *name);

/* The same for a buffer's table, without counting. */
uint16_t weft__record_name_find_or_add(
	const struct weft__region *region, const char *bytes, uint32_t size);
uint16_t weft__record_name_find_or_add_parts(
	const struct weft__region *region, const struct weft__name *name);

/* The bytes of a name; size 0 if there is no such name. */
const char *weft__record_name_bytes(
	const struct weft__region *region, uint16_t id, uint32_t *ret_size);

/* The same for a text, which ends at its first NUL; 0 if it is too long for a name. */
uint16_t weft__record_name_intern_text(
	const struct weft_abi_slot *slot, const char *text, uint32_t size);

/* The id cached at a call site; 0 if there is none, or if it belongs to another buffer. The cache
 * holds the buffer's generation in its upper half, so that a new buffer needs no copy of the table.
 * It is compared with the generation that the thread has entered, since the recorder's may be
 * newer. */
static inline uint16_t weft__record_name_cached(
	const struct weft__self *self, const uint64_t *cache)
{
	uint64_t cached = weft__load(cache);
	bool is_valid = (uint32_t)(cached >> 32) == (uint32_t)weft__record_entered_generation(self);
	return is_valid ? (uint16_t)cached : 0;
}

/* The same after room was reserved: before that, a signal handler may have entered another buffer,
 * and cached the text's id there. */
static inline uint16_t weft__record_name_cached_now(
	const struct weft_abi_slot *slot, const uint64_t *cache)
{
	const struct weft__self *self = weft__record_self();
	weft__signal_fence();
	const struct weft__self now = {weft__load_own(&self->ticket), weft__load_own(&self->slot)};
	uint16_t name = weft__record_name_cached(&now, cache);
	return WEFT__LIKELY(now.slot == slot) ? name : 0;
}

static inline void weft__record_name_remember(
	const struct weft__self *self, uint64_t *cache, uint16_t name)
{
	weft__store(cache, weft__record_entered_generation(self) << 32 | name);
}

/* The id of a literal with its cache; 0 for other text (no cache), and if there is none. */
static inline uint16_t weft__record_name_of(
	const struct weft__self *self, uint64_t *cache, const char *text, uint32_t size)
{
	if (!cache)
		return 0;
	uint16_t name = weft__record_name_cached(self, cache);
	if (WEFT__UNLIKELY(!name)) {
		name = weft__record_name_intern_text(self->slot, text, size);
		weft__record_name_remember(self, cache, name);
	}
	return name;
}

#endif
