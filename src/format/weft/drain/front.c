/* SPDX-License-Identifier: ISC
 *
 * The names and headers that come before packets in a stream.
 */
#include <string.h>

#include "abi/name_abi.h"
#include "format/live_memory.h"
#include "format/weft/drain/draining.h"

static uint64_t *name_word(const struct weft__drain *d, uint32_t at)
{
	return (uint64_t *)(void *)(d->names + at);
}

/* Copies the words from `at` on that were filled since the last call, and returns where they end. A
 * recorder fills a word once; a later value comes from a hostile program and is ignored. */
static uint32_t take_new_words(struct weft__drain *d, uint32_t at, uint32_t end)
{
	for (; at < end; at += 8) {
		uint64_t word =
			weft__format_drain_load((const uint64_t *)(const void *)(d->buffer.names + at));
		if (*name_word(d, at) || !word)
			break;
		*name_word(d, at) = word;
	}
	return at;
}

static int add_names_chunk(struct weft__drain *d, uint32_t from, uint32_t end)
{
	const struct weft_abi_chunk chunk = {
		.kind = WEFT_ABI_CHUNK_NAMES, .bytes = end - from, .at = from};
	int error = end > from ? weft__format_piece_reserve(&d->front, sizeof(chunk) + chunk.bytes) : 0;
	if (error || end == from)
		return error;
	memcpy(weft__format_piece_begin_chunk(&d->front, chunk), d->names + from, chunk.bytes);
	weft__format_piece_end_chunk(&d->front, chunk.bytes);
	return 0;
}

/* Changes with at most this gap between them go into one chunk. */
static const uint32_t NAMES_GAP_BYTES = 64;

/* Adds the names that are new in the table. They may be anywhere in it, because entries are filled
 * in any order. A new file gets the whole table. */
static int add_names(struct weft__drain *d)
{
	uint32_t used = __atomic_load_n(&weft__format_drain_header(d)->names_used, __ATOMIC_RELAXED);
	if (used > d->buffer.names_bytes)
		used = (uint32_t)d->buffer.names_bytes;
	used &= ~7u;
	uint32_t from = 0, end = 0; /* of a chunk */
	uint32_t at = 0;
	while (at < used) {
		uint32_t next = take_new_words(d, at, used);
		if (next == at) {
			at += 8;
			continue;
		}
		if (at > end + NAMES_GAP_BYTES) {
			int error = d->begins ? 0 : add_names_chunk(d, from, end);
			if (error)
				return error;
			from = at;
		}
		at = end = next;
	}
	return d->begins ? add_names_chunk(d, 0, used) : add_names_chunk(d, from, end);
}

/* Writes the buffer's header as the header of a stream. */
void weft__format_drain_write_header(struct weft__drain *d, uint8_t *to)
{
	struct weft_abi_buffer header;
	weft__format_live_copy(&header, d->buffer.bytes, sizeof(header));
	memcpy(&header, d->buffer.header, offsetof(struct weft_abi_buffer, uuid));
	if (d->has_guest_facts)
		weft__format_guest_facts_store(&d->guest_facts, &header);
	d->has_new_guest_facts = false;
	header.stream = 1;
	header.piece = d->piece;
	header.series = d->series;
	header.packets_offset = sizeof(header);
	header.packet_bytes = d->buffer.packet_bytes;
	header.packet_count = 0;
	header.names_offset = header.names_bytes = header.names_index = 0;
	header.slots_offset = header.slot_count = header.tables_offset = header.tables_bytes = 0;
	header.waiters = 0;
	if (!header.ending && d->ending)
		header.end = d->end;
	/* A cut counts even if the program has stored how it ended: its last events are missing. */
	if (!header.ending || d->ending == WEFT_ABI_ENDING_CUT)
		header.ending = d->ending;
	memcpy(d->written, d->summary.losses, sizeof(d->written));
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		header.losses[cause] = d->summary.losses[cause] - d->begun[cause];
	memcpy(to, &header, sizeof(header));
}

int weft__format_drain_add_header(struct weft__drain *d)
{
	const struct weft_abi_chunk chunk = {
		.kind = WEFT_ABI_CHUNK_HEADER, .bytes = sizeof(struct weft_abi_buffer)};
	int error = weft__format_piece_reserve(&d->front, sizeof(chunk) + chunk.bytes);
	if (error)
		return error;
	weft__format_drain_write_header(d, weft__format_piece_begin_chunk(&d->front, chunk));
	weft__format_piece_end_chunk(&d->front, chunk.bytes);
	return 0;
}

static int begin_file(struct weft__drain *d)
{
	int error = weft__format_piece_reserve(&d->front, sizeof(struct weft_abi_buffer));
	if (error)
		return error;
	memcpy(d->begun, d->written, sizeof(d->begun));
	d->piece++;
	weft__format_drain_write_header(d, d->front.bytes);
	d->front.size = sizeof(struct weft_abi_buffer);
	error = add_names(d);
	if (!error)
		error = weft__format_drain_add_tables(d);
	d->begins = error;
	return error;
}

static bool has_new_losses(const struct weft__drain *d)
{
	return memcmp(d->written, d->summary.losses, sizeof(d->written)) != 0;
}

/* Prepares the names and headers that must precede the copied packets in the file. */
int weft__format_drain_prepare_front(struct weft__drain *d)
{
	d->front.size = 0;
	if (d->begins)
		return begin_file(d);
	bool is_due = d->packets.size || d->with_open;
	bool is_new = has_new_losses(d) || d->has_new_guest_facts;
	int error = is_due && is_new ? weft__format_drain_add_header(d) : 0;
	if (!error && d->packets.size)
		error = add_names(d);
	return error || !is_due ? error : weft__format_drain_add_tables(d);
}
