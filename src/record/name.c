/* SPDX-License-Identifier: ISC
 *
 * Interning by content: an open hash table that only grows.
 *
 * An entry is written into space that no other thread has, then its id is published in the index by
 * one compare-and-exchange. A thread that loses that race checks whether the winner has the same
 * text. A signal handler in between is just another competitor: no step waits for another thread.
 */
#include "record/name.h"

#include <string.h>

#include "abi/name_abi.h"
#include "record/compose.h"
#include "record/reserve.h"

/* After this many probes the table counts as full. As the index is at most 3/4 full, that is
 * unlikely before the entries are used up. */
#define PROBES_MAX 128

/* The bytes of an entry, in whole units. */
static uint32_t bytes_of(uint32_t size)
{
	uint32_t bytes = (uint32_t)sizeof(struct weft_abi_name) + size;
	return (bytes + WEFT_ABI_NAME_UNIT - 1) & ~(WEFT_ABI_NAME_UNIT - 1);
}

/* The bytes for entries. */
static uint32_t room_of(const struct weft__region *region)
{
	return region->names_bytes - region->names_index * 4;
}

/* The entry of that id, whose text has that size; NULL if the table cannot have it. */
static unsigned char *entry_of(const struct weft__region *region, uint16_t id, uint32_t size)
{
	uint32_t at = (uint32_t)(id - 1) * WEFT_ABI_NAME_UNIT, room = room_of(region);
	if (id == 0 || at > room || bytes_of(size) > room - at)
		return NULL;
	return region->names + region->names_index * 4 + at;
}

uint32_t weft__record_name_hash(const struct weft__name *name)
{
	uint32_t hash = 2166136261u; /* FNV-1a, then mixed: its low bits index the table */
	for (unsigned i = 0; i < name->count; i++)
		for (uint32_t at = 0; at < name->parts[i].size; at++)
			hash = (hash ^ (unsigned char)name->parts[i].bytes[at]) * 16777619u;
	hash ^= hash >> 15;
	hash *= 0x85ebca6bu;
	return hash ^ hash >> 13;
}

/* The part of a name that is still to be read. */
struct rest {
	const struct weft__name_part *part;
	uint32_t at, parts_left;
};

static struct rest begin_of(const struct weft__name *name)
{
	return (struct rest){name->parts, 0, name->count};
}

/* The next 8 bytes; zeros after the end. */
static uint64_t next_word(struct rest *rest)
{
	uint64_t word = 0;
	uint32_t size = 0;
	while (size < 8 && rest->parts_left) {
		uint32_t left = rest->part->size - rest->at;
		uint32_t taken = left < 8 - size ? left : 8 - size;
		memcpy((char *)&word + size, rest->part->bytes + rest->at, taken);
		size += taken;
		rest->at += taken;
		if (taken == left) {
			rest->part++;
			rest->parts_left--;
			rest->at = 0;
		}
	}
	return word;
}

static bool is_same(
	const struct weft__region *region, uint16_t id, uint32_t hash, const struct weft__name *name)
{
	const unsigned char *entry = entry_of(region, id, name->size);
	const uint64_t *words = (const uint64_t *)(const void *)entry;
	struct rest rest = begin_of(name);
	if (!entry || weft__load(&words[0]) != ((uint64_t)name->size << 32 | hash))
		return false;
	for (uint32_t at = 0; at < name->size; at += 8)
		if (weft__load(&words[1 + at / 8]) != next_word(&rest))
			return false;
	return true;
}

/* Another thread of this process allocates in between at most this often in a row; another process
 * may change the number for ever. */
#define ALLOCATE_TRIES 1000

/* Allocates space for an entry; its id, or 0. */
static uint16_t allocate(const struct weft__region *region, uint32_t size)
{
	uint32_t *names_used = &region->header->names_used;
	uint32_t room = room_of(region), bytes = bytes_of(size);
	for (unsigned i = 0; i < ALLOCATE_TRIES; i++) {
		uint32_t used = weft__load(names_used);
		if (used > room || bytes > room - used)
			return 0;
		if (weft__compare_exchange(names_used, used, used + bytes))
			return (uint16_t)(used / WEFT_ABI_NAME_UNIT + 1);
	}
	return 0;
}

static uint16_t write_entry(
	const struct weft__region *region, uint32_t hash, const struct weft__name *name)
{
	uint16_t id = allocate(region, name->size);
	uint64_t *words = (uint64_t *)(void *)entry_of(region, id, name->size);
	struct rest rest = begin_of(name);
	if (!words)
		return 0;
	weft__store(&words[0], (uint64_t)name->size << 32 | hash);
	for (uint32_t at = 0; at < name->size; at += 8)
		weft__store(&words[1 + at / 8], next_word(&rest));
	return id;
}

uint16_t weft__record_name_find_or_add_parts(
	const struct weft__region *region, const struct weft__name *name)
{
	if (name->size > WEFT_ABI_NAME_MAX_BYTES || !region->names_index)
		return 0;
	uint32_t mask = region->names_index - 1;
	uint32_t hash = weft__record_name_hash(name);
	uint32_t *index = (uint32_t *)(void *)region->names;
	uint16_t written = 0;
	for (uint32_t probe = 0; probe < PROBES_MAX; probe++) {
		uint32_t *bucket = &index[(hash + probe) & mask];
		uint32_t known = weft__load_acquire(bucket);
		if (known == 0) {
			if (!written)
				written = write_entry(region, hash, name);
			if (!written)
				return 0;
			/* Release: a thread that finds the id also sees the entry. */
			if (weft__compare_exchange(bucket, 0, (hash & 0xffff0000u) | written))
				return written;
			known = weft__load_acquire(bucket);
		}
		if ((known ^ hash) >> 16 == 0 && is_same(region, (uint16_t)known, hash, name))
			return (uint16_t)known;
	}
	return 0;
}

uint16_t weft__record_name_find_or_add(
	const struct weft__region *region, const char *bytes, uint32_t size)
{
	const struct weft__name_part part = {bytes, size};
	return weft__record_name_find_or_add_parts(region, &(struct weft__name){&part, 1, size});
}

const char *weft__record_name_bytes(
	const struct weft__region *region, uint16_t id, uint32_t *ret_size)
{
	const unsigned char *entry = entry_of(region, id, 0);
	*ret_size = 0;
	if (!entry)
		return "";
	uint32_t size = (uint32_t)(weft__load((const uint64_t *)(const void *)entry) >> 32);
	if (size > WEFT_ABI_NAME_MAX_BYTES || !entry_of(region, id, size))
		return "";
	*ret_size = size;
	return (const char *)entry + sizeof(struct weft_abi_name);
}

WEFT__COLD uint16_t weft__record_name_intern_parts(
	const struct weft_abi_slot *slot, const struct weft__name *name)
{
	const struct weft__region *region = weft__record_region_of(slot);
	uint16_t id = weft__record_name_find_or_add_parts(region, name);
	if (!id)
		weft__fetch_add(&region->header->losses[WEFT_ABI_LOSS_NAMES_FULL], 1);
	return id;
}

WEFT__COLD uint16_t weft__record_name_intern(
	const struct weft_abi_slot *slot, const char *bytes, uint32_t size)
{
	const struct weft__name_part part = {bytes, size};
	return weft__record_name_intern_parts(slot, &(struct weft__name){&part, 1, size});
}

WEFT__COLD uint16_t weft__record_name_intern_text(
	const struct weft_abi_slot *slot, const char *text, uint32_t most)
{
	text = text ? text : "";
	uint32_t size = weft__record_measure_name(text, most);
	/* A text that is too long for a name is not counted. */
	return size <= WEFT_ABI_NAME_MAX_BYTES ? weft__record_name_intern(slot, text, size) : 0;
}
