/* SPDX-License-Identifier: ISC
 *
 * Counts what a buffer holds. A closed packet's header says how many events it has; those of an
 * open packet are counted one by one.
 */
#include <weft/buffer.h>

#include <string.h>

#include "abi/buffer_abi.h"
#include "base/export.h"
#include "base/little_endian.h"
#include "format/weft/packet.h"

#define PROCESSES_MAX (1u << 22) /* process numbers are smaller */
#define ERRORS_MAX    133u       /* EHWPOISON */

static void add_packet(
	struct weft_buffer_summary *s, const struct weft__buffer *buffer, uint32_t index)
{
	struct weft_abi_packet header;
	enum weft__verdict verdict = weft__format_packet_read(buffer, index, &header);
	s->losses[WEFT_LOSS_OVERWRITTEN] += weft__format_packet_gone(buffer, index);
	if (!weft__format_packet_is_readable(verdict))
		return;
	if (weft__format_packet_state(&header) == WEFT_ABI_PACKET_CLOSED)
		s->events += header.written > header.before ? header.written - header.before : 0;
	else if (verdict == WEFT__PACKET_WHOLE)
		s->events += weft__format_cursor_count(weft__format_packet_cursor(buffer, index, &header));
}

/* Forked children can write what they like there, so only what a process may have stored counts:
 * numbers of processes and of errors as Linux has them. */
static bool read_refusal(uint64_t word, struct weft_buffer_refusal *ret)
{
	static const char *const steps[WEFT_ABI_STEPS] = {
		"start", "create", "allocate", "map", "start"};
	const uint32_t pid = (uint32_t)word, reason = word >> 32 & 0xffff, step = word >> 48;
	if (pid == 0 || pid > PROCESSES_MAX || reason == 0 || reason > ERRORS_MAX)
		return false;
	*ret = (struct weft_buffer_refusal){pid, (int)reason, steps[step < WEFT_ABI_STEPS ? step : 0]};
	return true;
}

static void read_refused(struct weft_buffer_summary *s, const uint8_t *header)
{
	uint32_t count = weft__load_u32(header + offsetof(struct weft_abi_buffer, refused_count));
	const uint32_t listed = count < WEFT_ABI_REFUSED ? count : WEFT_ABI_REFUSED;
	for (uint32_t i = 0; i < listed; i++)
		s->refused_count +=
			read_refusal(weft__load_u64(header + offsetof(struct weft_abi_buffer, refused) + 8 * i),
				&s->refused[s->refused_count]);
	if (s->refused_count == WEFT_ABI_REFUSED && count <= PROCESSES_MAX)
		s->refused_count = count;
}

WEFT__EXPORT int weft_buffer_summarize(
	const void *bytes, size_t size, struct weft_buffer_summary *ret_summary)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {.format = "weft"};
	const struct weft__input input = {
		.bytes = bytes, .size = size, .diagnostics = &diagnostics, .description = &description};
	struct weft__buffer buffer;
	if (!weft__format_buffer_probe(bytes, size))
		return size ? WEFT_ERROR_FORMAT : WEFT_ERROR_EMPTY;
	int error = weft__format_buffer_init(&buffer, &input);
	if (error)
		return error;
	struct weft_buffer_summary summary = {.pid = buffer.pid};
	memcpy(summary.program, buffer.program, sizeof(summary.program));
	memcpy(summary.losses, description.losses, sizeof(summary.losses));
	summary.start_unix_ns = weft__load_u64(buffer.header + offsetof(struct weft_abi_buffer, start) +
										   offsetof(struct weft_abi_clock_reading, unix_ns));
	summary.is_stopped = weft__load_u32(buffer.header + offsetof(struct weft_abi_buffer, stopped));
	summary.stop_reason =
		(int)weft__load_u32(buffer.header + offsetof(struct weft_abi_buffer, stop_reason));
	read_refused(&summary, buffer.header);
	for (uint32_t i = 0; i < buffer.packet_count; i++)
		add_packet(&summary, &buffer, i);
	weft__format_buffer_finish(&buffer);
	*ret_summary = summary;
	return 0;
}
