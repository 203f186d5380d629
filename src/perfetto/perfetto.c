/* SPDX-License-Identifier: ISC
 *
 * All tracks and events of a model. A process without a pid, as in foreign formats, is a track with
 * a name, because Perfetto's processes and threads need numbers.
 */
#include <weft/perfetto.h>

#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "perfetto/samples.h"
#include "perfetto/tasks.h"

static const struct weft__otlp_field fields[] = {
#define FIELD(id, number, type) {number, WEFT__OTLP_##type, false, NULL},
#include "perfetto/fields.def"
#undef FIELD
};

static struct weft_slice slice_of(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

static const struct weft_trace_buffer *buffer_at(const struct weft_model *model, uint32_t number)
{
	return weft_trace_buffer_at(model->buffers, model->buffer_count, number);
}

/* ---- Processes and threads ---- */

static void write_buffer(struct weft__perfetto_writer *w, uint32_t number)
{
	const struct weft_trace_buffer *buffer = buffer_at(w->model, number);
	char name[256];
	weft_trace_format_process(
		w->model->buffers, w->model->buffer_count, number, name, sizeof(name));
	weft__perfetto_begin_track(
		w, weft__perfetto_track(WEFT__PERFETTO_OF_BUFFER, number), 0, slice_of(name));
	if (buffer->pid) {
		weft__otlp_begin(&w->encoder, WEFT__PERFETTO_TRACK_PROCESS);
		weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_PROCESS_PID, buffer->pid & INT32_MAX);
		weft__otlp_put_string(
			&w->encoder, WEFT__PERFETTO_PROCESS_NAME, buffer->process[0] ? buffer->process : name);
		weft__otlp_end(&w->encoder);
	}
	weft__perfetto_end(w);
}

static void write_thread(struct weft__perfetto_writer *w, uint32_t number)
{
	const struct weft_trace_thread *thread = &w->model->threads[number];
	const struct weft_trace_buffer *buffer = buffer_at(w->model, thread->buffer);
	const char *name = thread->name[0] ? thread->name : "thread";
	weft__perfetto_begin_track(w, weft__perfetto_track(WEFT__PERFETTO_OF_THREAD, number),
		weft__perfetto_track(WEFT__PERFETTO_OF_BUFFER, thread->buffer), slice_of(name));
	if (buffer->pid && thread->tid) {
		weft__otlp_begin(&w->encoder, WEFT__PERFETTO_TRACK_THREAD);
		weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_THREAD_PID, buffer->pid & INT32_MAX);
		weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_THREAD_TID, thread->tid & INT32_MAX);
		weft__otlp_put_string(&w->encoder, WEFT__PERFETTO_THREAD_NAME, name);
		weft__otlp_end(&w->encoder);
	}
	weft__perfetto_end(w);
}

static void write_activation(struct weft__perfetto_writer *w, uint32_t task, uint32_t number)
{
	const struct weft_activations *activations = &w->model->activations;
	const uint64_t track =
		weft__perfetto_track(WEFT__PERFETTO_OF_THREAD, activations->thread[number]);
	char room[64];
	weft__perfetto_begin_event(w, activations->start[number], WEFT__PERFETTO_BEGIN, track);
	weft__otlp_put_text(&w->encoder, WEFT__PERFETTO_EVENT_NAME,
		weft__perfetto_task_name(w->model, task, room, sizeof(room)));
	weft__perfetto_end(w);
	weft__perfetto_begin_event(w, activations->end[number], WEFT__PERFETTO_END, track);
	weft__perfetto_end(w);
}

static void write_band(
	struct weft__perfetto_writer *w, const struct weft_band_period *band, uint32_t number)
{
	const uint64_t track = weft__perfetto_track(WEFT__PERFETTO_OF_BANDS, number);
	const struct weft_slice reason = weft_model_string(w->model, band->reason);
	const struct weft_slice kind = slice_of(weft_band_name(band->kind));
	weft__perfetto_begin_track(
		w, track, weft__perfetto_track(WEFT__PERFETTO_OF_THREAD, band->thread), kind);
	weft__perfetto_end(w);
	weft__perfetto_begin_event(w, band->start, WEFT__PERFETTO_BEGIN, track);
	weft__otlp_put_text(&w->encoder, WEFT__PERFETTO_EVENT_NAME, reason.size ? reason : kind);
	weft__perfetto_end(w);
	weft__perfetto_begin_event(w, band->end, WEFT__PERFETTO_END, track);
	weft__perfetto_end(w);
}

/* Bands of a thread may overlap its activations, so they have tracks of their own below it: one for
 * each kind, and one for each band that overlaps an earlier one of its kind. */
static void write_bands(struct weft__perfetto_writer *w)
{
	const struct weft_model *model = w->model;
	const uint32_t tracks = 2 * model->thread_count;
	uint64_t *ends = calloc(tracks + (size_t)1, sizeof(*ends));
	if (!ends)
		w->error = WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; !w->error && i < model->band_count; i++) {
		const struct weft_band_period *band = &model->bands[i];
		const uint32_t track = 2 * band->thread + (band->kind == WEFT_BAND_GC);
		const bool overlaps = band->start < ends[track];
		write_band(w, band, overlaps ? tracks + i : track);
		if (!overlaps)
			ends[track] = band->end;
	}
	free(ends);
}

/* ---- Counters ---- */

static void write_counter(struct weft__perfetto_writer *w, uint32_t number)
{
	const struct weft_model *model = w->model;
	const struct weft_counter *counter = &model->counters[number];
	const uint64_t track = weft__perfetto_track(WEFT__PERFETTO_OF_COUNTER, number);
	weft__perfetto_begin_track(w, track,
		weft__perfetto_track(WEFT__PERFETTO_OF_BUFFER, counter->buffer),
		weft_model_string(model, counter->name));
	weft__otlp_begin(&w->encoder, WEFT__PERFETTO_TRACK_COUNTER);
	weft__otlp_end(&w->encoder);
	weft__perfetto_end(w);
	for (uint32_t i = counter->first; i < counter->first + counter->count; i++) {
		const struct weft_number value = weft_counter_number(model, counter, i);
		weft__perfetto_begin_event(w, model->samples.time[i], WEFT__PERFETTO_COUNTER, track);
		if (value.is_real)
			weft__otlp_put_real(&w->encoder, WEFT__PERFETTO_EVENT_REAL, value.real);
		else
			weft__otlp_put_integer(
				&w->encoder, WEFT__PERFETTO_EVENT_INTEGER, (uint64_t)value.integer);
		weft__perfetto_end(w);
	}
}

/* ---- Edges ---- */

/* A value flows from the task that is read to the reader, from when it was there. */
static void write_edge(struct weft__perfetto_writer *w, uint32_t edge, uint32_t *message)
{
	const struct weft_edges *edges = &w->model->edges;
	const uint8_t type = edges->type[edge];
	uint32_t from = edges->from[edge], to = edges->to[edge];
	uint64_t start = edges->time[edge];
	const bool is_read =
		type == WEFT_EDGE_READ || type == WEFT_EDGE_TRY_READ || type == WEFT_EDGE_WAIT_ANY;
	if (type == WEFT_EDGE_RECEIVE && *message < edges->sent_count)
		start = edges->sent[(*message)++];
	if (from == WEFT_NONE || from == to || type >= WEFT_EDGE_TYPES)
		return;
	if (is_read) {
		from = edges->to[edge];
		to = edges->from[edge];
		const uint64_t end = w->model->tasks.end[from];
		start = end < start ? end : start;
	}
	start = start < edges->time[edge] ? start : edges->time[edge];
	weft__perfetto_write_flow(
		w, edge + UINT64_C(1), weft_edge_name(type), from, start, to, edges->time[edge]);
}

/* ---- Everything ---- */

static void write_tracks(struct weft__perfetto_writer *w)
{
	const struct weft_model *model = w->model;
	const uint32_t buffers = model->buffer_count ? model->buffer_count : 1;
	for (uint32_t i = 0; !w->error && i < buffers; i++)
		write_buffer(w, i);
	for (uint32_t i = 0; !w->error && i < model->thread_count; i++)
		write_thread(w, i);
}

static void write_tasks(struct weft__perfetto_writer *w)
{
	const struct weft_tasks *tasks = &w->model->tasks;
	for (uint32_t t = 0; !w->error && t < tasks->count; t++) {
		weft__perfetto_write_task(w, t);
		for (uint32_t i = tasks->first_activation[t]; i < tasks->end_activation[t]; i++)
			write_activation(w, t, i);
	}
}

static void write_rest(struct weft__perfetto_writer *w)
{
	const struct weft_model *model = w->model;
	uint32_t message = 0;
	for (uint32_t i = 0; !w->error && i < model->edges.count; i++)
		write_edge(w, i, &message);
	write_bands(w);
	for (uint32_t i = 0; !w->error && i < model->counter_count; i++)
		write_counter(w, i);
	if (!w->error)
		weft__perfetto_write_samples(w);
}

WEFT__EXPORT int weft_perfetto_write(
	const struct weft_model *model, const struct weft_perfetto_sink *sink)
{
	struct weft__perfetto_writer w = {.model = model, .sink = sink, .encoder.fields = fields};
	write_tracks(&w);
	write_tasks(&w);
	write_rest(&w);
	const int error = weft__perfetto_flush(&w);
	weft_text_finish(&w.encoder.text);
	return error;
}
