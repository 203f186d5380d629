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

static uint32_t *index_of_names(struct weft_abi_buffer *header)
{
	return (uint32_t *)(void *)((unsigned char *)header + header->names_offset);
}

static unsigned char *entry_of(struct weft_abi_buffer *header, uint16_t id)
{
	return (unsigned char *)header + header->names_offset + header->names_index * 4 +
		   (uint32_t)(id - 1) * WEFT_ABI_NAME_UNIT;
}

static uint32_t hash_of(const char *bytes, uint32_t size)
{
	uint32_t hash = 2166136261u; /* FNV-1a, then mixed: its low bits index the table */
	for (uint32_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
	hash ^= hash >> 15;
	hash *= 0x85ebca6bu;
	return hash ^ hash >> 13;
}

static uint64_t word_at(const char *bytes, uint32_t size, uint32_t at)
{
	uint64_t word = 0;
	memcpy(&word, bytes + at, size - at < 8 ? size - at : 8);
	return word;
}

static bool is_same(
	struct weft_abi_buffer *header, uint16_t id, uint32_t hash, const char *bytes, uint32_t size)
{
	const unsigned char *entry = entry_of(header, id);
	const uint64_t *words = (const uint64_t *)(const void *)entry;
	if (weft__load(&words[0]) != ((uint64_t)size << 32 | hash))
		return false;
	for (uint32_t at = 0; at < size; at += 8)
		if (weft__load(&words[1 + at / 8]) != word_at(bytes, size, at))
			return false;
	return true;
}

/* Allocates space for an entry; its id, or 0. */
static uint16_t allocate(struct weft_abi_buffer *header, uint32_t size)
{
	uint32_t room = header->names_bytes - header->names_index * 4;
	uint32_t bytes = (uint32_t)sizeof(struct weft_abi_name) + size;
	bytes = (bytes + WEFT_ABI_NAME_UNIT - 1) & ~(WEFT_ABI_NAME_UNIT - 1);
	for (;;) {
		uint32_t used = weft__load(&header->names_used);
		if (bytes > room - used)
			return 0;
		if (weft__compare_exchange(&header->names_used, used, used + bytes))
			return (uint16_t)(used / WEFT_ABI_NAME_UNIT + 1);
	}
}

static uint16_t write_entry(
	struct weft_abi_buffer *header, uint32_t hash, const char *bytes, uint32_t size)
{
	uint16_t id = allocate(header, size);
	if (!id)
		return 0;
	uint64_t *words = (uint64_t *)(void *)entry_of(header, id);
	weft__store(&words[0], (uint64_t)size << 32 | hash);
	for (uint32_t at = 0; at < size; at += 8)
		weft__store(&words[1 + at / 8], word_at(bytes, size, at));
	return id;
}

uint16_t weft__name_find_or_add(struct weft_abi_buffer *header, const char *bytes, uint32_t size)
{
	if (size > WEFT_ABI_NAME_MAX_BYTES)
		return 0;
	uint32_t mask = header->names_index - 1;
	uint32_t hash = hash_of(bytes, size);
	uint32_t *index = index_of_names(header);
	uint16_t written = 0;
	for (uint32_t probe = 0; probe < PROBES_MAX; probe++) {
		uint32_t *bucket = &index[(hash + probe) & mask];
		uint32_t known = weft__load_acquire(bucket);
		if (known == 0) {
			if (!written)
				written = write_entry(header, hash, bytes, size);
			if (!written)
				return 0;
			/* Release: a thread that finds the id also sees the entry. */
			if (weft__compare_exchange(bucket, 0, (hash & 0xffff0000u) | written))
				return written;
			known = weft__load_acquire(bucket);
		}
		if ((known ^ hash) >> 16 == 0 && is_same(header, (uint16_t)known, hash, bytes, size))
			return (uint16_t)known;
	}
	return 0;
}

const char *weft__name_bytes(const struct weft_abi_buffer *header, uint16_t id, uint32_t *ret_size)
{
	uint64_t at = (uint64_t)header->names_index * 4 + (uint64_t)(id - 1) * WEFT_ABI_NAME_UNIT;
	uint64_t text = at + sizeof(struct weft_abi_name);
	const unsigned char *names = (const unsigned char *)header + header->names_offset;
	*ret_size = 0;
	if (id == 0 || text > header->names_bytes)
		return "";
	uint32_t size = (uint32_t)(weft__load((const uint64_t *)(const void *)(names + at)) >> 32);
	if (size > WEFT_ABI_NAME_MAX_BYTES || size > header->names_bytes - text)
		return "";
	*ret_size = size;
	return (const char *)names + text;
}

WEFT__COLD uint16_t weft__name_intern(
	const struct weft_abi_slot *slot, const char *bytes, uint32_t size)
{
	struct weft_abi_buffer *header = weft__header_of(slot);
	uint16_t id = weft__name_find_or_add(header, bytes, size);
	if (!id)
		weft__fetch_add(&header->losses[WEFT_ABI_LOSS_NAMES_FULL], 1);
	return id;
}

WEFT__COLD uint16_t weft__name_intern_text(
	const struct weft_abi_slot *slot, const char *text, uint32_t most)
{
	text = text ? text : "";
	uint32_t size = weft__measure_name(text, most);
	/* A text that is too long for a name is not counted. */
	return size <= WEFT_ABI_NAME_MAX_BYTES ? weft__name_intern(slot, text, size) : 0;
}
