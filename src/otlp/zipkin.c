/* SPDX-License-Identifier: ISC
 *
 * Zipkin has no links: edges are annotations that name the other span.
 */
#include "otlp/zipkin.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define US 1000u

static void add_id(struct weft_text *text, const char *before, uint64_t high, uint64_t low)
{
	char digits[64];
	weft_text_add_string(text, before);
	if (high)
		snprintf(digits, sizeof(digits), "\"%016" PRIx64 "%016" PRIx64 "\"", high, low);
	else
		snprintf(digits, sizeof(digits), "\"%016" PRIx64 "\"", low);
	weft_text_add_string(text, digits);
}

static void add_number(struct weft_text *text, const char *before, uint64_t number)
{
	weft_text_add_string(text, before);
	weft_text_add_u64(text, number);
}

static void add_string(struct weft_text *text, const char *before, struct weft_slice string)
{
	weft_text_add_string(text, before);
	weft_text_add_json(text, string.bytes, string.size);
}

static struct weft_slice slice_of(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

static void add_tags(struct weft__otlp_writer *w, const struct weft__otlp_span *span)
{
	const struct weft_model *model = w->model;
	struct weft_text *text = &w->encoder.text;
	const char *kind = weft_model_kind_name(model, model->tasks.kind[span->task]);
	add_number(text, ",\"tags\":{\"weft.task\":\"", model->tasks.id[span->task]);
	weft_text_add_string(text, "\"");
	if (span->is_of_task) {
		add_string(text, ",\"weft.kind\":", slice_of(kind ? kind : "task"));
		add_string(text,
			",\"weft.outcome\":", slice_of(weft_outcome_key(model->tasks.outcome[span->task])));
	}
	if (span->is_unfinished)
		weft_text_add_string(text, ",\"weft.unfinished\":\"true\"");
	if (span->has_failed)
		add_string(text, ",\"error\":", span->error);
	weft_text_add_string(text, "}");
}

/* ---- Annotations ---- */

#define ANNOTATIONS_MAX 128u

static bool begin_annotation(struct weft__otlp_writer *w, uint32_t *count, uint64_t time_ns)
{
	struct weft_text *text = &w->encoder.text;
	if (*count == ANNOTATIONS_MAX) {
		w->summary.dropped++;
		return false;
	}
	weft_text_add_string(text, (*count)++ ? "," : ",\"annotations\":[");
	add_number(text, "{\"timestamp\":", weft__otlp_unix_ns(w, time_ns) / US);
	return true;
}

static void add_note(struct weft__otlp_writer *w, uint32_t *count, uint32_t note)
{
	char text[256];
	if (!begin_annotation(w, count, w->model->notes.time[note]))
		return;
	size_t size = weft_model_format_note(w->model, note, text, sizeof(text));
	size = size < sizeof(text) ? size : sizeof(text) - 1;
	add_string(&w->encoder.text, ",\"value\":", (struct weft_slice){text, size});
	weft_text_add_string(&w->encoder.text, "}");
}

static void add_edge(struct weft__otlp_writer *w, const struct weft__otlp_plan *plan,
	uint32_t *count, uint32_t edge, uint32_t self)
{
	const struct weft_edges *edges = &w->model->edges;
	const uint32_t other = plan->shown[edges->to[edge]];
	char text[64];
	if (edges->type[edge] >= WEFT_EDGE_TYPES || other == WEFT_NONE || other == self ||
		!begin_annotation(w, count, edges->time[edge]))
		return;
	snprintf(text, sizeof(text), "%s %016" PRIx64, weft_edge_name(edges->type[edge]),
		weft__otlp_plan_span(plan, other));
	add_string(&w->encoder.text, ",\"value\":", slice_of(text));
	weft_text_add_string(&w->encoder.text, "}");
}

/* The first label is the span's name. */
static void add_annotations(
	struct weft__otlp_writer *w, const struct weft__otlp_plan *plan, uint32_t task)
{
	const struct weft_tasks *tasks = &w->model->tasks;
	uint32_t count = 0;
	for (uint32_t i = tasks->first_note[task]; i < tasks->end_note[task]; i++)
		if (w->model->notes.type[i] != WEFT_NOTE_LABEL ||
			w->model->notes.text[i] != tasks->label[task])
			add_note(w, &count, i);
	for (uint32_t i = tasks->first_edge[task]; i < tasks->end_edge[task]; i++)
		add_edge(w, plan, &count, w->model->edges.by_actor[i], task);
	if (count)
		weft_text_add_string(&w->encoder.text, "]");
	w->summary.events += count;
}

void weft__otlp_write_zipkin(struct weft__otlp_writer *w, const struct weft__otlp_plan *plan,
	const struct weft__otlp_span *span)
{
	const struct weft_trace_buffer *buffer = weft_trace_buffer_at(
		w->model->buffers, w->model->buffer_count, w->model->tasks.buffer[span->task]);
	const uint64_t start = weft__otlp_unix_ns(w, span->start) / US;
	const uint64_t end = weft__otlp_unix_ns(w, span->end) / US;
	struct weft_text *text = &w->encoder.text;
	add_id(text, w->count > 1 ? ",{\"traceId\":" : "{\"traceId\":", span->trace.words[0],
		span->trace.words[1]);
	add_id(text, ",\"id\":", 0, span->id);
	if (span->parent)
		add_id(text, ",\"parentId\":", 0, span->parent);
	add_string(text, ",\"name\":", span->name);
	add_number(text, ",\"timestamp\":", start);
	if (!span->is_pending) /* Zipkin's durations are 1 us or more */
		add_number(text, ",\"duration\":", end > start ? end - start : 1);
	add_string(text, ",\"localEndpoint\":{\"serviceName\":",
		slice_of(buffer->process[0] ? buffer->process : "unknown_service"));
	weft_text_add_string(text, "}");
	add_tags(w, span);
	if (span->is_of_task)
		add_annotations(w, plan, span->task);
	weft_text_add_string(text, "}");
}
