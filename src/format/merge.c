/* SPDX-License-Identifier: ISC
 *
 * Merges the events of several decoders by time: a heap has the next event of each part. A part
 * that has no event for now (WEFT_AGAIN) holds up the events from its mark on, because its next
 * event may be an earlier one; without a mark, it holds up all.
 *
 * Parts that are still being fed begin together, when each of them knows its clock, so that all are
 * converted from the same readings.
 *
 * Numbers of buffers and threads follow the parts: those of the first part come first. Threads that
 * a part finds later get the next free numbers.
 */
#include "format/merge.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "format/decoder.h"
#include "format/merged.h"

/* ---- The heap ---- */

/* Equal times are in the order of parts. */
static bool is_before(const struct weft__merge *m, uint32_t a, uint32_t b)
{
	uint64_t time_a = m->parts[a].event.time_ns, time_b = m->parts[b].event.time_ns;
	return time_a != time_b ? time_a < time_b : a < b;
}

static void sink(struct weft__merge *m, uint32_t at)
{
	uint32_t part = m->heap[at];
	for (uint32_t child; (child = 2 * at + 1) < m->heap_count; at = child) {
		if (child + 1 < m->heap_count && is_before(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (is_before(m, part, m->heap[child]))
			break;
		m->heap[at] = m->heap[child];
	}
	m->heap[at] = part;
}

static void push(struct weft__merge *m, uint32_t part)
{
	uint32_t at = m->heap_count++;
	for (; at && is_before(m, part, m->heap[(at - 1) / 2]); at = (at - 1) / 2)
		m->heap[at] = m->heap[(at - 1) / 2];
	m->heap[at] = part;
}

static void remove_first(struct weft__merge *m)
{
	m->heap[0] = m->heap[--m->heap_count];
	if (m->heap_count)
		sink(m, 0);
}

/* ---- Beginning ---- */

/* WEFT_OK if all parts can begin, WEFT_AGAIN if one needs more bytes, or WEFT_ERROR_MEMORY. */
static int prepare_parts(const struct weft__merge *m)
{
	int all = WEFT_OK;
	for (uint32_t i = 0; i < m->count; i++) {
		int status = weft__format_decoder_prepare(m->parts[i].decoder);
		if (status == WEFT_ERROR_MEMORY)
			return status;
		if (status == WEFT_AGAIN)
			all = WEFT_AGAIN;
	}
	return all;
}

/* Gives the clock readings that the parts have in common to those that have not begun. */
static int share_readings(struct weft__merge *m)
{
	struct weft__identity *identities = calloc(m->count, sizeof(*identities));
	size_t count = 0;
	m->readings = calloc(1, sizeof(*m->readings));
	for (uint32_t i = 0; identities && i < m->count; i++)
		count += weft__format_decoder_identify(m->parts[i].decoder, &identities[count]);
	int error = identities && m->readings
					? weft__format_share_readings(identities, count, m->readings)
					: WEFT_ERROR_MEMORY;
	free(identities);
	for (uint32_t i = 0; !error && i < m->count; i++)
		weft__format_decoder_share_readings(m->parts[i].decoder, m->readings);
	return error;
}

/* Starts the parts that were fed since the merge was created. Other errors than those of memory end
 * a part, see fetch(). */
static int start_parts(struct weft__merge *m)
{
	bool has_new = false;
	for (uint32_t i = 0; i < m->count; i++)
		has_new |= !weft__format_decoder_has_started(m->parts[i].decoder);
	int error = has_new && m->count > 1 ? share_readings(m) : 0;
	for (uint32_t i = 0; !error && i < m->count; i++)
		if (weft__format_decoder_start(m->parts[i].decoder) == WEFT_ERROR_MEMORY)
			error = WEFT_ERROR_MEMORY;
	return error;
}

/* The parts have one clock; formats may differ. */
static int take_part(struct weft__merge *m, uint32_t number)
{
	struct weft_trace_description *description = m->base.input.description;
	struct weft__merged_part *part = &m->parts[number];
	const struct weft_trace_description *d = weft_decoder_describe(part->decoder);
	if (number == 0) {
		description->clock = d->clock;
		if (part->shift && d->clock.offset_ns)
			description->clock.offset_ns =
				weft__format_difference(d->clock.offset_ns, part->shift->offset_ns);
	}
	if (number == 0 || strcmp(description->format, d->format) == 0)
		description->format = d->format;
	else
		description->format = weft__format_merge.name;
	m->waiting[number] = number;
	int error = d->buffer_count || d->thread_count ? weft__format_merge_take_buffers(m, part) : 0;
	return error ? error : weft__format_merge_take_threads(m, part);
}

/* WEFT_OK, WEFT_AGAIN if the parts cannot begin yet, or WEFT_ERROR_MEMORY. */
static int begin_merge(struct weft__merge *m)
{
	int status = prepare_parts(m);
	if (status == WEFT_OK)
		status = start_parts(m);
	if (status != WEFT_OK)
		return status;
	m->waiting_count = m->count;
	for (uint32_t i = 0; i < m->count && !status; i++)
		status = take_part(m, i);
	if (!status)
		status = weft__format_merge_name_domains(m);
	if (!status)
		status = weft__format_merge_describe(m);
	m->has_begun = !status;
	return status;
}

/* ---- Events ---- */

static void shift_event(const struct weft__shift *shift, struct weft_event *event)
{
	event->time_ns = weft__format_shift(shift, event->time_ns);
	if (event->type != WEFT_EVENT_SPAN)
		return;
	event->begin_ns = weft__format_shift(shift, event->begin_ns);
	event->end_ns = weft__format_shift(shift, event->end_ns);
}

/* Gets the part's next event. A part that cannot be read any further ends like others; its own
 * diagnostics say why. */
static int fetch(struct weft__merge *m, uint32_t number)
{
	struct weft__merged_part *part = &m->parts[number];
	int status = weft_decoder_next(part->decoder, &part->event);
	part->is_kept = false;
	if (status != WEFT_OK)
		weft__format_merge_copy_buffers(m, part);
	if (status == WEFT_AGAIN || status == WEFT_END || status == WEFT_ERROR_MEMORY)
		return status;
	if (status != WEFT_OK) {
		weft_diagnostics_add(m->base.input.diagnostics, WEFT_PART_OFFSET(number, 0),
			"this file cannot be read any further");
		return WEFT_END;
	}
	shift_event(part->shift, &part->event);
	int error = weft__format_merge_take_buffers(m, part);
	return error ? error : weft__format_merge_take_threads(m, part);
}

/* From the part's mark on, events have to wait for it. */
static void wait_for(struct weft__merge *m, uint32_t number)
{
	const struct weft__merged_part *part = &m->parts[number];
	uint64_t mark_ns = weft_decoder_mark(part->decoder);
	mark_ns = mark_ns ? weft__format_shift(part->shift, mark_ns) : 0;
	m->waiting[m->waiting_count++] = number;
	if (mark_ns < m->limit_ns)
		m->limit_ns = mark_ns;
}

/* Replaces the event that was given last by the next one of its part. */
static int pass_given(struct weft__merge *m)
{
	uint32_t number = m->heap[0];
	int status = fetch(m, number);
	m->has_given = false;
	if (status == WEFT_OK) {
		sink(m, 0);
		return WEFT_OK;
	}
	remove_first(m);
	if (status == WEFT_AGAIN)
		wait_for(m, number);
	return status < 0 ? status : WEFT_OK;
}

/* Asks each waiting part once. */
static int fetch_waiting(struct weft__merge *m)
{
	uint32_t count = m->waiting_count;
	int status = WEFT_OK;
	m->waiting_count = 0;
	m->limit_ns = UINT64_MAX;
	for (uint32_t i = 0; i < count && status >= 0; i++) {
		uint32_t number = m->waiting[i];
		status = fetch(m, number);
		if (status == WEFT_OK)
			push(m, number);
		if (status == WEFT_AGAIN)
			wait_for(m, number);
	}
	return status < 0 ? status : WEFT_OK;
}

/* True if no waiting part can still have an event at or before the first one in the heap. */
static bool is_first_due(const struct weft__merge *m)
{
	return m->heap_count && (!m->waiting_count || m->parts[m->heap[0]].event.time_ns < m->limit_ns);
}

/* Copies the texts of events in the heap, because the caller may feed their decoders. */
static int keep_events(struct weft__merge *m)
{
	int error = 0;
	for (uint32_t i = 0; i < m->heap_count && !error; i++) {
		struct weft__merged_part *part = &m->parts[m->heap[i]];
		if (!part->is_kept)
			error = weft__format_keep(&part->kept, &part->event);
		part->is_kept = !error;
	}
	return error;
}

/* WEFT_OK if the first event in the heap is due, WEFT_AGAIN, WEFT_END or WEFT_ERROR_MEMORY. */
static int advance(struct weft__merge *m)
{
	int status = m->has_begun ? WEFT_OK : begin_merge(m);
	if (status == WEFT_OK && m->has_given)
		status = pass_given(m);
	if (status == WEFT_OK && !is_first_due(m))
		status = fetch_waiting(m);
	if (status != WEFT_OK || is_first_due(m))
		return status;
	int error = keep_events(m);
	if (!error)
		error = weft__format_merge_describe(m);
	if (error)
		return error;
	return m->waiting_count ? WEFT_AGAIN : WEFT_END;
}

static int next(struct weft__reader *reader, struct weft_event *ret_event)
{
	struct weft__merge *m = (struct weft__merge *)reader;
	int status = advance(m);
	if (status != WEFT_OK)
		return status;
	const uint32_t number = m->heap[0];
	const struct weft__merged_part *part = &m->parts[number];
	*ret_event = part->event;
	ret_event->thread = weft__format_merge_thread_of(part, part->event.thread);
	ret_event->buffer = part->first_buffer + part->event.buffer;
	ret_event->name_id = 0; /* the files of one stream have names of their own, but one buffer */
	ret_event->offset = WEFT_PART_OFFSET(number, part->event.offset);
	/* A part may give an event that is earlier than its mark, if it is damaged. */
	if (ret_event->time_ns < m->given_ns)
		ret_event->time_ns = m->given_ns;
	m->given_ns = ret_event->time_ns;
	m->has_given = true;
	return WEFT_OK;
}

static int seek_part(struct weft__merged_part *part, uint64_t time_ns)
{
	uint64_t own_ns = weft__format_shift_back(part->shift, time_ns);
	own_ns -= part->shift && own_ns; /* it is rounded */
	return weft__format_decoder_seek(part->decoder, own_ns, &part->is_alone);
}

/* Replaces the events in the heap that are alone now, because the later ones of their thread are
 * left out. `first` is the position of the first one that may be alone. */
static int replace_alone(struct weft__merge *m, uint32_t first)
{
	for (uint32_t at = first; at < m->heap_count;) {
		const uint32_t number = m->heap[at];
		int status = m->parts[number].is_alone ? fetch(m, number) : WEFT_OK;
		if (status < 0)
			return status;
		if (status == WEFT_OK)
			at++;
		else
			m->heap[at] = m->heap[--m->heap_count];
	}
	for (uint32_t at = m->heap_count; at > 0; at--)
		sink(m, at - 1);
	return WEFT_OK;
}

/* The parts' decoders may forget the texts of the events in the heap. */
static int seek(struct weft__reader *reader, uint64_t time_ns, bool *ret_follows_given)
{
	struct weft__merge *m = (struct weft__merge *)reader;
	int status = keep_events(m);
	for (uint32_t i = 0; i < m->count && !status; i++)
		if (seek_part(&m->parts[i], time_ns) == WEFT_ERROR_MEMORY)
			status = WEFT_ERROR_MEMORY;
	*ret_follows_given = m->has_given && m->parts[m->heap[0]].is_alone;
	return status ? status : replace_alone(m, m->has_given);
}

static void close_merge(struct weft__reader *reader)
{
	struct weft__merge *m = (struct weft__merge *)reader;
	for (uint32_t i = 0; m->parts && i < m->count; i++)
		weft__format_kept_finish(&m->parts[i].kept);
	weft__format_merge_finish_tables(m);
	free(m->readings);
	free(m->heap);
	free(m->waiting);
	free(m->parts);
	free(m);
}

const struct weft__format weft__format_merge = {
	.name = "several",
	.next = next,
	.seek = seek,
	.close = close_merge,
};

/* ---- Opening ---- */

int weft__format_merge_create(const struct weft_decoder_part *parts, size_t count,
	const struct weft__input *input, struct weft__reader **ret_reader)
{
	struct weft__merge *m = calloc(1, sizeof(*m));
	if (!m)
		return WEFT_ERROR_MEMORY;
	m->base.input = *input;
	m->count = (uint32_t)count;
	m->parts = calloc(count + 1, sizeof(*m->parts));
	m->heap = malloc((count + 1) * sizeof(*m->heap));
	m->waiting = malloc((count + 1) * sizeof(*m->waiting));
	int status =
		m->parts && m->heap && m->waiting ? weft__index_init(&m->by_number) : WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count && !status; i++) {
		m->parts[i].decoder = parts[i].decoder;
		m->parts[i].shift = weft__format_decoder_shift_of(parts[i].decoder);
		m->parts[i].name = parts[i].name ? parts[i].name : "";
	}
	if (!status)
		status = begin_merge(m);
	if (status < 0) {
		close_merge(&m->base);
		return status;
	}
	*ret_reader = &m->base;
	return 0;
}

uint64_t weft__format_merge_mark(const struct weft__reader *reader)
{
	const struct weft__merge *m = (const struct weft__merge *)reader;
	return m->has_begun && m->waiting_count ? m->limit_ns : 0;
}

bool weft__format_merge_is_pending(const struct weft__reader *reader)
{
	const struct weft__merge *m = (const struct weft__merge *)reader;
	for (uint32_t i = 0; i < m->count; i++)
		if (weft_decoder_is_pending(m->parts[i].decoder))
			return true;
	return m->heap_count;
}

double weft__format_merge_part(const struct weft__reader *reader)
{
	const struct weft__merge *m = (const struct weft__merge *)reader;
	double read = 0, all = 0;
	for (uint32_t i = 0; i < m->count; i++) {
		double bytes = (double)weft__format_decoder_bytes(m->parts[i].decoder);
		read += bytes * weft_decoder_part(m->parts[i].decoder);
		all += bytes;
	}
	return all > 0 ? read / all : 0;
}
