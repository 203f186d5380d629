/* SPDX-License-Identifier: ISC
 *
 * A packet's header names the thread that opened it; where that thread ended and another continued
 * in its packet, a thread record names the other one.
 */
#include "format/weft/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "format/weft/packet.h"

struct weft__thread_number {
	uint32_t number, index;
};

static bool is_less(const void *numbers, uint32_t row, uint64_t number)
{
	return ((const struct weft__thread_number *)numbers)[row].number < number;
}

static uint32_t lower_bound(const struct weft__threads *t, uint32_t number)
{
	return weft__search(t->numbers, 0, t->count, is_less, number);
}

static bool is_at(const struct weft__threads *t, uint32_t at, uint32_t number)
{
	return at < t->count && t->numbers[at].number == number;
}

uint32_t weft__format_threads_index(const struct weft__threads *t, uint32_t number)
{
	uint32_t at = lower_bound(t, number);
	return is_at(t, at, number) ? t->numbers[at].index : 0;
}

static int grow(struct weft__threads *t)
{
	const struct weft__column columns[] = {
		{&t->list, sizeof(*t->list)}, {&t->events, sizeof(*t->events)},
		{&t->numbers, sizeof(*t->numbers)},
		{&t->names, sizeof(*t->names)}, /* last: if any column fails, the names have not moved */
	};
	size_t before = t->capacity;
	int error = weft__columns_reserve(
		columns, sizeof(columns) / sizeof(columns[0]), &t->capacity, t->count + (size_t)1);
	for (uint32_t i = 0; t->capacity != before && i < t->count; i++)
		t->list[i].name = t->names[i];
	return error;
}

/* New numbers are nearly always the highest, so this moves little. */
static int add_thread(struct weft__threads *t, uint32_t at, const struct weft__thread *thread)
{
	int error = grow(t);
	if (error)
		return error;
	uint32_t index = t->count;
	memmove(&t->numbers[at + 1], &t->numbers[at], (index - at) * sizeof(*t->numbers));
	t->numbers[at] = (struct weft__thread_number){thread->number, index};
	memcpy(t->names[index], thread->name, WEFT_ABI_NAME_BYTES);
	t->names[index][WEFT_ABI_NAME_BYTES] = '\0';
	t->events[index] = 0;
	t->list[index] = (struct weft_trace_thread){
		.name = t->names[index],
		.tid = thread->tid,
		.number = thread->number,
	};
	t->count++;
	return 0;
}

int weft__format_threads_find(struct weft__threads *t, const struct weft__thread *thread,
	const uint8_t *packet_name, uint32_t *ret_index)
{
	uint32_t at = lower_bound(t, thread->number);
	struct weft__thread named = *thread;
	int error = 0;
	if (is_at(t, at, thread->number)) {
		*ret_index = t->numbers[at].index;
		return 0;
	}
	if (!named.name)
		named.name = packet_name;
	if (t->count < WEFT__THREADS_MAX)
		error = add_thread(t, at, &named);
	*ret_index = t->count - 1;
	return error;
}

/* ---- The threads of a buffer ---- */

/* A thread as a packet names it; the list has one entry per mention, in the order of packets. */
struct found {
	uint64_t sequence; /* the packet's: a higher one was opened later */
	uint32_t number, tid;
	uint8_t name[WEFT_ABI_NAME_BYTES];
};

struct finds {
	struct found *list;
	size_t count, capacity;
};

static int note(
	struct finds *finds, const struct weft__thread *thread, const struct weft_abi_packet *packet)
{
	const struct weft__column column = {&finds->list, sizeof(*finds->list)};
	int error = weft__columns_reserve(&column, 1, &finds->capacity, finds->count + 1);
	if (error)
		return error;
	struct found *found = &finds->list[finds->count++];
	*found = (struct found){
		.sequence = packet->state >> 2, .number = thread->number, .tid = thread->tid};
	memcpy(
		found->name, thread->name ? (const char *)thread->name : packet->name, WEFT_ABI_NAME_BYTES);
	return 0;
}

/* Notes the threads that continued in the packet. */
static int note_records(
	struct finds *finds, struct weft__cursor cursor, const struct weft_abi_packet *header)
{
	struct weft__record_words words;
	enum weft__found found;
	int error = 0;
	while (!error && (found = weft__format_cursor_next(&cursor, &words)) <= WEFT__FOUND_THREAD) {
		if (found != WEFT__FOUND_THREAD)
			continue;
		const struct weft__thread thread = weft__format_record_words_thread(&words);
		error = note(finds, &thread, header);
	}
	return error;
}

static int note_packet(struct finds *finds, const struct weft__buffer *buffer, uint32_t index)
{
	struct weft_abi_packet header;
	enum weft__verdict verdict = weft__format_packet_read(buffer, index, &header);
	if (!weft__format_packet_is_readable(verdict))
		return 0;
	const struct weft__thread thread = {header.thread, header.tid, NULL};
	int error = note(finds, &thread, &header);
	if (error || !header.thread_records || verdict == WEFT__PACKET_DAMAGED)
		return error;
	return note_records(finds, weft__format_packet_cursor(buffer, index, &header), &header);
}

/* The newest mention of each thread comes first: a thread may have got another name. */
static int by_number(const void *left, const void *right)
{
	const struct found *l = left, *r = right;
	if (l->number != r->number)
		return l->number < r->number ? -1 : 1;
	return l->sequence < r->sequence ? 1 : l->sequence > r->sequence ? -1 : 0;
}

/* Adds each thread once, in ascending order of numbers. */
static int add_all(struct weft__threads *t, struct finds *finds)
{
	int error = 0;
	if (finds->count)
		qsort(finds->list, finds->count, sizeof(*finds->list), by_number);
	for (size_t i = 0; !error && i < finds->count; i++) {
		const struct found *found = &finds->list[i];
		const struct weft__thread thread = {found->number, found->tid, found->name};
		if (!t->count || !is_at(t, t->count - 1, found->number))
			error = add_thread(t, t->count, &thread);
	}
	return error;
}

int weft__format_threads_init(struct weft__threads *t, const struct weft__buffer *buffer)
{
	static const struct weft_abi_packet nameless;
	const struct weft__thread none = {0};
	struct finds finds = {0};
	int error = 0;
	*t = (struct weft__threads){0};
	for (uint32_t i = 0; !error && i < buffer->packet_count; i++)
		error = note_packet(&finds, buffer, i);
	if (!error && !finds.count)
		error = note(&finds, &none, &nameless);
	if (!error)
		error = add_all(t, &finds);
	free(finds.list);
	if (error)
		weft__format_threads_finish(t);
	return error;
}

void weft__format_threads_finish(struct weft__threads *t)
{
	free(t->list);
	free(t->names);
	free(t->events);
	free(t->numbers);
	*t = (struct weft__threads){0};
}
