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
	uint64_t first_ns, last_ns; /* of its events, see ctf.c */
	uint64_t missing;           /* packets that are missing between the one before and this one */
	bool is_cut;                /* it had more content: its rest is damaged, or not in the file */
};

struct weft__mirage_packets {
	struct weft__mirage_packet *list; /* only packets with content */
	size_t count;
	size_t capacity;
};

/* True if the bytes contain a packet. */
bool weft__format_mirage_packets_probe(const uint8_t *bytes, size_t size);

/* Finds all packets and orders them; damage of their headers is counted in `diagnostics`. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__format_mirage_packets_find(const uint8_t *bytes, size_t size,
	struct weft_diagnostics *diagnostics, struct weft__mirage_packets *ret_packets);

/* The offset of the first packet at or after `from`, or `size` if there is none. */
size_t weft__format_mirage_packet_find(const uint8_t *bytes, size_t size, size_t from);

/* Bytes of the packet's header; of its signature alone. */
#define WEFT__MIRAGE_HEADER_BYTES    30
#define WEFT__MIRAGE_SIGNATURE_BYTES 20

/* Returns where a packet's content ends, in bytes from the packet's beginning. The packet lies at
 * `offset` in the input and has at most `room` bytes. `is_last`: no packet follows it. */
size_t weft__format_mirage_packet_measure(const uint8_t *packet, size_t room, uint64_t offset,
	bool is_last, struct weft_diagnostics *diagnostics);

/* True if the packet had more content than these bytes. */
bool weft__format_mirage_packet_is_cut(const uint8_t *packet, size_t content);

/* The number of packets written before this one, modulo 65536. */
uint16_t weft__format_mirage_packet_count(const uint8_t *packet);

void weft__format_mirage_packets_finish(struct weft__mirage_packets *packets);

#endif
