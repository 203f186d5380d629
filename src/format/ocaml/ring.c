/* SPDX-License-Identifier: ISC
 *
 * Finds the items in a file of OCaml's runtime events. ring.h draws the file.
 */
#include "format/ocaml/ring.h"

#include <string.h>

#include "base/little_endian.h"

#define LAYOUT_BYTES 64
#define VERSION      1
/* More than OCaml has. */
#define DOMAINS_MAX    65536
#define RING_WORDS_MAX ((uint64_t)1 << 32)
#define HEADER_MAX     4096

bool weft__format_ocaml_layout(
	const uint8_t *bytes, size_t size, struct weft__ocaml_layout *ret_layout)
{
	if (size < LAYOUT_BYTES || weft__load_u64(bytes) != VERSION)
		return false;
	const struct weft__ocaml_layout layout = {
		.domains = weft__load_u64(bytes + 8),
		.header_bytes = weft__load_u64(bytes + 16),
		.ring_bytes = weft__load_u64(bytes + 24),
		.ring_words = weft__load_u64(bytes + 32),
		.headers = weft__load_u64(bytes + 40),
		.data = weft__load_u64(bytes + 48),
		.names = weft__load_u64(bytes + 56),
	};
	if (layout.domains == 0 || layout.domains > DOMAINS_MAX || layout.header_bytes < 16 ||
		layout.header_bytes > HEADER_MAX || layout.ring_words == 0 ||
		layout.ring_words > RING_WORDS_MAX || layout.ring_words & (layout.ring_words - 1))
		return false;
	if (layout.ring_bytes != layout.ring_words * 8 || layout.headers != LAYOUT_BYTES ||
		layout.data != layout.headers + layout.domains * layout.header_bytes ||
		layout.names != layout.data + layout.domains * layout.ring_bytes)
		return false;
	*ret_layout = layout;
	return true;
}

bool weft__format_ocaml_ring(const uint8_t *bytes, size_t size,
	const struct weft__ocaml_layout *layout, uint32_t domain, struct weft__ocaml_ring *ret_ring)
{
	uint64_t header = layout->headers + domain * layout->header_bytes;
	if (header + 16 > size)
		return false;
	uint64_t head = weft__load_u64(bytes + header), tail = weft__load_u64(bytes + header + 8);
	if (tail == 0 || head > tail)
		return false;
	/* A writer moves the head before it overwrites what lies before it. */
	if (tail - head > layout->ring_words)
		head = tail - layout->ring_words;
	*ret_ring = (struct weft__ocaml_ring){head, head, tail, domain};
	return true;
}

/* The last byte of a custom event says how many before it are padding. */
static struct weft_slice custom_bytes(const char *payload, size_t size)
{
	size_t padding = size ? (size_t)(uint8_t)payload[size - 1] + 1 : 0;
	return (struct weft_slice){payload, padding <= size ? size - padding : 0};
}

/* An item at this offset, of so many words, which are in the file. */
static struct weft__ocaml_item read_item(const uint8_t *bytes, uint64_t offset, uint64_t head)
{
	size_t words = head >> 54;
	struct weft__ocaml_item item = {
		.offset = offset,
		.time_ns = words > 1 ? weft__load_u64(bytes + offset + 8) : 0,
		.type = (uint32_t)(head >> 49 & 15) + (head >> 53 & 1 ? WEFT__OCAML_UNIT : 0),
		.id = (uint32_t)(head >> 36 & 8191),
	};
	if (words > 2)
		item.bytes = (struct weft_slice){(const char *)bytes + offset + 16, (words - 2) * 8};
	if (item.type == WEFT__OCAML_CUSTOM)
		item.bytes = custom_bytes(item.bytes.bytes, item.bytes.size);
	return item;
}

enum weft__ocaml_found weft__format_ocaml_next(const uint8_t *bytes, size_t size,
	const struct weft__ocaml_layout *layout, struct weft__ocaml_ring *ring,
	struct weft__ocaml_item *ret_item)
{
	while (ring->at < ring->tail) {
		uint64_t within = ring->at & (layout->ring_words - 1);
		uint64_t offset = layout->data + ring->domain * layout->ring_bytes + within * 8;
		ret_item->offset = offset < size ? offset : size - 1;
		if (offset + 8 > size)
			return WEFT__OCAML_DAMAGED;
		uint64_t head = weft__load_u64(bytes + offset), words = head >> 54;
		if (words == 0 || words > layout->ring_words - within || words > ring->tail - ring->at ||
			offset + words * 8 > size)
			return WEFT__OCAML_DAMAGED;
		ring->at += words;
		*ret_item = read_item(bytes, offset, head);
		if (ret_item->type != 0 && words > 1)
			return WEFT__OCAML_ITEM;
	}
	return WEFT__OCAML_NO_MORE;
}

struct weft_slice weft__format_ocaml_name(
	const uint8_t *bytes, size_t size, const struct weft__ocaml_layout *layout, uint32_t id)
{
	uint64_t at = layout->names + (uint64_t)id * WEFT__OCAML_NAME_BYTES;
	if (id >= WEFT__OCAML_NAMES || at + WEFT__OCAML_NAME_BYTES > size)
		return (struct weft_slice){NULL, 0};
	const char *name = (const char *)bytes + at;
	const char *end = memchr(name, '\0', WEFT__OCAML_NAME_BYTES);
	return (struct weft_slice){name, end ? (size_t)(end - name) : WEFT__OCAML_NAME_BYTES};
}
