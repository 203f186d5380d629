/* SPDX-License-Identifier: ISC
 *
 * A packet says how many events its thread had written and lost before it. If that is more than
 * were read, the difference is missing since the thread's previous packet. Overwritten events are
 * missing between the last event of that packet and this one; events that had no room were lost at
 * some time since that packet was opened.
 */
#include "format/weft/follow/gaps.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "abi/stream_abi.h"
#include "base/array.h"
#include "base/little_endian.h"

void weft__format_gaps_init(struct weft__gaps *gaps, bool is_stream, uint32_t piece,
	const struct weft_trace_description *description)
{
	*gaps = (struct weft__gaps){.is_stream = is_stream, .is_later = is_stream && piece > 1};
	gaps->unplaced = description->losses[is_stream ? WEFT_LOSS_STALLED : WEFT_LOSS_OVERWRITTEN];
	gaps->overwritten = is_stream ? description->losses[WEFT_LOSS_OVERWRITTEN] : 0;
}

void weft__format_gaps_finish(struct weft__gaps *gaps)
{
	free(gaps->list);
	free(gaps->threads);
	*gaps = (struct weft__gaps){0};
}

static int add(struct weft__gaps *gaps, const struct weft_loss_period *period,
	struct weft_trace_description *description)
{
	const struct weft__column column = {&gaps->list, sizeof(*gaps->list)};
	int error = weft__columns_reserve(&column, 1, &gaps->capacity, gaps->count + (size_t)1);
	if (error)
		return error;
	gaps->list[gaps->count++] = *period;
	description->loss_periods = gaps->list;
	description->loss_period_count = gaps->count;
	return 0;
}

/* The cause for which events had no room, if there is exactly one; else WEFT_LOSS_CAUSES. */
static uint8_t cause_of_rest(const struct weft_trace_description *description)
{
	int found = WEFT_LOSS_CAUSES;
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++) {
		if (cause == WEFT_LOSS_OVERWRITTEN || cause == WEFT_LOSS_STALLED ||
			cause == WEFT_LOSS_MISSING_PACKETS || cause == WEFT_LOSS_METRICS_FULL ||
			!description->losses[cause])
			continue;
		if (found != WEFT_LOSS_CAUSES)
			return WEFT_LOSS_CAUSES;
		found = cause;
	}
	return (uint8_t)found;
}

/* Adds a gap since the thread's previous packet. */
static int add_gap(struct weft__gaps *gaps, const struct weft__gap_packet *packet, uint64_t count,
	enum weft_loss cause, struct weft_trace_description *description)
{
	const struct weft_loss_period period = {
		.start = gaps->threads[packet->thread].last_ns,
		.end = packet->opened_ns,
		.count = count,
		.thread = packet->thread,
		.cause = (uint8_t)cause,
	};
	return count ? add(gaps, &period, description) : 0;
}

/* At most the overwritten events that are in no gap yet count as such. Others that are missing were
 * in a packet that is damaged. */
static int add_overwritten(struct weft__gaps *gaps, const struct weft__gap_packet *packet,
	struct weft_trace_description *description)
{
	const uint64_t missing = packet->number > packet->known ? packet->number - packet->known : 0;
	const uint64_t placed = missing < gaps->unplaced ? missing : gaps->unplaced;
	const uint64_t rest = missing - placed;
	const uint64_t overwritten = rest < gaps->overwritten ? rest : gaps->overwritten;
	const bool is_elsewhere = gaps->is_later && packet->known == 0;
	const uint64_t packets = rest > overwritten && !gaps->is_listed && !is_elsewhere;
	gaps->unplaced -= placed;
	gaps->overwritten -= overwritten;
	gaps->packets += packets;
	description->losses[WEFT_LOSS_MISSING_PACKETS] += packets;
	int error = add_gap(gaps, packet, placed,
		gaps->is_stream ? WEFT_LOSS_STALLED : WEFT_LOSS_OVERWRITTEN, description);
	if (!error)
		error = add_gap(gaps, packet, overwritten, WEFT_LOSS_OVERWRITTEN, description);
	if (!error)
		error = add_gap(gaps, packet, packets, WEFT_LOSS_MISSING_PACKETS, description);
	return error;
}

static int add_rest(struct weft__gaps *gaps, const struct weft__gap_packet *packet,
	struct weft_trace_description *description)
{
	const struct weft__gap_thread *thread = &gaps->threads[packet->thread];
	if (packet->lost <= thread->lost)
		return 0;
	return add(gaps,
		&(struct weft_loss_period){
			.start = thread->opened_ns,
			.end = packet->opened_ns,
			.count = packet->lost - thread->lost,
			.thread = packet->thread,
			.cause = cause_of_rest(description),
		},
		description);
}

#define AT(field) offsetof(struct weft_abi_lost, field)

int weft__format_gaps_take_list(struct weft__gaps *gaps, const struct weft__buffer *buffer,
	const struct weft__threads *threads, struct weft_trace_description *description)
{
	int error = 0;
	if (!buffer->stream || !buffer->stream->lost_count)
		return 0;
	gaps->unplaced = gaps->overwritten = 0;
	gaps->is_listed = true;
	const uint8_t *at = buffer->bytes + buffer->stream->lost_offset;
	for (uint32_t i = 0; !error && i < buffer->stream->lost_count; i++) {
		uint64_t start = weft__load_u64(at + AT(start_ticks));
		uint64_t end = weft__load_u64(at + AT(end_ticks));
		uint32_t cause = weft__load_u32(at + AT(cause));
		const struct weft_loss_period period = {
			.start = weft__format_ticks_to_ns(&buffer->clock, start),
			.end = weft__format_ticks_to_ns(&buffer->clock, end > start ? end : start),
			.count = weft__load_u64(at + AT(count)),
			.thread = weft__format_threads_index(threads, weft__load_u32(at + AT(thread))),
			.cause = (uint8_t)(cause < WEFT_LOSS_CAUSES ? cause : WEFT_LOSS_CAUSES),
		};
		error = add(gaps, &period, description);
		at += sizeof(struct weft_abi_lost);
	}
	return error;
}

static int reserve_thread(struct weft__gaps *gaps, uint32_t thread)
{
	const struct weft__column column = {&gaps->threads, sizeof(*gaps->threads)};
	size_t before = gaps->thread_capacity;
	int error = weft__columns_reserve(&column, 1, &gaps->thread_capacity, thread + (size_t)1);
	if (!error && gaps->thread_capacity > before)
		memset(
			gaps->threads + before, 0, (gaps->thread_capacity - before) * sizeof(*gaps->threads));
	return error;
}

int weft__format_gaps_take_packet(struct weft__gaps *gaps, const struct weft__gap_packet *packet,
	struct weft_trace_description *description)
{
	int error = reserve_thread(gaps, packet->thread);
	if (!error)
		error = add_overwritten(gaps, packet, description);
	if (!error)
		error = add_rest(gaps, packet, description);
	if (error)
		return error;
	struct weft__gap_thread *thread = &gaps->threads[packet->thread];
	thread->lost = packet->lost;
	thread->opened_ns = packet->opened_ns;
	return 0;
}

int weft__format_gaps_end_packet(struct weft__gaps *gaps, uint32_t thread, uint64_t ns)
{
	int error = reserve_thread(gaps, thread);
	if (!error)
		gaps->threads[thread].last_ns = ns;
	return error;
}

int weft__format_gaps_skip(struct weft__gaps *gaps, uint32_t thread, uint64_t lost)
{
	int error = reserve_thread(gaps, thread);
	if (!error)
		gaps->threads[thread].lost = lost;
	return error;
}
