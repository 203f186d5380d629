/* SPDX-License-Identifier: ISC
 *
 *     0         4              20         24       26           30
 *     | magic   | uuid         | size     | count  | content    | events … padding |
 *     | u32     | 16 bytes     | u32 bits | u16    | u32 bits   |
 *
 * A damaged size in a header must not hide the packets behind it. Magic and uuid are 20 bytes that
 * occur nowhere else, so each occurrence begins a packet, and ends the one before, whatever size
 * its header states.
 */
#include "format/mirage/packets.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/array.h"
#include "base/little_endian.h"

#define HEADER_BYTES    WEFT__MIRAGE_HEADER_BYTES
#define SIGNATURE_BYTES WEFT__MIRAGE_SIGNATURE_BYTES

static const uint8_t signature[SIGNATURE_BYTES] = {
	0xc1,
	0x1f,
	0xfc,
	0xc1, /* magic */
	0x05,
	0x88,
	0x3b,
	0x8d,
	0x52,
	0x1a,
	0x48,
	0x7b, /* uuid */
	0xb3,
	0x97,
	0x45,
	0x6a,
	0xb1,
	0x50,
	0x68,
	0x0c,
};

size_t weft__format_mirage_packet_find(const uint8_t *bytes, size_t size, size_t from)
{
	while (from < size) {
		const uint8_t *found = memchr(bytes + from, signature[0], size - from);
		if (!found)
			return size;
		from = (size_t)(found - bytes);
		if (size - from < SIGNATURE_BYTES)
			return size;
		if (memcmp(found, signature, SIGNATURE_BYTES) == 0)
			return from;
		from++;
	}
	return size;
}

bool weft__format_mirage_packets_probe(const uint8_t *bytes, size_t size)
{
	return weft__format_mirage_packet_find(bytes, size, 0) < size;
}

/* If one of the two sizes is damaged, the other and the next packet still bound the content. */
size_t weft__format_mirage_packet_measure(const uint8_t *packet, size_t room, uint64_t offset,
	bool is_last, struct weft_diagnostics *diagnostics)
{
	uint32_t size = weft__load_u32(packet + 20) / 8;
	uint32_t content = weft__load_u32(packet + 26) / 8;
	if (size < HEADER_BYTES)
		weft_diagnostics_add(diagnostics, offset, "packet size is less than its header");
	else if (size > room)
		weft_diagnostics_add(diagnostics, offset,
			is_last ? "packet is larger than the rest of the input"
					: "packet overlaps the next one");
	else if (size < room)
		weft_diagnostics_add(diagnostics, offset + size,
			is_last ? "bytes after the last packet" : "bytes between packets");
	if (content < HEADER_BYTES) {
		weft_diagnostics_add(diagnostics, offset, "packet content is less than its header");
		return HEADER_BYTES;
	}
	if (content > size)
		weft_diagnostics_add(diagnostics, offset, "packet content is larger than the packet");
	if (size >= HEADER_BYTES && size < room)
		room = size;
	return content < room ? content : room;
}

bool weft__format_mirage_packet_is_cut(const uint8_t *packet, size_t content)
{
	return weft__load_u32(packet + 26) / 8 > content;
}

uint16_t weft__format_mirage_packet_count(const uint8_t *packet)
{
	return weft__load_u16(packet + 24);
}

static int add_packet(struct weft__mirage_packets *packets, struct weft__mirage_packet packet)
{
	if (packets->count == packets->capacity) {
		size_t capacity = weft__array_next_capacity(packets->capacity, packets->count + 1);
		int error = weft__array_resize(&packets->list, capacity, sizeof(*packets->list));
		if (error)
			return error;
		packets->capacity = capacity;
	}
	packets->list[packets->count++] = packet;
	return 0;
}

static int compare_sequence(const void *a, const void *b)
{
	const struct weft__mirage_packet *left = a, *right = b;
	if (left->sequence != right->sequence)
		return left->sequence < right->sequence ? -1 : 1;
	return left->first < right->first ? -1 : left->first > right->first;
}

/* The count has 16 bits and wraps. It is unwrapped by assuming the shortest step from packet to
 * packet. The step is negative where the ring's end meets its beginning; the packets from there on
 * come first. Exact for rings of up to 32,768 packets (mirage-profile's have 4); in larger ones,
 * the times order the packets. */
static void unwrap(struct weft__mirage_packets *packets, const uint8_t *bytes)
{
	int64_t sequence = 0;
	uint16_t previous = 0;
	for (size_t i = 0; i < packets->count; i++) {
		uint16_t count =
			weft__format_mirage_packet_count(bytes + packets->list[i].first - HEADER_BYTES);
		sequence += (int16_t)(uint16_t)(count - previous);
		previous = count;
		packets->list[i].sequence = sequence;
	}
}

/* The counts of packets without content, a bit each: these are not missing. */
struct counts {
	uint8_t bits[65536 / 8];
};

static bool has_count(const struct counts *counts, uint16_t count)
{
	return counts->bits[count / 8] >> count % 8 & 1;
}

/* Looks for packets without content only in short gaps: a damaged count may make many long ones. */
static void count_missing(struct weft__mirage_packets *packets, const struct counts *counts)
{
	for (size_t i = 1; i < packets->count; i++) {
		int64_t before = packets->list[i - 1].sequence, next = packets->list[i].sequence;
		uint64_t missing = next > before ? (uint64_t)(next - before - 1) : 0;
		for (int64_t k = before + 1; missing && next - before < 64 && k < next; k++)
			missing -= has_count(counts, (uint16_t)k);
		packets->list[i].missing = missing;
	}
}

/* Adds the packet that begins at `start` and lasts until `end` at most. */
static int take_packet(struct weft__mirage_packets *packets, struct counts *counts,
	const uint8_t *bytes, size_t start, size_t end, bool is_last,
	struct weft_diagnostics *diagnostics)
{
	if (end - start < HEADER_BYTES) {
		weft_diagnostics_add(diagnostics, start, "packet header is cut short");
		return 0;
	}
	size_t content =
		weft__format_mirage_packet_measure(bytes + start, end - start, start, is_last, diagnostics);
	const uint16_t count = weft__format_mirage_packet_count(bytes + start);
	const struct weft__mirage_packet packet = {
		.first = start + HEADER_BYTES,
		.limit = start + content,
		.is_cut = weft__format_mirage_packet_is_cut(bytes + start, content),
	};
	if (content > HEADER_BYTES)
		return add_packet(packets, packet);
	counts->bits[count / 8] |= (uint8_t)(1u << count % 8);
	return 0;
}

int weft__format_mirage_packets_find(const uint8_t *bytes, size_t size,
	struct weft_diagnostics *diagnostics, struct weft__mirage_packets *ret_packets)
{
	struct weft__mirage_packets packets = {0};
	struct counts counts = {{0}};
	size_t start = weft__format_mirage_packet_find(bytes, size, 0);
	if (start > 0)
		weft_diagnostics_add(diagnostics, 0, "bytes before the first packet");
	while (start < size) {
		size_t end = weft__format_mirage_packet_find(bytes, size, start + SIGNATURE_BYTES);
		int error = take_packet(&packets, &counts, bytes, start, end, end == size, diagnostics);
		if (error) {
			weft__format_mirage_packets_finish(&packets);
			return error;
		}
		start = end;
	}
	unwrap(&packets, bytes);
	if (packets.count)
		qsort(packets.list, packets.count, sizeof(*packets.list), compare_sequence);
	count_missing(&packets, &counts);
	*ret_packets = packets;
	return 0;
}

void weft__format_mirage_packets_finish(struct weft__mirage_packets *packets)
{
	free(packets->list);
}
