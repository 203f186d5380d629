/* SPDX-License-Identifier: ISC
 *
 * Finds the packets of a mirage-profile CTF stream, in the order in which they were written.
 */
#ifndef WEFT_FORMAT_MIRAGE_PACKETS_H
#define WEFT_FORMAT_MIRAGE_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/diagnostic.h>

struct weft__mirage_packet {
	size_t first; /* offset of the first event */
	size_t limit; /* offset after the last */
	int64_t sequence;
};

struct weft__mirage_packets {
	struct weft__mirage_packet *list; /* those with content only */
	size_t count;
	size_t capacity;
};

/* Is there a packet anywhere? */
bool weft__mirage_packets_probe(const uint8_t *bytes, size_t size);

/* Finds all packets and orders them; damage of their headers is counted in `diagnostics`. */
int weft__mirage_packets_find(const uint8_t *bytes, size_t size,
	struct weft_diagnostics *diagnostics, struct weft__mirage_packets *ret_packets);

/* Bytes before the next packet, or `size`; `from` of them are known not to begin one. */
size_t weft__mirage_packet_find(const uint8_t *bytes, size_t size, size_t from);

/* Bytes of the packet's header; of its signature alone. */
#define WEFT__MIRAGE_HEADER_BYTES    30
#define WEFT__MIRAGE_SIGNATURE_BYTES 20

/* The content of a packet of at most `room` bytes, which lies at `offset` in the input: bytes from
 * its start. `is_last`: no packet follows. */
size_t weft__mirage_packet_measure(const uint8_t *packet, size_t room, uint64_t offset,
	bool is_last, struct weft_diagnostics *diagnostics);

/* How many packets were written before this one, modulo 65536. */
uint16_t weft__mirage_packet_count(const uint8_t *packet);

void weft__mirage_packets_finish(struct weft__mirage_packets *packets);

#endif
