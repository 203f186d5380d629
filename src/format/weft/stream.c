/* SPDX-License-Identifier: ISC
 *
 * Opens a whole stream: walks from chunk to chunk, which touches a page of each, notes the
 * positions of packets, assembles the table of names and finds the last header. Bytes that are not
 * a chunk are lost up to the next chunk; a chunk that is cut off at the end is lost.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/buffer_abi.h"
#include "abi/name_abi.h"
#include "base/array.h"
#include "base/little_endian.h"
#include "base/search.h"
#include "format/forget.h"
#include "format/live_memory.h"
#include "format/weft/stream.h"
#include "format/weft/tables.h"

/* Memory is given back whenever this many bytes were passed. */
#define FORGET_BYTES ((size_t)32 << 20)

#define AT(field) offsetof(struct weft_abi_chunk, field)

bool weft__format_chunk_begins(const uint8_t *bytes, size_t size)
{
	return size >= sizeof(struct weft_abi_chunk) &&
		   weft__load_u64(bytes + AT(magic)) == WEFT_ABI_CHUNK_MAGIC;
}

enum weft__chunk_state weft__format_chunk_read(
	const uint8_t *bytes, size_t size, uint64_t offset, struct weft__chunk *ret_chunk)
{
	const struct weft__chunk chunk = {
		.content = bytes + sizeof(struct weft_abi_chunk),
		.offset = offset + sizeof(struct weft_abi_chunk),
		.kind = weft__load_u32(bytes + AT(kind)),
		.bytes = weft__load_u32(bytes + AT(bytes)),
		.at = weft__load_u64(bytes + AT(at)),
	};
	if (!weft__format_chunk_begins(bytes, size) || chunk.bytes % 8)
		return WEFT__CHUNK_BROKEN;
	if (chunk.bytes > size - sizeof(struct weft_abi_chunk))
		return WEFT__CHUNK_CUT;
	*ret_chunk = chunk;
	return WEFT__CHUNK_WHOLE;
}

size_t weft__format_chunk_find(const uint8_t *bytes, size_t size)
{
	size_t at = 0;
	while (size - at >= sizeof(struct weft_abi_chunk) &&
		   !weft__format_chunk_begins(bytes + at, size - at))
		at += 8;
	return at;
}

bool weft__format_stream_is_packet(const struct weft__buffer *b, const struct weft__chunk *chunk,
	struct weft_diagnostics *diagnostics)
{
	if (chunk->bytes >= sizeof(struct weft_abi_packet) && chunk->bytes <= b->packet_bytes)
		return true;
	weft_diagnostics_add(diagnostics, chunk->offset, "a packet's size is invalid");
	return false;
}

/* If memory is given back during the walk, the packets' headers are copied, so that later looks at
 * them do not map it again. */
static int add_packet(
	struct weft__buffer *b, const struct weft__input *input, const struct weft__chunk *chunk)
{
	struct weft__stream *s = b->stream;
	const struct weft__column columns[] = {
		{&s->offsets, sizeof(*s->offsets)}, {&s->heads, sizeof(*s->heads)}};
	if (!weft__format_stream_is_packet(b, chunk, input->diagnostics))
		return 0;
	int error = weft__columns_reserve(
		columns, input->forget ? 2 : 1, &s->capacity, b->packet_count + (size_t)1);
	if (error)
		return error;
	s->offsets[b->packet_count] = chunk->offset;
	if (input->forget)
		weft__format_live_copy(&s->heads[b->packet_count],
			chunk->content - sizeof(struct weft_abi_chunk), sizeof(*s->heads));
	b->packet_count++;
	return 0;
}

int weft__format_stream_add_names(
	struct weft__buffer *b, const struct weft__chunk *chunk, struct weft_diagnostics *diagnostics)
{
	if (chunk->at > WEFT_ABI_NAMES_MAX_BYTES ||
		chunk->bytes > WEFT_ABI_NAMES_MAX_BYTES - chunk->at) {
		weft_diagnostics_add(
			diagnostics, chunk->offset, "a chunk of names that no event can refer to");
		return 0;
	}
	if (chunk->bytes == 0)
		return 0;
	uint64_t end = chunk->at + chunk->bytes;
	if (end > b->names_bytes) {
		uint8_t *names = realloc(b->stream->names, (size_t)end);
		if (!names)
			return WEFT_ERROR_MEMORY;
		memset(names + b->names_bytes, 0, (size_t)(end - b->names_bytes));
		b->names = b->stream->names = names;
		b->names_bytes = end;
	}
	memcpy(b->stream->names + chunk->at, chunk->content, chunk->bytes);
	return 0;
}

static int add_text(
	struct weft__buffer *b, const struct weft__chunk *chunk, struct weft_diagnostics *diagnostics)
{
	struct weft__stream *s = b->stream;
	const struct weft__column column = {&s->texts, sizeof(*s->texts)};
	if (chunk->bytes < sizeof(uint64_t) ||
		weft__load_u64(chunk->content) > chunk->bytes - sizeof(uint64_t) ||
		(s->text_count && chunk->at <= s->texts[s->text_count - 1].number)) {
		weft_diagnostics_add(diagnostics, chunk->offset, "a text chunk is invalid");
		return 0;
	}
	if (s->text_count == UINT32_MAX) {
		weft_diagnostics_add(diagnostics, chunk->offset, "more texts than a trace can have");
		return 0;
	}
	int error = weft__columns_reserve(&column, 1, &s->text_capacity, s->text_count + (size_t)1);
	if (!error)
		s->texts[s->text_count++] = (struct weft__stream_text){chunk->at, chunk->offset};
	return error;
}

static bool is_before(const void *texts, uint32_t row, uint64_t number)
{
	return ((const struct weft__stream_text *)texts)[row].number < number;
}

struct weft_slice weft__format_stream_text(const struct weft__buffer *b, uint64_t number)
{
	const struct weft__stream *s = b->stream;
	uint32_t row = s ? weft__search(s->texts, 0, s->text_count, is_before, number) : 0;
	if (!s || row == s->text_count || s->texts[row].number != number)
		return (struct weft_slice){NULL, 0};
	const uint8_t *content = b->bytes + s->texts[row].offset;
	uint64_t size = weft__load_u64(content), left = (uint64_t)(b->bytes + b->size - content);
	/* The input may have changed, so the size is checked again, though add_text() has checked
	 * it. */
	if (size > left - sizeof(size))
		return (struct weft_slice){NULL, 0};
	return (struct weft_slice){(const char *)content + sizeof(size), (size_t)size};
}

static void take_lost(struct weft__buffer *b, const struct weft__chunk *chunk)
{
	b->stream->lost_offset = chunk->offset;
	b->stream->lost_count = chunk->bytes / (uint32_t)sizeof(struct weft_abi_lost);
}

void weft__format_stream_take_header(
	struct weft__buffer *b, const struct weft__chunk *chunk, struct weft_diagnostics *diagnostics)
{
	const uint8_t *version = chunk->content + offsetof(struct weft_abi_buffer, version);
	if (chunk->bytes == sizeof(struct weft_abi_buffer) &&
		weft__load_u32(version) == WEFT_ABI_VERSION)
		weft__format_live_copy(b->header, chunk->content, sizeof(b->header));
	else
		weft_diagnostics_add(diagnostics, chunk->offset, "a header chunk is invalid");
}

/* Chunks of unknown kinds are skipped. */
static int add_chunk(
	struct weft__buffer *b, const struct weft__input *input, const struct weft__chunk *chunk)
{
	if (chunk->kind == WEFT_ABI_CHUNK_PACKET)
		return add_packet(b, input, chunk);
	if (chunk->kind == WEFT_ABI_CHUNK_NAMES)
		return weft__format_stream_add_names(b, chunk, input->diagnostics);
	if (chunk->kind == WEFT_ABI_CHUNK_LOST)
		take_lost(b, chunk);
	if (chunk->kind == WEFT_ABI_CHUNK_TEXT)
		return add_text(b, chunk, input->diagnostics);
	if (chunk->kind == WEFT_ABI_CHUNK_TABLE)
		return weft__format_tables_add_chunk(b, chunk, input->diagnostics);
	if (chunk->kind == WEFT_ABI_CHUNK_HEADER)
		weft__format_stream_take_header(b, chunk, input->diagnostics);
	if (chunk->kind == WEFT_ABI_CHUNK_MARK)
		b->marked = chunk->at;
	return 0;
}

/* Takes the chunk at *at and moves *at behind it, or behind bytes that are not a chunk. */
static int step(struct weft__buffer *b, const struct weft__input *input, size_t *at)
{
	const uint8_t *bytes = input->bytes + *at;
	size_t left = input->size - *at, next;
	struct weft__chunk chunk;
	if (left < sizeof(struct weft_abi_chunk)) {
		weft_diagnostics_add(input->diagnostics, *at, WEFT__STREAM_CUT_SHORT);
		*at = input->size;
		return 0;
	}
	if (weft__format_chunk_read(bytes, left, *at, &chunk) == WEFT__CHUNK_WHOLE) {
		*at += sizeof(struct weft_abi_chunk) + chunk.bytes;
		return add_chunk(b, input, &chunk);
	}
	next = 8 + weft__format_chunk_find(bytes + 8, left - 8);
	bool is_end = left - next < sizeof(struct weft_abi_chunk);
	weft_diagnostics_add(input->diagnostics, *at,
		is_end && weft__format_chunk_begins(bytes, left) ? WEFT__STREAM_CUT_SHORT
														 : WEFT__STREAM_NO_CHUNK);
	*at += is_end ? left : next;
	return 0;
}

int weft__format_stream_init(struct weft__buffer *b, const struct weft__input *input)
{
	b->packet_count = 0;
	b->stream = calloc(1, sizeof(*b->stream));
	if (!b->stream)
		return WEFT_ERROR_MEMORY;
	size_t at = sizeof(struct weft_abi_buffer), forgotten = at;
	int error = 0;
	while (!error && at < input->size) {
		error = step(b, input, &at);
		if (input->forget && at - forgotten >= FORGET_BYTES) {
			input->forget->forget(input->forget->context);
			forgotten = at;
		}
	}
	return error;
}
