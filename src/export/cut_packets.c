/* SPDX-License-Identifier: ISC
 *
 * Each thread has an open packet, which is written when it is full. Readers order events by time,
 * and events with equal times by the sequences of their packets. If that rule would put an event
 * too early, the event begins a packet with a new sequence.
 *
 * Sequence 1 is reserved for the rundown, which is written last and read first.
 */
#include "export/cut_packets.h"

#include <stdlib.h>
#include <string.h>

#include "abi/event_abi.h"
#include "abi/packet_abi.h"
#include "abi/stream_abi.h"
#include "base/array.h"

enum {
	PACKET_BYTES = WEFT__CUT_PACKET_BYTES,
	ROOM = PACKET_BYTES - sizeof(struct weft_abi_packet),
	THREADS_MAX = 1 << 20,
	RUNDOWN_SEQUENCE = 1,
};

void weft__export_cut_packets_init(
	struct weft__cut_packets *p, struct weft__chunks *chunks, struct weft__cut_names *names)
{
	*p = (struct weft__cut_packets){
		.chunks = chunks,
		.names = names,
		.sequence = RUNDOWN_SEQUENCE,
	};
}

void weft__export_cut_packets_finish(struct weft__cut_packets *p)
{
	for (uint32_t i = 0; i < p->thread_count; i++)
		free(p->threads[i].bytes);
	free(p->threads);
}

int weft__export_cut_packets_thread(
	struct weft__cut_packets *p, uint32_t index, struct weft__cut_thread **ret_thread)
{
	const struct weft__column column = {&p->threads, sizeof(*p->threads)};
	if (index >= THREADS_MAX)
		return WEFT_ERROR_LIMIT;
	int error = weft__columns_reserve(&column, 1, &p->thread_capacity, index + (size_t)1);
	if (error)
		return error;
	while (p->thread_count <= index)
		p->threads[p->thread_count++] = (struct weft__cut_thread){.task = UINT64_MAX};
	*ret_thread = &p->threads[index];
	return 0;
}

static void describe_thread(
	const struct weft__cut_packets *p, uint32_t index, struct weft_abi_packet *header)
{
	header->thread = index + 1;
	if (!p->trace || index >= p->trace->thread_count)
		return;
	const struct weft_trace_thread *thread = &p->trace->threads[index];
	size_t size = strlen(thread->name);
	header->tid = (uint32_t)thread->tid;
	memcpy(header->name, thread->name, size < WEFT_ABI_NAME_BYTES ? size : WEFT_ABI_NAME_BYTES);
}

static int write_packet(struct weft__cut_packets *p, uint32_t index)
{
	struct weft__cut_thread *t = &p->threads[index];
	struct weft_abi_packet header = {
		.state = t->sequence << 2 | WEFT_ABI_PACKET_CLOSED,
		.committed = (uint32_t)sizeof(header) + t->size,
		.base_ticks = t->opened_ticks,
		.opened_ticks = t->opened_ticks,
		.task = t->task_before,
		.number = t->events,
	};
	describe_thread(p, index, &header);
	int error = weft__export_cut_names_flush(p->names);
	if (!error)
		error = weft__export_chunks_begin(p->chunks, WEFT_ABI_CHUNK_PACKET, 0, header.committed);
	if (!error)
		error = weft__export_chunks_append(p->chunks, &header, sizeof(header));
	if (!error)
		error = weft__export_chunks_append(p->chunks, t->bytes, t->size);
	t->was_seen = true;
	return error;
}

int weft__export_cut_packets_flush(struct weft__cut_packets *p, uint32_t index)
{
	struct weft__cut_thread *t = &p->threads[index];
	if (t->sequence == 0)
		return 0;
	int error = write_packet(p, index);
	t->events += t->in_packet;
	t->in_packet = t->size = 0;
	t->sequence = 0;
	return error;
}

int weft__export_cut_packets_flush_all(struct weft__cut_packets *p)
{
	int error = 0;
	for (uint32_t i = 0; !error && i < p->thread_count; i++)
		error = weft__export_cut_packets_flush(p, i);
	return error;
}

int weft__export_cut_packets_declare(struct weft__cut_packets *p, uint32_t index, uint64_t ticks)
{
	struct weft__cut_thread *t;
	int error = weft__export_cut_packets_thread(p, index, &t);
	if (error || t->was_seen)
		return error;
	t->sequence = RUNDOWN_SEQUENCE;
	t->opened_ticks = ticks;
	t->task_before = UINT64_MAX;
	return weft__export_cut_packets_flush(p, index);
}

void weft__export_cut_packets_rewind(struct weft__cut_packets *p)
{
	for (uint32_t i = 0; i < p->thread_count; i++) {
		p->threads[i].task = UINT64_MAX;
		p->threads[i].events = 0;
	}
	p->last_ns = p->last_sequence = 0;
	p->sequence = 0; /* packets of equal sequence are read in the order of the file */
}

static void open_packet(struct weft__cut_packets *p, struct weft__cut_thread *t, uint64_t ticks)
{
	if (p->sequence)
		p->sequence++;
	t->sequence = p->sequence ? p->sequence : RUNDOWN_SEQUENCE;
	t->opened_ticks = t->base_ticks = ticks;
	t->task_before = t->task;
}

static int make_room(struct weft__cut_thread *t, size_t bytes)
{
	if (t->size + bytes <= t->capacity)
		return 0;
	size_t capacity = weft__array_next_capacity(t->capacity, t->size + bytes);
	int error = weft__array_resize(&t->bytes, capacity, 1);
	if (!error)
		t->capacity = (uint32_t)capacity;
	return error;
}

static void put(struct weft__cut_thread *t, uint64_t word)
{
	memcpy(t->bytes + t->size, &word, sizeof(word));
	t->size += (uint32_t)sizeof(word);
}

int weft__export_cut_packets_add(struct weft__cut_packets *p, uint32_t index,
	struct weft__cut_time time, const struct weft__cut_words *words)
{
	struct weft__cut_thread *t = &p->threads[index];
	size_t bytes = ((size_t)words->count + 2) * sizeof(uint64_t); /* including a time record */
	bool is_too_early = time.ns == p->last_ns && t->sequence < p->last_sequence;
	int error = 0;
	if (t->sequence && (is_too_early || t->size + bytes > ROOM))
		error = weft__export_cut_packets_flush(p, index);
	if (!error)
		error = make_room(t, bytes);
	if (error)
		return error;
	if (t->sequence == 0)
		open_packet(p, t, time.ticks);
	/* Earlier ticks give the same time: see weft__export_cut_ticks(). */
	if (time.ticks - t->base_ticks > UINT32_MAX) {
		put(t, WEFT_ABI_HEAD(WEFT_ABI_TIME, 2, 0));
		put(t, time.ticks);
		t->base_ticks = time.ticks;
	}
	for (unsigned i = 0; i < words->count; i++)
		put(t, words->list[i] | (i == words->head ? time.ticks - t->base_ticks : 0));
	t->in_packet += weft__abi_is_event(weft__abi_head_kind(words->list[words->head]));
	p->last_ns = time.ns;
	p->last_sequence = t->sequence;
	return 0;
}
