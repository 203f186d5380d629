/* SPDX-License-Identifier: ISC */
#include "perfetto/tasks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct weft_slice slice_of(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

static const char *kind_name(const struct weft_model *model, uint32_t task)
{
	const char *name = weft_model_kind_name(model, model->tasks.kind[task]);
	return name ? name : "task";
}

struct weft_slice weft__perfetto_task_name(
	const struct weft_model *model, uint32_t task, char *room, size_t size)
{
	const struct weft_slice label = weft_model_string(model, model->tasks.label[task]);
	if (label.size)
		return label;
	snprintf(room, size, "%s %" PRIu64, kind_name(model, task), model->tasks.id[task]);
	return slice_of(room);
}

/* ---- Slices ---- */

static void begin_slice(
	struct weft__perfetto_writer *w, uint64_t track, uint64_t time_ns, struct weft_slice name)
{
	weft__perfetto_begin_event(w, time_ns, WEFT__PERFETTO_BEGIN, track);
	weft__otlp_put_text(&w->encoder, WEFT__PERFETTO_EVENT_NAME, name);
}

static void end_slice(struct weft__perfetto_writer *w, uint64_t track, uint64_t time_ns)
{
	weft__perfetto_begin_event(w, time_ns, WEFT__PERFETTO_END, track);
	weft__perfetto_end(w);
}

static void annotate_text(struct weft__perfetto_writer *w, const char *name, struct weft_slice text)
{
	const struct weft_field field = {
		.name = slice_of(name), .type = WEFT_FIELD_TEXT, .value.text = text};
	if (text.size)
		weft__perfetto_annotate(w, &field);
}

static void begin_task(struct weft__perfetto_writer *w, uint32_t task, uint64_t track)
{
	const struct weft_tasks *tasks = &w->model->tasks;
	const struct weft_field id = {
		.name = slice_of("weft.task"), .type = WEFT_FIELD_U64, .value.u64 = tasks->id[task]};
	char room[64];
	begin_slice(
		w, track, tasks->start[task], weft__perfetto_task_name(w->model, task, room, sizeof(room)));
	weft__perfetto_annotate(w, &id);
	annotate_text(w, "weft.kind", slice_of(kind_name(w->model, task)));
	annotate_text(w, "weft.outcome", slice_of(weft_outcome_key(tasks->outcome[task])));
	annotate_text(w, "weft.error", weft_model_string(w->model, tasks->message[task]));
	weft__perfetto_end(w);
}

/* ---- Spans ---- */

static int by_start(const void *left, const void *right)
{
	const struct weft_span *l = left, *r = right;
	if (l->start != r->start)
		return l->start < r->start ? -1 : 1;
	return l->depth - r->depth;
}

/* Each begin comes after the ends of what is not around it. */
static void write_sorted(
	struct weft__perfetto_writer *w, uint64_t track, const struct weft_span *spans, uint32_t count)
{
	uint64_t ends[256];
	unsigned depth = 0;
	for (uint32_t i = 0; i < count; i++) {
		while (depth > spans[i].depth)
			end_slice(w, track, ends[--depth]);
		begin_slice(w, track, spans[i].start, weft_model_string(w->model, spans[i].name));
		weft__perfetto_end(w);
		if (depth < 256)
			ends[depth++] = spans[i].end;
	}
	while (depth > 0)
		end_slice(w, track, ends[--depth]);
}

static void write_spans(struct weft__perfetto_writer *w, uint32_t task, uint64_t track)
{
	const uint32_t count = weft_model_span_count(w->model, task);
	struct weft_span *spans = count ? malloc(count * sizeof(*spans)) : NULL;
	if (count && !spans)
		w->error = WEFT_ERROR_MEMORY;
	if (!spans)
		return;
	for (uint32_t i = 0; i < count; i++)
		spans[i] = weft_model_span(w->model, task, i);
	qsort(spans, count, sizeof(*spans), by_start);
	write_sorted(w, track, spans, count);
	free(spans);
}

/* ---- Remarks ---- */

static void write_note(struct weft__perfetto_writer *w, uint64_t track, uint32_t note)
{
	const struct weft_model *model = w->model;
	const uint32_t count = weft_model_attribute_count(model, note);
	weft__perfetto_begin_event(w, model->notes.time[note], WEFT__PERFETTO_INSTANT, track);
	weft__otlp_put_text(
		&w->encoder, WEFT__PERFETTO_EVENT_NAME, weft_model_string(model, model->notes.text[note]));
	for (uint32_t i = 0; i < count; i++) {
		const struct weft_field field = weft_model_attribute(model, note, i);
		weft__perfetto_annotate(w, &field);
	}
	weft__perfetto_end(w);
}

/* The first label is the slice's name; changes of counters are on the counters' tracks. */
static void write_notes(struct weft__perfetto_writer *w, uint32_t task, uint64_t track)
{
	const struct weft_model *model = w->model;
	bool is_named = false;
	for (uint32_t i = model->tasks.first_note[task]; i < model->tasks.end_note[task]; i++) {
		if (!is_named && model->notes.type[i] == WEFT_NOTE_LABEL &&
			model->notes.text[i] == model->tasks.label[task])
			is_named = true;
		else if (model->notes.type[i] < WEFT_NOTE_CHANGE)
			write_note(w, track, i);
	}
}

void weft__perfetto_write_task(struct weft__perfetto_writer *w, uint32_t task)
{
	const struct weft_tasks *tasks = &w->model->tasks;
	const uint64_t track = weft__perfetto_track(WEFT__PERFETTO_OF_TASK, task);
	weft__perfetto_begin_track(w, track,
		weft__perfetto_track(WEFT__PERFETTO_OF_BUFFER, tasks->buffer[task]),
		slice_of(kind_name(w->model, task)));
	weft__perfetto_end(w);
	begin_task(w, task, track);
	write_spans(w, task, track);
	write_notes(w, task, track);
	end_slice(w, track, tasks->end[task]);
}

/* ---- Flows ---- */

static void write_end(struct weft__perfetto_writer *w, uint64_t time_ns, uint32_t task,
	const char *name, unsigned field, uint64_t flow)
{
	weft__perfetto_begin_event(
		w, time_ns, WEFT__PERFETTO_INSTANT, weft__perfetto_track(WEFT__PERFETTO_OF_TASK, task));
	weft__otlp_put_string(&w->encoder, WEFT__PERFETTO_EVENT_NAME, name);
	weft__otlp_put_integer(&w->encoder, field, flow);
	weft__perfetto_end(w);
}

void weft__perfetto_write_flow(struct weft__perfetto_writer *w, uint64_t flow, const char *name,
	uint32_t from, uint64_t from_ns, uint32_t to, uint64_t to_ns)
{
	write_end(w, from_ns, from, name, WEFT__PERFETTO_EVENT_FLOW, flow);
	write_end(w, to_ns, to, name, WEFT__PERFETTO_EVENT_LAST_OF_FLOW, flow);
}
