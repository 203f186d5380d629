/* SPDX-License-Identifier: ISC
 *
 * The texts of a stream that is being written: the table of names, and texts that do not fit into a
 * record.
 */
#ifndef WEFT_EXPORT_CUT_NAMES_H
#define WEFT_EXPORT_CUT_NAMES_H

#include <weft/cut.h>

#include "base/strings.h"

/* Writes the chunks of a stream. */
struct weft__chunks {
	struct weft_cut_sink sink;
	uint64_t bytes;
};

int weft__export_chunks_append(struct weft__chunks *chunks, const void *bytes, size_t size);
/* Writes the head of a chunk with `size` bytes of content. */
int weft__export_chunks_begin(struct weft__chunks *chunks, uint32_t kind, uint64_t at, size_t size);

struct weft__cut_names {
	struct weft__chunks *chunks;
	struct weft__strings strings;
	uint16_t *ids; /* name id of string n; 0: it has none */
	size_t ids_capacity;
	uint8_t *entries;
	size_t entries_capacity;
	uint32_t used, written; /* bytes of entries, in memory and in the file */
	uint64_t texts;
};

int weft__export_cut_names_init(struct weft__cut_names *names, struct weft__chunks *chunks);
void weft__export_cut_names_finish(struct weft__cut_names *names);

/* Finds or adds a name and returns its id; 0 if it is empty, too long, or the table is full. */
int weft__export_cut_name(struct weft__cut_names *names, struct weft_slice text, uint16_t *ret_id);

/* Writes the names that were not written yet; call it before the packets that refer to them. */
int weft__export_cut_names_flush(struct weft__cut_names *names);

/* Writes a text as a chunk of its own; returns its number. */
int weft__export_cut_text(
	struct weft__cut_names *names, struct weft_slice text, uint64_t *ret_number);

#endif
