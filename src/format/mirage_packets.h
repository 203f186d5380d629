/* SPDX-License-Identifier: ISC
 *
 * The packets of a mirage-profile CTF stream: where they are, in the order they were written.
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

/* Finds them all, counting what is wrong with their headers, and orders them. */
int weft__mirage_packets_find(const uint8_t *bytes, size_t size,
	struct weft_diagnostics *diagnostics, struct weft__mirage_packets *ret_packets);

void weft__mirage_packets_finish(struct weft__mirage_packets *packets);

#endif
