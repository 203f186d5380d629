/* SPDX-License-Identifier: ISC
 *
 * Cuts in one pass: events before the range update the state, events in the range are written as
 * they come, and the rundown comes last, since it has to know which tasks the range names. Readers
 * order packets by times and sequences, so they read the rundown first.
 */
#include <weft/cut.h>

#include <stdlib.h>
#include <string.h>

#include "abi/buffer_abi.h"
#include "abi/category_abi.h"
#include "abi/event_abi.h"
#include "abi/name_abi.h"
#include "abi/stream_abi.h"
#include "base/export.h"
#include "export/cut_alive.h"
#include "export/cut_clock.h"
#include "export/cut_encode.h"
#include "export/cut_rundown.h"
#include "export/cut_state.h"
#include "export/cut_tables.h"

struct weft_cut {
	struct weft_cut_range range;
	char source[256];
	struct weft__chunks chunks;
	struct weft__cut_names names;
	struct weft__cut_packets packets;
	struct weft__alive alive;
	const struct weft_trace_description *whole; /* has the losses; NULL: the caller's */
	uint64_t start_ns;                          /* the first time that is written */
	uint64_t last_ns;                           /* time of the last event that was added */
	uint64_t events, rundown;
	uint32_t rundown_thread; /* thread of the rundown's last event */
	bool has_past;           /* events came before the range */
	bool has_future;         /* events came after the range */
	bool has_begun;          /* the header is written */
};

WEFT__EXPORT int weft_cut_create(const struct weft_cut_range *range, const char *source,
	const struct weft_cut_sink *sink, struct weft_cut **ret_cut)
{
	struct weft_cut *cut = calloc(1, sizeof(*cut));
	if (!cut)
		return WEFT_ERROR_MEMORY;
	cut->range = *range;
	cut->has_past = range->read_ns > 0;
	cut->chunks.sink = *sink;
	size_t size = source ? strlen(source) : 0;
	if (size)
		memcpy(cut->source, source, size < sizeof(cut->source) ? size : sizeof(cut->source) - 1);
	int error = weft__export_cut_names_init(&cut->names, &cut->chunks);
	if (!error)
		error = weft__export_alive_init(&cut->alive);
	weft__export_cut_packets_init(&cut->packets, &cut->chunks, &cut->names);
	if (error)
		weft_cut_destroy(cut);
	else
		*ret_cut = cut;
	return error;
}

WEFT__EXPORT void weft_cut_destroy(struct weft_cut *cut)
{
	if (!cut)
		return;
	weft__export_cut_packets_finish(&cut->packets);
	weft__export_cut_names_finish(&cut->names);
	weft__export_alive_finish(&cut->alive);
	free(cut);
}

static int name_category(struct weft_cut *cut, const struct weft_trace_category *category,
	struct weft_abi_buffer *header)
{
	const struct weft_slice name = {category->name, strlen(category->name)};
	const struct weft_slice text = {category->description, strlen(category->description)};
	uint16_t name_id, text_id;
	int error = weft__export_cut_name(&cut->names, name, &name_id);
	if (!error)
		error = weft__export_cut_name(&cut->names, text, &text_id);
	if (!error && category->number < WEFT_ABI_LEVELS) {
		weft__abi_store_level(header, category->number, category->level);
		header->categories[category->number] = WEFT_ABI_CATEGORY(name_id, text_id);
	}
	return error;
}

/* Names a line "FIRST\tSECOND" of the buffer's description, as in the table of names: a prefix,
 * which ends with a NUL, and the two with a NUL in between. */
static int name_line(struct weft_cut *cut, struct weft_slice prefix, const char *line, size_t size)
{
	char text[WEFT_ABI_NAME_MAX_BYTES];
	const char *tab = memchr(line, '\t', size);
	uint16_t id;
	if (!tab || size > sizeof(text) - prefix.size)
		return 0;
	memcpy(text, prefix.bytes, prefix.size);
	memcpy(text + prefix.size, line, size);
	text[prefix.size + (size_t)(tab - line)] = '\0';
	return weft__export_cut_name(&cut->names, (struct weft_slice){text, prefix.size + size}, &id);
}

static int name_lines(struct weft_cut *cut, struct weft_slice prefix, const char *lines)
{
	const char *end;
	int error = 0;
	for (; !error && lines && (end = strchr(lines, '\n')); lines = end + 1)
		error = name_line(cut, prefix, lines, (size_t)(end - lines));
	return error;
}

/* Copies the newest level changes up to the range's end. */
static void describe_changes(const struct weft_cut *cut, const struct weft_trace_description *trace,
	struct weft_abi_buffer *header)
{
	for (uint32_t i = 0; i < trace->change_count; i++) {
		const struct weft_trace_change *change = &trace->changes[i];
		if (change->time_ns >= cut->range.end_ns)
			break;
		header->changes[i % WEFT_ABI_CHANGES] = (struct weft_abi_change){
			.ticks = weft__export_cut_ticks(trace, change->time_ns),
			.category = change->category,
			.level = change->level,
			.number = i + 1,
		};
		header->changes_count = i + 1;
	}
}

/* True if the losses lie in the range. Losses before a trace's first event count for a cut that
 * begins there, too. */
static bool is_in_range(const struct weft_cut *cut, const struct weft_loss_period *period)
{
	if (period->start == period->end && period->end <= cut->range.start_ns)
		return !cut->has_past;
	return period->start < cut->range.end_ns &&
		   (period->end > cut->range.start_ns || !cut->has_past);
}

/* The losses of the range. Losses without known times are part of every cut. */
static uint64_t losses_of_range(
	const struct weft_cut *cut, const struct weft_trace_description *trace, unsigned cause)
{
	uint64_t known = 0, inside = 0, total = trace->losses[cause];
	for (uint32_t i = 0; i < trace->loss_period_count; i++) {
		const struct weft_loss_period *period = &trace->loss_periods[i];
		bool is_inside = is_in_range(cut, period);
		if (period->cause == WEFT_LOSS_CAUSES && is_inside)
			return total;
		if (period->cause != cause)
			continue;
		known += period->count;
		inside += is_inside ? period->count : 0;
	}
	return known < total ? inside + (total - known) : inside;
}

static int write_losses(struct weft_cut *cut, const struct weft_trace_description *trace)
{
	uint32_t count = 0;
	int error = 0;
	for (uint32_t i = 0; i < trace->loss_period_count; i++)
		count += is_in_range(cut, &trace->loss_periods[i]);
	if (count)
		error = weft__export_chunks_begin(
			&cut->chunks, WEFT_ABI_CHUNK_LOST, 0, count * sizeof(struct weft_abi_lost));
	for (uint32_t i = 0; !error && count && i < trace->loss_period_count; i++) {
		const struct weft_loss_period *period = &trace->loss_periods[i];
		const struct weft_abi_lost lost = {
			.start_ticks = weft__export_cut_ticks(trace, period->start),
			.end_ticks = weft__export_cut_ticks(trace, period->end),
			.count = period->count,
			.thread = period->thread + 1,
			.cause = period->cause,
		};
		if (is_in_range(cut, period))
			error = weft__export_chunks_append(&cut->chunks, &lost, sizeof(lost));
	}
	return error;
}

static int write_tables(struct weft_cut *cut, const struct weft_trace_description *trace)
{
	return weft__export_cut_tables_write(&(struct weft__cut_tables){
		.chunks = &cut->chunks,
		.names = &cut->names,
		.trace = trace,
		.range = cut->range,
		.is_whole = !cut->has_past && !cut->has_future,
	});
}

static void describe_process(const struct weft_trace_buffer *buffer, struct weft_abi_buffer *header)
{
	header->pid = (uint32_t)buffer->pid;
	header->guest = buffer->guest;
	strncpy(header->program, buffer->process, sizeof(header->program) - 1);
	strncpy(header->host, buffer->host, sizeof(header->host) - 1);
	memcpy(header->boot_id, buffer->boot_id, sizeof(header->boot_id));
	memcpy(header->uuid, buffer->uuid, sizeof(header->uuid));
}

/* The record ends with the range, unless the program's own record ends before that. */
static void describe_end(const struct weft_cut *cut, const struct weft_trace_description *trace,
	const struct weft_trace_buffer *buffer, struct weft_abi_buffer *header)
{
	uint64_t end = buffer->end_ns;
	header->ending = buffer->ending;
	header->wait_status = buffer->wait_status;
	if (cut->has_future || end > cut->range.end_ns) {
		header->ending = WEFT_ABI_ENDING_CUT;
		header->wait_status = 0;
		end = cut->range.end_ns;
	}
	header->end.ticks = end ? weft__export_cut_ticks(trace, end) : 0;
	header->end.monotonic_ns = trace->ticks ? 0 : end; /* it is not a reading of the clock */
}

static int describe(struct weft_cut *cut, const struct weft_trace_description *trace,
	struct weft_abi_buffer *header)
{
	int error = 0;
	*header = (struct weft_abi_buffer){
		.version = WEFT_ABI_VERSION,
		.header_bytes = sizeof(*header),
		.packet_bytes = WEFT__CUT_PACKET_BYTES,
		.packets_offset = sizeof(*header),
		.stream = 1,
		.stopped = 1,
	};
	memcpy(header->magic, WEFT_ABI_MAGIC, sizeof(header->magic));
	memcpy(header->source, cut->source, sizeof(header->source));
	weft__export_cut_clock_describe(trace, cut->start_ns, header);
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		header->losses[cause] = losses_of_range(cut, trace, cause);
	const struct weft_trace_buffer *buffer =
		weft_trace_buffer_at(trace->buffers, trace->buffer_count, 0);
	header->has_categories = cut->alive.has_categories = buffer->has_categories;
	describe_process(buffer, header);
	describe_end(cut, trace, buffer, header);
	for (uint32_t i = 0; !error && i < trace->category_count; i++)
		error = name_category(cut, &trace->categories[i], header);
	const struct weft_slice code = {WEFT_ABI_LINE_PREFIX, WEFT_ABI_CODE_PREFIX_BYTES};
	const struct weft_slice unseen = {WEFT_ABI_UNSEEN_PREFIX, WEFT_ABI_UNSEEN_PREFIX_BYTES};
	if (!error)
		error = name_lines(cut, code, buffer->code);
	if (!error)
		error = name_lines(cut, unseen, buffer->unseen);
	describe_changes(cut, trace, header);
	return error;
}

/* Writes the header: preliminary at the beginning, and corrected at the end, as a chunk. */
static int begin_cut(struct weft_cut *cut, const struct weft_trace_description *trace)
{
	struct weft_abi_buffer header;
	cut->has_begun = true;
	int error = describe(cut, trace, &header);
	return error ? error : weft__export_chunks_append(&cut->chunks, &header, sizeof(header));
}

/* The format can describe one program in one buffer. */
static bool is_one_buffer(const struct weft_trace_description *trace)
{
	return trace->buffer_count <= 1;
}

static int write_event(struct weft_cut *cut, const struct weft_event *event)
{
	const struct weft_trace_description *trace = cut->packets.trace;
	struct weft__cut_words words;
	struct weft__cut_thread *thread;
	int error = weft__export_cut_packets_thread(&cut->packets, event->thread, &thread);
	if (error)
		return error;
	weft_task_id task = thread->task;
	const struct weft__cut_time time = {event->time_ns, weft__export_cut_event_ticks(trace, event)};
	error = weft__export_cut_encode(event, trace, &cut->names, &task, &words);
	if (!error)
		error = weft__export_cut_packets_add(&cut->packets, event->thread, time, &words);
	thread->task = task;
	return error;
}

/* A metric without room is no event that is missing at some time. */
static bool has_losses(const struct weft_trace_description *trace)
{
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		if (trace->losses[cause] && cause != WEFT_LOSS_METRICS_FULL)
			return true;
	return false;
}

WEFT__EXPORT int weft_cut_add(struct weft_cut *cut, const struct weft_event *event,
	const struct weft_trace_description *trace)
{
	if (event->time_ns < cut->last_ns || !weft_event_describe(event->type)->name)
		return WEFT_ERROR_ARGUMENT;
	if (event->buffer)
		return WEFT_ERROR_UNSUPPORTED;
	cut->last_ns = event->time_ns;
	if (event->time_ns < cut->range.start_ns) {
		cut->has_past = true;
		return weft__export_alive_add(&cut->alive, event);
	}
	if (event->time_ns >= cut->range.end_ns && cut->range.end_ns != UINT64_MAX) {
		cut->has_future = true;
		return has_losses(trace) ? WEFT_OK : WEFT_END; /* losses are only known after the gap */
	}
	if (!cut->has_begun) {
		cut->start_ns = cut->has_past ? cut->range.start_ns : event->time_ns;
		int error = is_one_buffer(trace) ? begin_cut(cut, trace) : WEFT_ERROR_UNSUPPORTED;
		if (error)
			return error;
	}
	cut->packets.trace = trace;
	int error = weft__export_alive_name(&cut->alive, event);
	if (!error && cut->has_past)
		error = weft__export_alive_name_counter(&cut->alive, event);
	cut->events += event->type != WEFT_EVENT_TOTAL;
	return error ? error : write_event(cut, event);
}

WEFT__EXPORT int weft_cut_flush(
	struct weft_cut *cut, uint64_t mark_ns, const struct weft_trace_description *trace)
{
	if (cut->has_past || !is_one_buffer(trace))
		return WEFT_ERROR_UNSUPPORTED;
	if (!cut->has_begun)
		return 0;
	cut->packets.trace = trace;
	int error = weft__export_cut_packets_flush_all(&cut->packets);
	if (error)
		return error;
	return weft__export_chunks_begin(
		&cut->chunks, WEFT_ABI_CHUNK_MARK, weft__export_cut_ticks(trace, mark_ns), 0);
}

WEFT__EXPORT int weft_cut_add_state(struct weft_cut *cut, const struct weft_event *event)
{
	struct weft_event own = *event;
	if (event->buffer || cut->has_begun)
		return WEFT_ERROR_ARGUMENT;
	own.name_id = 0; /* of another trace's names */
	cut->has_past = true;
	return weft__export_alive_add(&cut->alive, &own);
}

static int add_rundown(void *context, const struct weft_event *event)
{
	struct weft_cut *cut = context;
	int error = 0;
	/* Rundown packets have one sequence and are read in the order of the file, so a thread's must
	 * be written before the next thread's. */
	if (event->thread != cut->rundown_thread && cut->rundown_thread < cut->packets.thread_count)
		error = weft__export_cut_packets_flush(&cut->packets, cut->rundown_thread);
	cut->rundown_thread = event->thread;
	cut->rundown++;
	return error ? error : write_event(cut, event);
}

static int write_rundown(struct weft_cut *cut, const struct weft_trace_description *trace)
{
	const struct weft__rundown_sink sink = {add_rundown, cut};
	weft__export_cut_packets_rewind(&cut->packets);
	uint64_t start_ns = weft__export_cut_round(trace, cut->range.start_ns);
	const struct weft__rundown_past past = {cut->whole ? cut->whole : trace, cut->range.read_ns};
	int error = weft__export_rundown_write(&cut->alive, &past, start_ns, &sink);
	if (!error)
		error = weft__export_cut_packets_flush_all(&cut->packets);
	for (uint32_t i = 0; !error && i < trace->thread_count; i++)
		error = weft__export_cut_packets_declare(
			&cut->packets, i, weft__export_cut_ticks(trace, cut->start_ns));
	return error;
}

WEFT__EXPORT int weft_cut_finish(struct weft_cut *cut, const struct weft_trace_description *trace)
{
	struct weft_abi_buffer header;
	int error = is_one_buffer(trace) ? 0 : WEFT_ERROR_UNSUPPORTED;
	if (!error && !cut->has_begun) {
		cut->start_ns = cut->has_past ? cut->range.start_ns : cut->last_ns;
		error = begin_cut(cut, trace);
	}
	cut->packets.trace = trace;
	if (!error)
		error = weft__export_cut_packets_flush_all(&cut->packets);
	if (!error)
		error = write_rundown(cut, trace);
	if (!error)
		error = write_losses(cut, trace);
	if (!error)
		error = write_tables(cut, trace);
	if (!error)
		error = describe(cut, trace, &header);
	if (!error)
		error = weft__export_cut_names_flush(&cut->names);
	if (!error)
		error = weft__export_chunks_begin(&cut->chunks, WEFT_ABI_CHUNK_HEADER, 0, sizeof(header));
	return error ? error : weft__export_chunks_append(&cut->chunks, &header, sizeof(header));
}

int weft__export_cut_state(struct weft_cut *cut, uint64_t time_ns, const struct weft_cut_sink *sink,
	const struct weft_trace_description *trace, const struct weft_trace_description *whole)
{
	weft__export_cut_packets_finish(&cut->packets);
	weft__export_cut_names_finish(&cut->names);
	cut->chunks = (struct weft__chunks){.sink = *sink};
	int error = weft__export_cut_names_init(&cut->names, &cut->chunks);
	weft__export_cut_packets_init(&cut->packets, &cut->chunks, &cut->names);
	const struct weft_cut_range range = cut->range;
	cut->range = (struct weft_cut_range){.start_ns = time_ns, .end_ns = time_ns};
	cut->whole = whole;
	cut->rundown_thread = 0;
	if (!error)
		error = weft_cut_finish(cut, trace);
	cut->range = range;
	cut->has_begun = false;
	return error;
}

struct weft__alive *weft__export_cut_alive(struct weft_cut *cut)
{
	return &cut->alive;
}

WEFT__EXPORT struct weft_cut_summary weft_cut_summarize(const struct weft_cut *cut)
{
	return (struct weft_cut_summary){cut->events, cut->rundown, cut->chunks.bytes};
}
