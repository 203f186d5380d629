/* SPDX-License-Identifier: ISC
 *
 * How much a buffer holds. A closed packet knows; in an open one the events are stepped over.
 */
#include <weft/buffer.h>

#include <string.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "base/export.h"
#include "base/little_endian.h"
#include "format/weft_event.h"

#define AT(field) offsetof(struct weft_abi_packet, field)

static uint64_t count_events(const uint8_t *packet, uint32_t packet_bytes)
{
	uint32_t end = weft__load_u32(packet + AT(committed));
	uint64_t events = 0;
	struct weft__words words;
	if (end > packet_bytes)
		end = packet_bytes;
	for (uint32_t at = sizeof(struct weft_abi_packet); at < end; at += words.count * 8) {
		if (!weft__words_read(packet + at, end - at, &words))
			break;
		events += words.kind != WEFT_ABI_TIME && words.kind != WEFT_ABI_THREAD;
	}
	return events;
}

static void add_packet(struct weft_buffer_summary *s, const uint8_t *packet, uint32_t packet_bytes)
{
	uint64_t state = weft__load_u64(packet + AT(state)) & WEFT_ABI_PACKET_STATE;
	uint64_t before = weft__load_u64(packet + AT(before));
	uint64_t written = weft__load_u64(packet + AT(written));
	if (state == WEFT_ABI_PACKET_OPENING) {
		s->losses[WEFT_LOSS_OVERWRITTEN] += written;
		return;
	}
	s->losses[WEFT_LOSS_OVERWRITTEN] += before;
	if (state == WEFT_ABI_PACKET_OPEN)
		s->events += count_events(packet, packet_bytes);
	else if (written > before)
		s->events += written - before;
}

static void read_refused(struct weft_buffer_summary *s, const uint8_t *header)
{
	static const char *const steps[WEFT_ABI_STEPS] = {
		"start", "create", "allocate", "map", "start"};
	s->refused_count = weft__load_u32(header + offsetof(struct weft_abi_buffer, refused_count));
	for (uint32_t i = 0; i < WEFT_ABI_REFUSED; i++) {
		uint64_t word = weft__load_u64(header + offsetof(struct weft_abi_buffer, refused) + 8 * i);
		uint64_t step = word >> 48;
		s->refused[i] = (struct weft_buffer_refusal){
			(uint32_t)word, (int)(word >> 32 & 0xffff), steps[step < WEFT_ABI_STEPS ? step : 0]};
	}
}

WEFT__EXPORT int weft_buffer_summarize(
	const void *bytes, size_t size, struct weft_buffer_summary *ret_summary)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {.format = "weft"};
	const struct weft__input input = {bytes, size, &diagnostics, &description, NULL};
	struct weft__buffer buffer;
	if (!weft__buffer_probe(bytes, size))
		return size ? WEFT_ERROR_FORMAT : WEFT_ERROR_EMPTY;
	int error = weft__buffer_init(&buffer, &input);
	if (error)
		return error;
	struct weft_buffer_summary summary = {.pid = buffer.pid};
	memcpy(summary.program, buffer.program, sizeof(summary.program));
	memcpy(summary.losses, description.losses, sizeof(summary.losses));
	summary.start_unix_ns = weft__load_u64(buffer.header + offsetof(struct weft_abi_buffer, start) +
										   offsetof(struct weft_abi_moment, unix_ns));
	summary.is_stopped = weft__load_u32(buffer.header + offsetof(struct weft_abi_buffer, stopped));
	summary.stop_reason =
		(int)weft__load_u32(buffer.header + offsetof(struct weft_abi_buffer, stop_reason));
	read_refused(&summary, buffer.header);
	for (uint32_t i = 0; i < buffer.packet_count; i++)
		add_packet(&summary, weft__buffer_packet(&buffer, i), buffer.packet_bytes);
	*ret_summary = summary;
	return 0;
}
