/* SPDX-License-Identifier: ISC
 *
 * Adds the alert to a snapshot of a buffer. A program's buffer has no room for it, so that programs
 * need not carry what few of them use: the packets move, and the table follows the other tables.
 */
#include <weft/buffer.h>

#include <string.h>

#include "abi/buffer_abi.h"
#include "base/export.h"
#include "format/weft/tables.h"

struct addition {
	struct weft_abi_table entry;
	struct weft_abi_alert_row row;
	uint64_t end; /* of the list: no further table */
};

_Static_assert(sizeof(struct addition) <= WEFT_BUFFER_ALERT_BYTES, "room");

static void put_text(char *to, size_t size, const char *from)
{
	const char *end = memchr(from, '\0', size);
	size_t length = end ? (size_t)(end - from) : size;
	memcpy(to, from, length);
	memset(to + length, 0, size - length);
}

/* Ticks are exact: the clock's rate is known better now than when the time was computed. */
static uint64_t time_of(const struct weft__buffer *b, const struct weft_abi_buffer *header,
	const struct weft_trace_alert *alert)
{
	if (alert->ticks)
		return alert->ticks;
	return alert->time_ns ? weft__format_ticks_at(&b->clock, alert->time_ns) : header->end.ticks;
}

static void fill(struct addition *to, const struct weft__buffer *b,
	const struct weft_abi_buffer *header, const struct weft_trace_alert *alert)
{
	*to = (struct addition){
		.entry =
			{
				.number = WEFT_ABI_TABLE_alert,
				.growth = WEFT_ABI_TABLE_GROWS,
				.cut = WEFT_ABI_TABLE_IN_RANGE,
				.row_bytes = sizeof(to->row),
				.room = 1,
				.count = 1,
				.times = WEFT_ABI_TIMES_alert,
				.names = WEFT_ABI_NAMES_alert,
			},
		.row.time = time_of(b, header, alert),
		.row.task = alert->task == WEFT_TASK_NONE ? 0 : alert->task,
	};
	put_text(to->row.name, sizeof(to->row.name), alert->name);
	put_text(to->row.rule, sizeof(to->row.rule), alert->rule);
	put_text(to->row.value, sizeof(to->row.value), alert->value);
}

WEFT__EXPORT int weft_buffer_add_alert(
	void *copy, size_t size, const struct weft_trace_alert *alert)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {.format = "weft"};
	const struct weft__input input = {
		.bytes = copy, .size = size, .diagnostics = &diagnostics, .description = &description};
	struct weft_abi_buffer *header = copy;
	struct weft__buffer buffer;
	struct addition addition;
	int error = weft__format_buffer_init(&buffer, &input);
	if (error)
		return error;
	const uint64_t packets = buffer.packets_offset, at = weft__format_tables_end(&buffer);
	fill(&addition, &buffer, header, alert);
	weft__format_buffer_finish(&buffer);
	if (at == UINT64_MAX)
		return WEFT_ERROR_DAMAGED;
	uint8_t *bytes = copy;
	memmove(bytes + packets + WEFT_BUFFER_ALERT_BYTES, bytes + packets, size - packets);
	memset(bytes + packets, 0, WEFT_BUFFER_ALERT_BYTES);
	memcpy(bytes + at, &addition, sizeof(addition));
	if (!header->tables_bytes)
		header->tables_offset = packets;
	header->tables_bytes = packets + WEFT_BUFFER_ALERT_BYTES - header->tables_offset;
	header->packets_offset = packets + WEFT_BUFFER_ALERT_BYTES;
	header->buffer_bytes += WEFT_BUFFER_ALERT_BYTES;
	if (header->added_bytes && header->added_offset >= packets)
		header->added_offset += WEFT_BUFFER_ALERT_BYTES;
	return 0;
}
