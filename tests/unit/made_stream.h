/* SPDX-License-Identifier: ISC
 *
 * Streams that a test makes chunk by chunk.
 */
#ifndef WEFT_TESTS_MADE_STREAM_H
#define WEFT_TESTS_MADE_STREAM_H

#include <string.h>

#include "abi/buffer_abi.h"
#include "abi/event_abi.h"
#include "abi/name_abi.h"
#include "abi/packet_abi.h"
#include "abi/stream_abi.h"

#define MADE_PACKET_BYTES 4096u

struct made_stream {
	uint8_t bytes[128 << 10];
	size_t size;
};

/* A header whose clock counts ns. */
static inline struct weft_abi_buffer made_header(void)
{
	struct weft_abi_buffer header = {
		.version = WEFT_ABI_VERSION,
		.header_bytes = sizeof(header),
		.packet_bytes = MADE_PACKET_BYTES,
		.packets_offset = sizeof(header),
		.clock = WEFT_ABI_CLOCK_MONOTONIC,
		.stream = 1,
	};
	memcpy(header.magic, WEFT_ABI_MAGIC, sizeof(header.magic));
	return header;
}

static inline void made_append(struct made_stream *s, const void *bytes, size_t size)
{
	if (size)
		memcpy(s->bytes + s->size, bytes, size);
	s->size += size;
}

static inline void made_begin(struct made_stream *s, const struct weft_abi_buffer *header)
{
	s->size = 0;
	made_append(s, header, sizeof(*header));
}

static inline void made_chunk(
	struct made_stream *s, uint32_t kind, uint64_t at, const void *content, uint32_t bytes)
{
	const struct weft_abi_chunk chunk = {WEFT_ABI_CHUNK_MAGIC, kind, bytes, at};
	made_append(s, &chunk, sizeof(chunk));
	made_append(s, content, bytes);
}

static inline void made_mark(struct made_stream *s, uint64_t ticks)
{
	made_chunk(s, WEFT_ABI_CHUNK_MARK, ticks, NULL, 0);
}

/* A name; its id is 1 + at / 16. */
static inline void made_name(struct made_stream *s, uint64_t at, const char *text)
{
	struct {
		struct weft_abi_name name;
		char text[24];
	} entry = {.name.size = (uint32_t)strlen(text)};
	memcpy(entry.text, text, strlen(text));
	made_chunk(s, WEFT_ABI_CHUNK_NAMES, at, &entry, sizeof(entry));
}

/* A text of 8 bytes, whose length in the chunk is `size`. */
static inline void made_text(
	struct made_stream *s, uint64_t number, uint64_t size, const char *text)
{
	uint64_t content[2] = {size, 0};
	memcpy(&content[1], text, strlen(text));
	made_chunk(s, WEFT_ABI_CHUNK_TEXT, number, content, sizeof(content));
}

struct made_packet {
	struct weft_abi_packet header;
	uint64_t words[(MADE_PACKET_BYTES - sizeof(struct weft_abi_packet)) / 8];
	uint32_t count;
};

/* A closed packet of that thread, "name" by name. */
static inline struct made_packet made_packet(uint32_t thread, uint64_t sequence)
{
	return (struct made_packet){.header = {.state = sequence << 2 | WEFT_ABI_PACKET_CLOSED,
									.thread = thread,
									.tid = thread,
									.task = UINT64_MAX,
									.name = "name"}};
}

/* A switch to `task` at these ticks. */
static inline void made_switch(struct made_packet *p, uint32_t ticks, uint64_t task)
{
	p->words[p->count++] = WEFT_ABI_HEAD(WEFT_ABI_SWITCH, 2, 0) | ticks;
	p->words[p->count++] = task;
}

/* A label of the thread's current task. */
static inline void made_label(struct made_packet *p, uint32_t ticks, uint16_t name)
{
	p->words[p->count++] = WEFT_ABI_HEAD(WEFT_ABI_LABEL, 1, name) | ticks;
}

/* The following events' ticks count from `base`. */
static inline void made_time(struct made_packet *p, uint64_t base)
{
	p->words[p->count++] = WEFT_ABI_HEAD(WEFT_ABI_TIME, 2, 0);
	p->words[p->count++] = base;
}

/* A label of the thread's current task, whose text is in a chunk. */
static inline void made_long_label(struct made_packet *p, uint32_t ticks, uint64_t number)
{
	p->words[p->count++] = WEFT_ABI_HEAD(WEFT_ABI_TEXT, 2, 0) | ticks;
	p->words[p->count++] = number;
	made_label(p, ticks, 0);
}

/* The following events are another thread's, which has the packet's name. */
static inline void made_thread(struct made_packet *p, uint32_t ticks, uint32_t thread)
{
	p->words[p->count++] = WEFT_ABI_HEAD(WEFT_ABI_THREAD, 2, 0) | ticks;
	p->words[p->count++] = (uint64_t)thread << 32 | thread;
	p->header.thread_records++;
}

/* Appends the packet; its header claims `more` bytes beyond the end of the chunk. */
static inline void made_add_packet(struct made_stream *s, struct made_packet *p, uint32_t more)
{
	uint32_t size = (uint32_t)sizeof(p->header) + 8 * p->count;
	p->header.committed = size + more;
	made_chunk(s, WEFT_ABI_CHUNK_PACKET, 0, p, size);
}

#endif
