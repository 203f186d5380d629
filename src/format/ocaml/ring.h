/* SPDX-License-Identifier: ISC
 *
 * The file of OCaml 5's runtime events: a ring for each domain, in which the oldest items are
 * overwritten. Little endian, all words of 64 bits:
 *
 *     0          64            headers          data             names
 *     ┌──────────┬─────────────┬────────────────┬────────────────┬──────────────────────┐
 *     │ layout   │ head, tail… │ head, tail…    │ ring 0, ring 1 │ 8192 names of 128 B  │
 *     └──────────┴─────────────┴────────────────┴────────────────┴──────────────────────┘
 *
 *     63        54  53  52      49 48             36 35      0
 *     ┌───────────┬────┬──────────┬────────────────┬─────────┐  the time in ns, and then
 *     │   words   │user│   type   │       id       │    0    │  `words` - 2 of payload
 *     └───────────┴────┴──────────┴────────────────┴─────────┘
 *
 * `head` and `tail` count the words since the ring began; an item does not lie across its end,
 * where an item of type 0 without a time fills the rest. The file may be one that is still written:
 * each word is loaded once.
 */
#ifndef WEFT_FORMAT_OCAML_RING_H
#define WEFT_FORMAT_OCAML_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/event.h>

#define WEFT__OCAML_NAMES      8192
#define WEFT__OCAML_NAME_BYTES 128

struct weft__ocaml_layout {
	uint64_t domains, header_bytes, ring_bytes, ring_words, headers, data, names;
};

/* False if it is no such file. `size` may be less than the layout says. */
bool weft__format_ocaml_layout(
	const uint8_t *bytes, size_t size, struct weft__ocaml_layout *ret_layout);

struct weft__ocaml_ring {
	uint64_t first, at, tail; /* the word that was the first one; the next; the end */
	uint32_t domain;
};

/* Finds the ring of a domain. False if it was never used, or is not in the file. */
bool weft__format_ocaml_ring(const uint8_t *bytes, size_t size,
	const struct weft__ocaml_layout *layout, uint32_t domain, struct weft__ocaml_ring *ret_ring);

enum weft__ocaml_type {
	/* of the runtime */
	WEFT__OCAML_LIFECYCLE = 1,
	WEFT__OCAML_BEGIN = 2,
	WEFT__OCAML_END = 3,
	WEFT__OCAML_COUNTER = 4,
	/* of the program */
	WEFT__OCAML_UNIT = 16,
	WEFT__OCAML_INT,
	WEFT__OCAML_SPAN_BEGIN,
	WEFT__OCAML_SPAN_END,
	WEFT__OCAML_CUSTOM,
};

struct weft__ocaml_item {
	uint64_t time_ns;
	uint64_t offset;         /* in the file */
	struct weft_slice bytes; /* the payload, without padding */
	uint32_t type;           /* enum weft__ocaml_type, or another number */
	uint32_t id;
};

enum weft__ocaml_found {
	WEFT__OCAML_ITEM,
	WEFT__OCAML_NO_MORE,
	WEFT__OCAML_DAMAGED, /* at `offset`; the rest of the ring cannot be read */
};

enum weft__ocaml_found weft__format_ocaml_next(const uint8_t *bytes, size_t size,
	const struct weft__ocaml_layout *layout, struct weft__ocaml_ring *ring,
	struct weft__ocaml_item *ret_item);

/* The name of a kind of event of the program; empty if it has none. */
struct weft_slice weft__format_ocaml_name(
	const uint8_t *bytes, size_t size, const struct weft__ocaml_layout *layout, uint32_t id);

#endif
