/* SPDX-License-Identifier: ISC
 *
 * Finds rings by their magic, at each address where a ring may begin: the recorder asks for an
 * alignment of 64 bytes. Each byte of a file is looked at once, however many segments name it. Of a
 * process, only pages that it has in memory are looked at, so that none is read from a disk and no
 * memory is used for others.
 */
#include "runs/memory/image.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/buffer_abi.h"
#include "base/little_endian.h"

#define ALIGNMENT     64
#define BLOCK_BYTES   ((size_t)1 << 20)
#define PAGES_AT_ONCE 4096

struct search {
	const struct weft__runs_image *memory;
	struct weft__runs_image_ring *rings;
	size_t count;
	uint64_t magic;
};

/* ---- One ring ---- */

#define AT(field) offsetof(struct weft_abi_buffer, field)

/* True if the sizes can be those of a ring; what is wrong beside them is for the decoder. */
static bool is_header(const uint8_t *header)
{
	uint64_t bytes = weft__load_u64(header + AT(buffer_bytes));
	uint64_t offset = weft__load_u64(header + AT(packets_offset));
	uint32_t packet = weft__load_u32(header + AT(packet_bytes));
	uint64_t count = weft__load_u32(header + AT(packet_count));
	return memcmp(header, WEFT_ABI_MAGIC, sizeof(WEFT_ABI_MAGIC) - 1) == 0 &&
		   weft__load_u32(header + AT(header_bytes)) == sizeof(struct weft_abi_buffer) &&
		   bytes >= WEFT_ABI_BUFFER_MIN_BYTES && offset >= sizeof(struct weft_abi_buffer) &&
		   offset < bytes && packet >= WEFT_ABI_PACKET_MIN_BYTES &&
		   packet <= WEFT_ABI_PACKET_MAX_BYTES && (packet & (packet - 1)) == 0 && count &&
		   count <= (bytes - offset) / packet && !weft__load_u32(header + AT(stream));
}

/* Tables that were added at the end lie behind the packets. */
static uint64_t size_of(const uint8_t *header)
{
	uint64_t bytes = weft__load_u64(header + AT(buffer_bytes));
	uint64_t offset = weft__load_u64(header + AT(added_offset));
	uint64_t added = weft__load_u64(header + AT(added_bytes));
	return added && offset == bytes && added <= UINT64_MAX - bytes ? bytes + added : bytes;
}

bool weft__runs_image_has_ring(
	const struct weft__runs_image *memory, uint64_t address, struct weft__runs_image_ring *ret_ring)
{
	uint8_t header[sizeof(struct weft_abi_buffer)];
	if (address % ALIGNMENT || !weft__runs_image_read(memory, address, header, sizeof(header)) ||
		!is_header(header))
		return false;
	*ret_ring = (struct weft__runs_image_ring){
		.address = address,
		.size = weft__runs_image_extent(memory, address, size_of(header)),
		.pid = weft__load_u32(header + AT(pid)),
	};
	memcpy(ret_ring->program, header + AT(program), sizeof(ret_ring->program) - 1);
	return true;
}

/* ---- All ---- */

/* Looks at bytes that are at the address. */
static void look(struct search *search, const uint8_t *bytes, size_t size, uint64_t address)
{
	size_t at = (size_t)(-address % ALIGNMENT);
	for (; at + sizeof(search->magic) <= size; at += ALIGNMENT) {
		uint64_t word;
		memcpy(&word, bytes + at, sizeof(word));
		if (word == search->magic && search->count < WEFT__RUNS_IMAGE_RINGS &&
			weft__runs_image_has_ring(search->memory, address + at, &search->rings[search->count]))
			search->count++;
	}
}

static int by_offset(const void *left, const void *right)
{
	const struct weft__runs_image_part *l = left, *r = right;
	if (l->offset != r->offset)
		return l->offset < r->offset ? -1 : 1;
	return (l->address > r->address) - (l->address < r->address);
}

static void search_file(struct search *search)
{
	const struct weft__runs_image *memory = search->memory;
	struct weft__runs_image_part *parts = malloc(memory->count * sizeof(*parts) + 1);
	uint64_t done = 0;
	if (!parts)
		return;
	if (memory->count)
		memcpy(parts, memory->parts, memory->count * sizeof(*parts));
	qsort(parts, memory->count, sizeof(*parts), by_offset);
	for (size_t i = 0; i < memory->count; i++) {
		const struct weft__runs_image_part *part = &parts[i];
		uint64_t from = part->offset > done ? part->offset : done;
		uint64_t end = part->offset + part->size;
		if (end <= from)
			continue;
		look(search, memory->bytes + from, (size_t)(end - from),
			part->address + (from - part->offset));
		done = end;
	}
	free(parts);
}

/* ---- A process ---- */

#define PAGE_IS_KNOWN ((uint64_t)3 << 62) /* it is in memory, or swapped out */

/* Which pages from the address on the process has: their number, 0 at an error. */
static size_t read_pages(const struct weft__runs_image *memory, uint64_t address, uint64_t end,
	uint64_t page, uint64_t entries[PAGES_AT_ONCE])
{
	uint64_t pages = (end - address) / page;
	size_t want = (size_t)(pages < PAGES_AT_ONCE ? pages : PAGES_AT_ONCE);
	if (memory->pages < 0) { /* not known, so all are looked at */
		memset(entries, 0xff, want * sizeof(*entries));
		return want;
	}
	ssize_t got = pread(memory->pages, entries, want * sizeof(*entries),
		(off_t)(address / page * sizeof(*entries)));
	return got > 0 ? (size_t)got / sizeof(*entries) : 0;
}

static void look_at_pages(struct search *search, uint8_t *block, uint64_t address, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes; at += BLOCK_BYTES) {
		size_t size = bytes - at < BLOCK_BYTES ? (size_t)(bytes - at) : BLOCK_BYTES;
		if (weft__runs_image_read(search->memory, address + at, block, size))
			look(search, block, size, address + at);
	}
}

static void search_mapping(struct search *search, uint8_t *block, uint64_t *entries,
	const struct weft__runs_image_part *part)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = part->address + part->size;
	for (uint64_t at = part->address; at < end;) {
		size_t count = read_pages(search->memory, at, end, page, entries);
		if (!count)
			return;
		for (size_t i = 0; i < count;) {
			size_t first = i;
			while (i < count && (entries[i] & PAGE_IS_KNOWN))
				i++;
			look_at_pages(search, block, at + first * page, (i - first) * page);
			i += i < count;
		}
		at += count * page;
	}
}

static void search_process(struct search *search)
{
	uint8_t *block = malloc(BLOCK_BYTES);
	uint64_t *entries = malloc(PAGES_AT_ONCE * sizeof(*entries));
	for (size_t i = 0; block && entries && i < search->memory->count; i++)
		search_mapping(search, block, entries, &search->memory->parts[i]);
	free(block);
	free(entries);
}

size_t weft__runs_image_search(const struct weft__runs_image *memory,
	struct weft__runs_image_ring ret_rings[WEFT__RUNS_IMAGE_RINGS])
{
	struct search search = {.memory = memory, .rings = ret_rings};
	memcpy(&search.magic, WEFT_ABI_MAGIC, sizeof(search.magic));
	if (memory->source)
		search_file(&search);
	else
		search_process(&search);
	return search.count;
}
