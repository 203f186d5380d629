/* SPDX-License-Identifier: ISC
 *
 * Reads a stream of a running program while it arrives. A follower reads the packets of its chunks;
 * its low-water mark is that of the stream: no later chunk has an earlier event. So memory holds
 * only what was recorded between two marks, however long the stream is.
 *
 * A stream without marks, or with chunks that only finished traces have, is left to weft/reader.c,
 * which reads it once all of it is there. The clock's rate is the one known at the first mark.
 * weft/reader.c knows the last clock reading of the trace and so a better rate: times may differ by
 * 1 in 10,000.
 */
#include "format/weft/follow/incoming.h"

#include <stdlib.h>
#include <string.h>

#include "abi/buffer_abi.h"
#include "abi/name_abi.h"
#include "abi/packet_abi.h"
#include "base/array.h"
#include "base/little_endian.h"
#include "format/weft/categories.h"
#include "format/weft/follow/followed.h"
#include "format/weft/stream.h"
#include "format/weft/tables.h"
#include "model/span.h"

#define HEADER_BYTES sizeof(struct weft_abi_buffer)
#define CHUNK_BYTES  sizeof(struct weft_abi_chunk)

/* Bytes between two chunks that are not a chunk. */
struct damage {
	uint64_t offset;
	bool is_on, has_magic;
};

struct incoming {
	struct weft__reader base;
	struct weft__follower *follower; /* its buffer's bytes are first_header, without packets */
	uint8_t first_header[HEADER_BYTES];
	struct weft__categories categories;
	struct damage damage;
	bool has_begun, has_packets;
};

#define HEADER_AT(field) offsetof(struct weft_abi_buffer, field)

static void report_damage(struct incoming *r, uint64_t offset, const char *message)
{
	weft_diagnostics_add(r->base.input.diagnostics, offset, message);
}

/* ---- Chunks ---- */

static void read_losses(struct incoming *r)
{
	uint64_t *losses = r->base.input.description->losses;
	uint64_t stalled = losses[WEFT_LOSS_STALLED], overwritten = losses[WEFT_LOSS_OVERWRITTEN];
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		losses[cause] = weft__load_u64(
			r->follower->buffer.header + HEADER_AT(losses) + cause * sizeof(uint64_t));
	losses[WEFT_LOSS_MISSING_PACKETS] += r->follower->gaps.packets;
	if (losses[WEFT_LOSS_STALLED] > stalled)
		r->follower->gaps.unplaced += losses[WEFT_LOSS_STALLED] - stalled;
	if (losses[WEFT_LOSS_OVERWRITTEN] > overwritten)
		r->follower->gaps.overwritten += losses[WEFT_LOSS_OVERWRITTEN] - overwritten;
}

/* True if the packet has content to be read. Reports an impossible size. */
static bool is_sound(
	struct incoming *r, const struct weft__chunk *chunk, const struct weft_abi_packet *header)
{
	if (header->state == 0 || weft__format_packet_state(header) == WEFT_ABI_PACKET_OPENING)
		return false;
	if (header->committed >= sizeof(*header) && header->committed <= chunk->bytes &&
		header->committed % 8 == 0)
		return true;
	report_damage(r, chunk->offset + offsetof(struct weft_abi_packet, committed),
		"a packet's size is invalid");
	return false;
}

static int take_unused(struct weft__follower *f, struct weft__followed **ret_followed)
{
	int error = f->unused_count ? 0 : weft__format_follower_add_followed(f, f->followed_count);
	if (!error)
		*ret_followed = &f->followed[f->unused[--f->unused_count]];
	return error;
}

static int add_packet(struct incoming *r, const struct weft__chunk *chunk)
{
	struct weft__follower *f = r->follower;
	struct weft_abi_packet header;
	struct weft__followed *p;
	if (!weft__format_stream_is_packet(&f->buffer, chunk, f->diagnostics))
		return 0;
	memcpy(&header, chunk->content, sizeof(header));
	if (!is_sound(r, chunk, &header))
		return 0;
	uint8_t *copy = malloc(header.committed);
	int error = copy ? take_unused(f, &p) : WEFT_ERROR_MEMORY;
	if (error) {
		free(copy);
		return error;
	}
	memcpy(copy, chunk->content, header.committed);
	*p = (struct weft__followed){.copy = copy, .offset = chunk->offset};
	weft__format_followed_set_content(f, p, &header);
	if (!r->has_packets)
		f->last_ns = weft__ns_add(p->next_ns, WEFT__SPAN_NS);
	r->has_packets = true;
	weft__format_followed_enqueue(f, p);
	return 0;
}

static void take_mark(struct weft__follower *f, uint64_t ticks)
{
	f->buffer.marked = ticks;
	uint64_t mark_ns = weft__format_ticks_to_ns(&f->buffer.clock, ticks);
	if (mark_ns > f->mark_ns)
		f->mark_ns = mark_ns;
}

/* Skips chunks of unknown kinds, and of kinds that this reader does not use. */
static int take_chunk(struct incoming *r, const struct weft__chunk *chunk)
{
	struct weft__buffer *buffer = &r->follower->buffer;
	if (chunk->kind == WEFT_ABI_CHUNK_PACKET)
		return add_packet(r, chunk);
	if (chunk->kind == WEFT_ABI_CHUNK_NAMES)
		return weft__format_stream_add_names(buffer, chunk, r->base.input.diagnostics);
	if (chunk->kind == WEFT_ABI_CHUNK_TABLE)
		return weft__format_tables_add_chunk(buffer, chunk, r->base.input.diagnostics);
	if (chunk->kind == WEFT_ABI_CHUNK_HEADER) {
		weft__format_stream_take_header(buffer, chunk, r->base.input.diagnostics);
		weft__format_buffer_read_end(buffer);
		read_losses(r);
	}
	if (chunk->kind == WEFT_ABI_CHUNK_MARK)
		take_mark(r->follower, chunk->at);
	return 0;
}

/* Skips damage up to the next chunk. Returns WEFT_OK, or WEFT_AGAIN if that chunk has not
 * arrived. */
static int skip_damage(struct incoming *r, struct weft__window *w)
{
	size_t size = weft__format_chunk_find(w->bytes, w->size);
	bool is_end = w->size - size < CHUNK_BYTES;
	weft__format_window_take(w, is_end && w->is_whole ? w->size : size);
	if (is_end && !w->is_whole)
		return WEFT_AGAIN;
	report_damage(r, r->damage.offset,
		is_end && r->damage.has_magic ? WEFT__STREAM_CUT_SHORT : WEFT__STREAM_NO_CHUNK);
	r->damage.is_on = false;
	return WEFT_OK;
}

static void begin_damage(struct incoming *r, struct weft__window *w)
{
	bool has_magic = weft__format_chunk_begins(w->bytes, w->size);
	r->damage = (struct damage){.offset = w->offset, .is_on = true, .has_magic = has_magic};
	weft__format_window_take(w, 8);
}

/* Returns WEFT_OK if a chunk was taken or damage found, WEFT_AGAIN if more bytes are needed,
 * WEFT_END if all are taken, or an error. */
static int take_next(struct incoming *r, struct weft__window *w)
{
	struct weft__chunk chunk;
	if (r->damage.is_on)
		return skip_damage(r, w);
	if (w->size < CHUNK_BYTES) {
		if (w->size == 0 || !w->is_whole)
			return w->is_whole ? WEFT_END : WEFT_AGAIN;
		report_damage(r, w->offset, WEFT__STREAM_CUT_SHORT);
		weft__format_window_take(w, w->size);
		return WEFT_OK;
	}
	enum weft__chunk_state state = weft__format_chunk_read(w->bytes, w->size, w->offset, &chunk);
	if (state == WEFT__CHUNK_CUT && !w->is_whole)
		return WEFT_AGAIN;
	if (state != WEFT__CHUNK_WHOLE) {
		begin_damage(r, w);
		return WEFT_OK;
	}
	int error = take_chunk(r, &chunk);
	weft__format_window_take(w, CHUNK_BYTES + chunk.bytes);
	return error;
}

/* ---- Events ---- */

static void describe(struct incoming *r, struct weft_trace_description *description)
{
	const struct weft__buffer *buffer = &r->follower->buffer;
	weft__format_categories_read(buffer, &r->categories, description);
	description->source = *buffer->source ? buffer->source : NULL;
}

/* Call this once all chunks are taken. */
static int finish(struct incoming *r)
{
	struct weft__buffer *buffer = &r->follower->buffer;
	weft__format_buffer_read_end(buffer);
	describe(r, r->follower->description);
	int error = weft__format_buffer_read_code(buffer);
	if (!error)
		error = weft__format_tables_read(buffer);
	if (error)
		return error;
	if (weft__load_u32(buffer->header + HEADER_AT(stop_reason)))
		report_damage(r, HEADER_AT(stop_reason), WEFT__BUFFER_STOPPED_EARLY);
	return weft__format_follower_finish(r->follower);
}

static int incoming_next(
	struct weft__reader *base, struct weft__window *window, struct weft_event *ret_event)
{
	struct incoming *r = (struct incoming *)base;
	if (!r->has_begun)
		weft__format_window_take(window, HEADER_BYTES);
	r->has_begun = true;
	int status = weft__format_follower_take(r->follower, ret_event);
	while (status == WEFT_AGAIN) {
		status = take_next(r, window);
		if (status == WEFT_END)
			status = finish(r);
		if (status == WEFT_OK)
			status = weft__format_follower_take(r->follower, ret_event);
		else
			break;
	}
	return status;
}

/* ---- Beginning and end ---- */

static bool is_stream(const struct weft__input *input)
{
	return weft__format_buffer_probe(input->bytes, input->size) &&
		   weft__load_u32(input->bytes + HEADER_AT(version)) == WEFT_ABI_VERSION &&
		   weft__load_u32(input->bytes + HEADER_AT(stream)) == 1;
}

/* Searches for the first mark. Returns WEFT_OK and its offset in *at, WEFT_AGAIN if it has not
 * arrived, or WEFT_END if weft/reader.c has to read the input. */
static int incoming_prepare(const struct weft__input *input, size_t *at)
{
	struct weft__chunk chunk;
	if (input->size < HEADER_BYTES)
		return WEFT_AGAIN;
	if (*at == 0 && !is_stream(input))
		return WEFT_END;
	if (*at == 0)
		*at = HEADER_BYTES;
	while (input->size - *at >= CHUNK_BYTES) {
		enum weft__chunk_state state =
			weft__format_chunk_read(input->bytes + *at, input->size - *at, *at, &chunk);
		if (state == WEFT__CHUNK_CUT)
			return WEFT_AGAIN;
		if (state == WEFT__CHUNK_BROKEN || chunk.kind == WEFT_ABI_CHUNK_TEXT ||
			chunk.kind == WEFT_ABI_CHUNK_LOST)
			return WEFT_END;
		if (chunk.kind == WEFT_ABI_CHUNK_MARK)
			return WEFT_OK;
		*at += CHUNK_BYTES + chunk.bytes;
	}
	return WEFT_AGAIN;
}

/* Goes back to the beginning of the stream: incoming_next() takes the packets one by one from
 * there. */
static void rewind_buffer(struct incoming *r, struct weft__buffer *b)
{
	memcpy(r->first_header, r->base.input.bytes, HEADER_BYTES);
	memcpy(b->header, r->first_header, HEADER_BYTES);
	b->bytes = r->first_header;
	b->size = HEADER_BYTES;
	b->packet_count = 0;
	weft__format_tables_finish(b); /* its chunks come again */
}

/* Allocates room for the largest possible table of names, because the table of a stream grows. */
static int keep_names(struct weft__buffer *b)
{
	uint64_t bytes = b->names_bytes;
	b->names_bytes = WEFT_ABI_NAMES_MAX_BYTES;
	int error = weft__format_buffer_keep_names(b);
	b->names_bytes = bytes;
	return error;
}

/* `before_mark` is the input before the first mark. The clock and the threads are initialized from
 * it. */
static int init(struct incoming *r, const struct weft__input *before_mark)
{
	struct weft__follower *f = r->follower;
	struct weft_diagnostics seen = {0};
	struct weft__input input = *before_mark;
	input.diagnostics = &seen;
	int error = weft__format_buffer_init_any(&f->buffer, &input);
	if (error)
		return error;
	for (size_t i = 0; i < seen.count; i++) /* other damage is reported again later */
		if (seen.list[i].offset == HEADER_AT(clock_hz))
			report_damage(r, seen.list[i].offset, seen.list[i].message);
	error = weft__format_threads_init(&f->threads, &f->buffer);
	if (!error)
		error = keep_names(&f->buffer);
	if (error)
		return error;
	rewind_buffer(r, &f->buffer);
	memset(f->description->losses, 0, sizeof(f->description->losses));
	weft__format_gaps_init(&f->gaps, true, weft__format_buffer_piece(&f->buffer), f->description);
	read_losses(r);
	describe(r, f->description);
	return weft__format_follower_init(f);
}

static bool incoming_is_pending(const struct weft__reader *base, const struct weft__window *window)
{
	const struct incoming *r = (const struct incoming *)base;
	return window->size || r->damage.is_on || r->follower->queue.count;
}

static void incoming_close(struct weft__reader *base)
{
	struct incoming *r = (struct incoming *)base;
	weft__format_follower_destroy(r->follower);
	free(r);
}

static struct incoming *allocate(const struct weft__input *input)
{
	struct incoming *r = calloc(1, sizeof(*r));
	struct weft__follower *f = calloc(1, sizeof(*f));
	if (!r || !f) {
		free(r);
		free(f);
		return NULL;
	}
	f->diagnostics = input->diagnostics;
	f->description = input->description;
	f->is_saved = true;
	r->follower = f;
	r->base.input = *input;
	return r;
}

static int incoming_start(
	const struct weft__input *input, size_t examined, struct weft__reader **ret_reader)
{
	struct incoming *r = allocate(input);
	if (!r)
		return WEFT_ERROR_MEMORY;
	r->base.input.size = examined;
	int error = init(r, &r->base.input);
	if (error)
		incoming_close(&r->base);
	else
		*ret_reader = &r->base;
	return error;
}

static uint64_t incoming_mark(const struct weft__reader *base)
{
	return weft__format_follower_mark_ns(((const struct incoming *)base)->follower);
}

const struct weft__incoming weft__incoming_weft = {
	.prepare = incoming_prepare,
	.start = incoming_start,
	.next = incoming_next,
	.is_pending = incoming_is_pending,
	.mark = incoming_mark,
	.close = incoming_close,
};
