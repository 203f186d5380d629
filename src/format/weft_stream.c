/* SPDX-License-Identifier: ISC
 *
 * Opening a stream: one walk from chunk to chunk, which touches a page of each, notes where packets
 * are, puts the table of names together and finds the last header. What is no chunk costs what lies
 * between it and the next one; a tail that is cut off costs itself.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/buffer_abi.h"
#include "abi/name_abi.h"
#include "abi/stream_abi.h"
#include "base/array.h"
#include "base/little_endian.h"
#include "format/live_memory.h"
#include "format/weft_buffer.h"

#define AT(field) offsetof(struct weft_abi_chunk, field)

/* A chunk that has been found to lie in the input. */
struct chunk {
	const uint8_t *content;
	uint32_t kind, bytes;
	uint64_t at;
};

static bool is_chunk(const uint8_t *at, size_t size)
{
	return size >= sizeof(struct weft_abi_chunk) &&
		   weft__load_u64(at + AT(magic)) == WEFT_ABI_CHUNK_MAGIC;
}

/* The next thing that looks like a chunk; the input's end if none does. */
static size_t find_chunk(const struct weft__input *input, size_t at)
{
	while (at < input->size && !is_chunk(input->bytes + at, input->size - at))
		at += 8;
	return at < input->size ? at : input->size;
}

static int add_packet(
	struct weft__buffer *b, const struct weft__input *input, const struct chunk *chunk)
{
	const struct weft__column column = {&b->stream->offsets, sizeof(*b->stream->offsets)};
	size_t offset = (size_t)(chunk->content - input->bytes);
	if (chunk->bytes < sizeof(struct weft_abi_packet) || chunk->bytes > b->packet_bytes) {
		weft_diagnostics_add(input->diagnostics, offset, "a packet's size makes no sense");
		return 0;
	}
	int error =
		weft__columns_reserve(&column, 1, &b->stream->capacity, b->packet_count + (size_t)1);
	if (!error)
		b->stream->offsets[b->packet_count++] = offset;
	return error;
}

static int add_names(
	struct weft__buffer *b, const struct weft__input *input, const struct chunk *chunk)
{
	if (chunk->at > WEFT_ABI_NAMES_MAX_BYTES ||
		chunk->bytes > WEFT_ABI_NAMES_MAX_BYTES - chunk->at) {
		weft_diagnostics_add(input->diagnostics, (uint64_t)(chunk->content - input->bytes),
			"names that no event can refer to");
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
	struct weft__buffer *b, const struct weft__input *input, const struct chunk *chunk)
{
	struct weft__stream *s = b->stream;
	const struct weft__column column = {&s->texts, sizeof(*s->texts)};
	size_t offset = (size_t)(chunk->content - input->bytes);
	if (chunk->bytes < sizeof(uint64_t) ||
		weft__load_u64(chunk->content) > chunk->bytes - sizeof(uint64_t) ||
		(s->text_count && chunk->at <= s->texts[s->text_count - 1].number)) {
		weft_diagnostics_add(input->diagnostics, offset, "a text that makes no sense");
		return 0;
	}
	int error = weft__columns_reserve(&column, 1, &s->text_capacity, s->text_count + 1);
	if (!error)
		s->texts[s->text_count++] = (struct weft__stream_text){chunk->at, offset};
	return error;
}

struct weft_slice weft__stream_text(const struct weft__buffer *b, uint64_t number)
{
	size_t low = 0, high = b->stream ? b->stream->text_count : 0, count = high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (b->stream->texts[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == count || b->stream->texts[low].number != number)
		return (struct weft_slice){NULL, 0};
	const uint8_t *content = b->bytes + b->stream->texts[low].offset;
	uint64_t size = weft__load_u64(content), left = (uint64_t)(b->bytes + b->size - content);
	/* The input may be changing: what was checked at the opening is checked again. */
	if (size > left - sizeof(size))
		return (struct weft_slice){NULL, 0};
	return (struct weft_slice){(const char *)content + sizeof(size), (size_t)size};
}

static void take_lost(
	struct weft__buffer *b, const struct weft__input *input, const struct chunk *chunk)
{
	b->stream->lost_offset = (uint64_t)(chunk->content - input->bytes);
	b->stream->lost_count = chunk->bytes / (uint32_t)sizeof(struct weft_abi_lost);
}

static void take_header(
	struct weft__buffer *b, const struct weft__input *input, const struct chunk *chunk)
{
	const uint8_t *version = chunk->content + offsetof(struct weft_abi_buffer, version);
	if (chunk->bytes == sizeof(struct weft_abi_buffer) &&
		weft__load_u32(version) == WEFT_ABI_VERSION)
		weft__live_copy(b->header, chunk->content, sizeof(b->header));
	else
		weft_diagnostics_add(input->diagnostics, (uint64_t)(chunk->content - input->bytes),
			"a header that makes no sense");
}

/* Kinds that are not known are stepped over. */
static int add_chunk(
	struct weft__buffer *b, const struct weft__input *input, const struct chunk *chunk)
{
	if (chunk->kind == WEFT_ABI_CHUNK_PACKET)
		return add_packet(b, input, chunk);
	if (chunk->kind == WEFT_ABI_CHUNK_NAMES)
		return add_names(b, input, chunk);
	if (chunk->kind == WEFT_ABI_CHUNK_LOST)
		take_lost(b, input, chunk);
	if (chunk->kind == WEFT_ABI_CHUNK_TEXT)
		return add_text(b, input, chunk);
	if (chunk->kind == WEFT_ABI_CHUNK_HEADER)
		take_header(b, input, chunk);
	return 0;
}

/* Takes the chunk at *at and steps over it, or over what is none. */
static int step(struct weft__buffer *b, const struct weft__input *input, size_t *at)
{
	const uint8_t *bytes = input->bytes + *at;
	size_t left = input->size - *at;
	if (left < sizeof(struct weft_abi_chunk)) {
		weft_diagnostics_add(input->diagnostics, *at, "the stream is cut short");
		*at = input->size;
		return 0;
	}
	struct chunk chunk = {
		.content = bytes + sizeof(struct weft_abi_chunk),
		.kind = weft__load_u32(bytes + AT(kind)),
		.bytes = weft__load_u32(bytes + AT(bytes)),
		.at = weft__load_u64(bytes + AT(at)),
	};
	bool is_whole = chunk.bytes <= left - sizeof(struct weft_abi_chunk);
	if (is_chunk(bytes, left) && is_whole && chunk.bytes % 8 == 0) {
		*at += sizeof(struct weft_abi_chunk) + chunk.bytes;
		return add_chunk(b, input, &chunk);
	}
	size_t next = find_chunk(input, *at + 8);
	weft_diagnostics_add(input->diagnostics, *at,
		next == input->size && is_chunk(bytes, left)
			? "the stream is cut short"
			: "what is no chunk of a stream; it is stepped over");
	*at = next;
	return 0;
}

int weft__stream_init(struct weft__buffer *b, const struct weft__input *input)
{
	b->packet_count = 0;
	b->stream = calloc(1, sizeof(*b->stream));
	if (!b->stream)
		return WEFT_ERROR_MEMORY;
	int error = 0;
	for (size_t at = sizeof(struct weft_abi_buffer); !error && at < input->size;)
		error = step(b, input, &at);
	return error;
}
