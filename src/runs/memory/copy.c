/* SPDX-License-Identifier: ISC
 *
 * Copies a ring out of memory. A process may record into it meanwhile, and its memory cannot be
 * mapped: so the protocol of src/format/weft/copy.c is followed here by reads, each of which is
 * done when the next one begins. Packets that were claimed after the copying began are left out,
 * so that a thread's events end at some time. A packet whose claimer is slow may outlive newer
 * ones: then those before it are missing in between, as in the ring itself.
 */
#include "runs/memory/image.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "format/weft/tables.h"

#define BLOCK_BYTES 65536
#define TRIES       1000 /* the sequence changes once per turn of the ring */

/* A ring that may change, and the copy that is made of it. */
struct copying {
	const struct weft__runs_image *memory;
	uint64_t address;
	uint8_t *copy;
	uint64_t size;
	struct weft__buffer buffer; /* of the copy */
	uint64_t last;              /* the sequence of the last claim before the copying began */
};

static bool fetch(const struct copying *c, uint64_t offset, void *to, size_t size)
{
	return weft__runs_image_read(c->memory, c->address + offset, to, size);
}

static bool fetch_word(const struct copying *c, uint64_t offset, uint64_t *ret_word)
{
	return fetch(c, offset, ret_word, sizeof(*ret_word));
}

static bool is_opening(uint64_t state)
{
	return (state & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_OPENING;
}

/* ---- Packets ---- */

#define AT(field) offsetof(struct weft_abi_packet, field)

/* Fetches a packet's header. `state` and `committed` are as they were before the rest. False: the
 * memory has gone. */
static bool fetch_header(const struct copying *c, uint64_t packet, struct weft_abi_packet *header)
{
	uint64_t state, after;
	uint32_t committed;
	for (int i = 0; i < TRIES; i++) {
		if (!fetch_word(c, packet, &state) ||
			!fetch(c, packet + AT(committed), &committed, sizeof(committed)) ||
			!fetch(c, packet, header, sizeof(*header)) || !fetch_word(c, packet, &after))
			return false;
		header->state = state;
		header->committed = committed;
		if (after >> 2 == state >> 2 && is_opening(after) == is_opening(state))
			break;
	}
	return true;
}

/* Writes that the old content is gone, and the new one is not there yet. */
static bool leave_out(const struct copying *c, uint64_t packet)
{
	struct weft_abi_packet now;
	if (!fetch_header(c, packet, &now))
		return false;
	const struct weft_abi_packet gone = {
		.state = WEFT_ABI_PACKET_OPENING,
		.written = is_opening(now.state) ? now.written : now.before,
	};
	memset(c->copy + packet, 0, c->buffer.packet_bytes);
	memcpy(c->copy + packet, &gone, sizeof(gone));
	return true;
}

/* False: the memory has gone. */
static bool copy_packet(const struct copying *c, uint32_t index)
{
	const uint64_t packet = c->buffer.packets_offset + (uint64_t)index * c->buffer.packet_bytes;
	struct weft_abi_packet header;
	uint64_t after;
	if (!fetch_header(c, packet, &header))
		return false;
	if (header.state == 0)
		return true;
	if (is_opening(header.state) || header.state >> 2 > c->last)
		return leave_out(c, packet);
	memcpy(c->copy + packet, &header, sizeof(header));
	if (header.committed > sizeof(header) && header.committed % 8 == 0 &&
		header.committed <= c->buffer.packet_bytes &&
		!fetch(c, packet + sizeof(header), c->copy + packet + sizeof(header),
			header.committed - sizeof(header)))
		return false;
	if (!fetch_word(c, packet, &after))
		return false;
	return (after >> 2 == header.state >> 2 && !is_opening(after)) || leave_out(c, packet);
}

#undef AT
#define AT(field) offsetof(struct weft_abi_buffer, field)

/* The newest first: fetching is slower than writing, and the oldest would be overwritten one after
 * the other just before they are fetched. */
static bool copy_packets(struct copying *c)
{
	const uint32_t count = c->buffer.packet_count;
	bool good = fetch_word(c, AT(hand), &c->last);
	for (uint32_t i = 1; i <= count && good; i++)
		good = copy_packet(c, (uint32_t)((c->last % count + count - i) % count));
	return good;
}

/* ---- The rest ---- */

/* Fetches all that precedes the packets. Where the parts are is taken from the checked header. */
static bool fetch_front(const struct copying *c)
{
	const uint32_t whole = 0;
	const uint64_t front = c->buffer.packets_offset, header = sizeof(struct weft_abi_buffer);
	if (!fetch(c, 0, c->copy, header) || !fetch(c, header, c->copy + header, front - header))
		return false;
	memcpy(c->copy, c->buffer.header, AT(uuid));
	memcpy(c->copy + AT(stream), &whole, sizeof(whole));
	return true;
}

/* Names and losses only grow: fetched after the packets, they cover all events. A table's rows are
 * fetched after its count, which says that they are complete. */
static bool copy_front(const struct copying *c)
{
	struct weft__live_table tables[WEFT_ABI_TABLES_MAX];
	uint32_t rows[WEFT_ABI_TABLES_MAX];
	if (!fetch_front(c))
		return false;
	const uint32_t count = weft__format_tables_find(&c->buffer, tables);
	for (uint32_t i = 0; i < count; i++)
		rows[i] = weft__format_table_count(&tables[i]);
	if (!fetch_front(c))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (tables[i].count)
			memcpy(c->copy + (tables[i].count - c->copy), &rows[i], sizeof(rows[i]));
	return true;
}

static bool copy_added(const struct copying *c)
{
	const uint64_t end =
		c->buffer.packets_offset + (uint64_t)c->buffer.packet_count * c->buffer.packet_bytes;
	return fetch(c, end, c->copy + end, (size_t)(c->size - end));
}

static int copy_all(struct copying *c)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {.format = "weft"};
	const struct weft__input input = {.bytes = c->copy,
		.size = (size_t)c->size,
		.diagnostics = &diagnostics,
		.description = &description};
	if (!fetch(c, 0, c->copy, sizeof(struct weft_abi_buffer)))
		return WEFT_ERROR_STATE;
	int error = weft__format_buffer_find_parts(&c->buffer, &input);
	if (error)
		return error;
	return copy_packets(c) && copy_added(c) && copy_front(c) ? 0 : WEFT_ERROR_STATE;
}

static int copy_live(
	const struct weft__runs_image *memory, const struct weft__runs_image_ring *ring, int file)
{
	struct copying c = {.memory = memory, .address = ring->address, .size = ring->size};
	void *copy =
		mmap(NULL, (size_t)ring->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
	if (copy == MAP_FAILED)
		return WEFT_ERROR_SYSTEM;
	c.copy = copy;
	int error = copy_all(&c);
	munmap(copy, (size_t)ring->size);
	return error;
}

/* Zeros stay a hole of the file. */
static bool write_block(int file, const uint8_t *block, size_t size, uint64_t offset)
{
	if (!block[0] && memcmp(block, block + 1, size - 1) == 0)
		return true;
	while (size) {
		ssize_t written = pwrite(file, block, size, (off_t)offset);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		block += written;
		offset += (uint64_t)written;
		size -= (size_t)written;
	}
	return true;
}

static int copy_still(
	const struct weft__runs_image *memory, const struct weft__runs_image_ring *ring, int file)
{
	uint8_t block[BLOCK_BYTES];
	for (uint64_t at = 0; at < ring->size; at += BLOCK_BYTES) {
		uint64_t left = ring->size - at;
		size_t size = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
		if (!weft__runs_image_read(memory, ring->address + at, block, size))
			return WEFT_ERROR_STATE;
		if (!write_block(file, block, size, at))
			return WEFT_ERROR_SYSTEM;
	}
	return 0;
}

int weft__runs_image_copy(
	const struct weft__runs_image *memory, const struct weft__runs_image_ring *ring, int file)
{
	if (ftruncate(file, (off_t)ring->size) != 0)
		return WEFT_ERROR_SYSTEM;
	return memory->source ? copy_still(memory, ring, file) : copy_live(memory, ring, file);
}
