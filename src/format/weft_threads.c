/* SPDX-License-Identifier: ISC
 *
 * A packet names the thread that opened it; where one ended and another went on in its packet, a
 * thread record names that one.
 */
#include "format/weft_threads.h"

#include <stdlib.h>
#include <string.h>

#include "abi/packet_abi.h"
#include "base/array.h"
#include "base/little_endian.h"
#include "format/weft_event.h"

/* As it was found: sorted by number afterwards, then made unique. */
struct found {
	uint32_t number, tid;
	char name[WEFT_ABI_NAME_BYTES];
};

struct finds {
	struct found *list;
	size_t count, capacity;
};

static int add(struct finds *finds, uint32_t number, uint32_t tid, const uint8_t *name)
{
	const struct weft__column column = {&finds->list, sizeof(*finds->list)};
	int error = weft__columns_reserve(&column, 1, &finds->capacity, finds->count + 1);
	if (error)
		return error;
	finds->list[finds->count].number = number;
	finds->list[finds->count].tid = tid;
	memcpy(finds->list[finds->count].name, name, WEFT_ABI_NAME_BYTES);
	finds->count++;
	return 0;
}

#define AT(field) offsetof(struct weft_abi_packet, field)

static int add_records(struct finds *finds, const uint8_t *packet, uint32_t packet_bytes)
{
	uint32_t at = sizeof(struct weft_abi_packet), end = weft__load_u32(packet + AT(committed));
	struct weft__words words;
	if (end > packet_bytes)
		end = packet_bytes;
	while (at < end && weft__words_read(packet + at, end - at, &words)) {
		if (words.kind == WEFT_ABI_THREAD && words.count >= WEFT_ABI_THREAD_WORDS) {
			const uint8_t *name =
				words.count >= WEFT_ABI_THREAD_WORDS + 2 ? words.at + 16 : packet + AT(name);
			int error =
				add(finds, weft__load_u32(words.at + 12), weft__load_u32(words.at + 8), name);
			if (error)
				return error;
		}
		at += words.count * 8;
	}
	return 0;
}

static int find_all(struct finds *finds, const struct weft__buffer *buffer)
{
	static const uint8_t nameless[WEFT_ABI_NAME_BYTES];
	for (uint32_t i = 0; i < buffer->packet_count; i++) {
		uint8_t header[sizeof(struct weft_abi_packet)];
		if (!weft__buffer_packet_header(buffer, i, header))
			continue;
		int error = add(finds, weft__load_u32(header + AT(thread)),
			weft__load_u32(header + AT(tid)), header + AT(name));
		if (!error && weft__load_u32(header + AT(thread_records)))
			error = add_records(
				finds, weft__buffer_packet(buffer, i), weft__buffer_packet_room(buffer, i));
		if (error)
			return error;
	}
	return finds->count ? 0 : add(finds, 0, 0, nameless);
}

static int by_number(const void *left, const void *right)
{
	const struct found *l = left, *r = right;
	return l->number < r->number ? -1 : l->number > r->number;
}

static int allocate(struct weft__threads *threads, size_t count)
{
	threads->list = calloc(count, sizeof(*threads->list));
	threads->numbers = calloc(count, sizeof(*threads->numbers));
	threads->names = calloc(count, sizeof(*threads->names));
	threads->events = calloc(count, sizeof(*threads->events));
	if (threads->list && threads->numbers && threads->names && threads->events)
		return 0;
	weft__threads_finish(threads);
	return WEFT_ERROR_MEMORY;
}

static void take(
	struct weft__threads *threads, const struct found *found, const struct weft__buffer *buffer)
{
	uint32_t index = threads->count++;
	memcpy(threads->names[index], found->name, WEFT_ABI_NAME_BYTES);
	threads->numbers[index] = found->number;
	threads->list[index] = (struct weft_trace_thread){
		.name = threads->names[index],
		.process = buffer->program,
		.pid = buffer->pid,
		.tid = found->tid,
	};
}

int weft__threads_init(struct weft__threads *threads, const struct weft__buffer *buffer)
{
	struct finds finds = {0};
	int error = find_all(&finds, buffer);
	*threads = (struct weft__threads){0};
	if (error)
		goto out;
	qsort(finds.list, finds.count, sizeof(*finds.list), by_number);
	error = allocate(threads, finds.count);
	if (error)
		goto out;
	for (size_t i = 0; i < finds.count; i++)
		if (i == 0 || finds.list[i].number != finds.list[i - 1].number)
			take(threads, &finds.list[i], buffer);
out:
	free(finds.list);
	return error;
}

void weft__threads_finish(struct weft__threads *threads)
{
	free(threads->list);
	free(threads->numbers);
	free(threads->names);
	free(threads->events);
	*threads = (struct weft__threads){0};
}

uint32_t weft__threads_find(
	const struct weft__threads *threads, uint32_t number, uint32_t otherwise)
{
	uint32_t low = 0, high = threads->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (threads->numbers[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < threads->count && threads->numbers[low] == number ? low : otherwise;
}
