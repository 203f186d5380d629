/* SPDX-License-Identifier: ISC
 *
 * Makes the side tables that say what threads ran, for a saved buffer. A process may become one
 * program after the other: only samples of the time of this buffer are taken.
 */
#include <weft/buffer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/buffer_abi.h"
#include "base/export.h"
#include "format/weft/ran_live.h"

_Static_assert(
	WEFT_BUFFER_CODES_MAX * sizeof(struct weft_abi_code_row) <= WEFT_ABI_TABLE_MAX_BYTES, "codes");
_Static_assert(
	WEFT_BUFFER_RAN_MAX * sizeof(struct weft_abi_ran_row) <= WEFT_ABI_TABLE_MAX_BYTES, "ran");

/* Memory that is made in two passes: the first only counts the bytes. */
struct output {
	uint8_t *bytes;
	size_t size;
};

static void put(struct output *to, const void *bytes, size_t size)
{
	if (to->bytes)
		memcpy(to->bytes + to->size, bytes, size);
	to->size += size;
}

static void put_head(struct output *to, uint16_t number, enum weft_abi_table_cut cut,
	size_t row_bytes, uint32_t times, uint32_t count)
{
	const struct weft_abi_table table = {
		.number = number,
		.growth = WEFT_ABI_TABLE_GROWS,
		.cut = (uint8_t)cut,
		.row_bytes = (uint32_t)row_bytes,
		.room = count,
		.count = count,
		.times = times,
	};
	put(to, &table, sizeof(table));
}

static void put_sampling(struct output *to, const struct weft_buffer_sampling *sampling)
{
	struct weft_abi_sampling_row row = {
		.interval_ns = sampling->interval_ns,
		.lost = sampling->lost,
		.has_kernel = sampling->has_kernel,
	};
	if (sampling->denied)
		snprintf(row.denied, sizeof(row.denied), "%s", sampling->denied);
	put_head(to, WEFT_ABI_TABLE_sampling, WEFT_ABI_TABLE_WHOLE, sizeof(row), 0, 1);
	put(to, &row, sizeof(row));
}

struct weft_abi_code_row weft__format_ran_code(const struct weft_buffer_code *code)
{
	struct weft_abi_code_row row = {.caller = code->caller};
	const char *end = memchr(code->function, '\0', sizeof(row.function));
	memcpy(
		row.function, code->function, end ? (size_t)(end - code->function) : sizeof(row.function));
	return row;
}

static void put_codes(struct output *to, const struct weft_buffer_sampling *sampling)
{
	put_head(to, WEFT_ABI_TABLE_code, WEFT_ABI_TABLE_WHOLE, sizeof(struct weft_abi_code_row), 0,
		sampling->code_count);
	for (uint32_t i = 0; i < sampling->code_count; i++) {
		const struct weft_abi_code_row row = weft__format_ran_code(&sampling->codes[i]);
		put(to, &row, sizeof(row));
	}
}

/* The samples of the buffer's time. */
struct range {
	uint32_t first, end;
};

static struct range find_range(const struct weft_buffer_sampling *sampling,
	const struct weft__ticks *clock, const struct weft_abi_buffer *header)
{
	const uint64_t offset = (uint64_t)header->time_offset_ns;
	const uint64_t start = weft__format_ticks_to_ns(clock, header->start.ticks) - offset;
	const uint64_t last = header->end.ticks
							  ? weft__format_ticks_to_ns(clock, header->end.ticks) - offset
							  : UINT64_MAX;
	struct range range = {0, sampling->count};
	while (range.first < range.end && sampling->list[range.first].monotonic_ns < start)
		range.first++;
	while (range.end > range.first && sampling->list[range.end - 1].monotonic_ns > last)
		range.end--;
	return range;
}

static void put_ran(struct output *to, const struct weft_buffer_sampling *sampling,
	struct range range, const struct weft__buffer *buffer, const struct weft_abi_buffer *header)
{
	put_head(to, WEFT_ABI_TABLE_ran, WEFT_ABI_TABLE_IN_RANGE, sizeof(struct weft_abi_ran_row),
		WEFT_ABI_TIMES_ran, range.end - range.first);
	for (uint32_t i = range.first; i < range.end; i++) {
		const struct weft_buffer_ran *ran = &sampling->list[i];
		const struct weft_abi_ran_row row = {
			.time = weft__format_ticks_at(
				&buffer->clock, ran->monotonic_ns + (uint64_t)header->time_offset_ns),
			.thread = ran->thread,
			.code = ran->code,
		};
		put(to, &row, sizeof(row));
	}
}

/* Metrics may have been added before. */
static void put_others(struct output *to, const struct weft__buffer *buffer)
{
	struct weft__live_table tables[WEFT_ABI_TABLES_MAX];
	const uint32_t count = weft__format_tables_find_added(buffer, tables);
	for (uint32_t i = 0; i < count; i++) {
		const struct weft_abi_table *entry = &tables[i].entry;
		if (entry->number == WEFT_ABI_TABLE_sampling || entry->number == WEFT_ABI_TABLE_code ||
			entry->number == WEFT_ABI_TABLE_ran)
			continue;
		put(to, entry, sizeof(*entry));
		put(to, tables[i].rows, (size_t)entry->room * entry->row_bytes);
	}
}

static void put_all(struct output *to, const struct weft_buffer_sampling *sampling,
	struct range range, const struct weft__buffer *buffer, const struct weft_abi_buffer *header)
{
	to->size = 0;
	put_others(to, buffer);
	put_sampling(to, sampling);
	if (sampling->denied)
		return;
	put_codes(to, sampling);
	put_ran(to, sampling, range, buffer, header);
}

/* Where added tables are, or are to be. False if there is something else. */
static bool find_offset(const struct weft__buffer *buffer, const struct weft_abi_buffer *header,
	size_t size, uint64_t *ret_offset)
{
	struct weft__live_table tables[WEFT_ABI_TABLES_MAX];
	*ret_offset = header->added_bytes ? header->added_offset : ((uint64_t)size + 63) / 64 * 64;
	return !header->added_bytes || weft__format_tables_find_added(buffer, tables);
}

WEFT__EXPORT int weft_buffer_make_samples(const void *bytes, size_t size,
	const struct weft_buffer_sampling *sampling, void **ret_tables, size_t *ret_size,
	uint64_t *ret_offset)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {.format = "weft"};
	const struct weft__input input = {
		.bytes = bytes, .size = size, .diagnostics = &diagnostics, .description = &description};
	struct weft_abi_buffer header;
	struct weft__buffer buffer;
	struct output output = {0};
	if (sampling->count > WEFT_BUFFER_RAN_MAX || sampling->code_count > WEFT_BUFFER_CODES_MAX)
		return WEFT_ERROR_LIMIT;
	int error = weft__format_buffer_init(&buffer, &input);
	if (error)
		return error;
	memcpy(&header, bytes, sizeof(header));
	const struct range range = find_range(sampling, &buffer.clock, &header);
	if (!find_offset(&buffer, &header, size, ret_offset))
		error = WEFT_ERROR_DAMAGED;
	else if (range.first < range.end || sampling->denied) {
		put_all(&output, sampling, range, &buffer, &header);
		output.bytes = malloc(output.size);
		error = output.bytes ? 0 : WEFT_ERROR_MEMORY;
	}
	if (output.bytes)
		put_all(&output, sampling, range, &buffer, &header);
	weft__format_buffer_finish(&buffer);
	if (error)
		return error;
	*ret_tables = output.bytes;
	*ret_size = output.size;
	return 0;
}
