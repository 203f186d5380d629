/* SPDX-License-Identifier: ISC
 *
 * weft dump --spans: prints the spans of tasks and threads by their start, one on each line.
 */
#include "dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/model.h>

/* A span, and the task or thread to which it belongs; the other one is WEFT_NONE. */
struct span_row {
	struct weft_span span;
	uint32_t task, thread;
};

struct table {
	const struct weft_model *model;
	const struct dump_options *options;
	struct weft_text text;
};

static int compare(const void *left, const void *right)
{
	const struct span_row *l = left, *r = right;
	if (l->span.start != r->span.start)
		return l->span.start < r->span.start ? -1 : 1;
	if (l->task != r->task)
		return l->task < r->task ? -1 : 1;
	if (l->thread != r->thread)
		return l->thread < r->thread ? -1 : 1;
	if (l->span.depth != r->span.depth)
		return l->span.depth < r->span.depth ? -1 : 1;
	return l->span.end < r->span.end ? -1 : l->span.end > r->span.end;
}

/* All spans, by start; the caller frees them. NULL without memory. */
static struct span_row *list_rows(const struct weft_model *model, size_t *ret_count)
{
	size_t count = 0, at = 0;
	for (uint32_t task = 0; task < model->tasks.count; task++)
		count += weft_model_span_count(model, task);
	struct span_row *rows = calloc(count + 1, sizeof(*rows));
	if (!rows)
		return NULL;
	for (uint32_t task = 0; task < model->tasks.count; task++) {
		uint32_t thread = weft_model_track_thread(model, task);
		uint32_t owner = thread == WEFT_NONE ? task : WEFT_NONE;
		for (uint32_t i = 0, all = weft_model_span_count(model, task); i < all; i++)
			rows[at++] = (struct span_row){weft_model_span(model, task, i), owner, thread};
	}
	qsort(rows, count, sizeof(*rows), compare);
	*ret_count = count;
	return rows;
}

static uint32_t buffer_of(const struct weft_model *model, const struct span_row *row)
{
	return row->task == WEFT_NONE ? model->threads[row->thread].buffer
								  : model->tasks.buffer[row->task];
}

static bool is_track(const struct weft_model *model, const struct span_row *row)
{
	return row->task != WEFT_NONE && model->tasks.kind[row->task] == WEFT_KIND_TRACK;
}

/* How often Xen continued the hypercall that is this span: a tag at its start says it. 0: it is not
 * one. */
static uint64_t continuations_of(const struct weft_model *model, const struct span_row *row)
{
	static const char tag[] = "continuations";
	if (row->task == WEFT_NONE)
		return 0;
	uint32_t low = model->tasks.first_note[row->task], end = model->tasks.end_note[row->task];
	for (uint32_t high = end; low < high;) {
		uint32_t middle = low + (high - low) / 2;
		if (model->notes.time[middle] < row->span.start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < end && model->notes.time[low] == row->span.start; low++) {
		struct weft_slice text = weft_model_string(model, model->notes.text[low]);
		if (model->notes.type[low] == WEFT_NOTE_VALUE && text.size == sizeof(tag) - 1 &&
			memcmp(text.bytes, tag, text.size) == 0)
			return (uint64_t)model->notes.value[low];
	}
	return 0;
}

static void add_json(struct table *t, const struct span_row *row)
{
	const struct weft_model *model = t->model;
	struct weft_slice name = weft_model_string(model, row->span.name);
	uint32_t buffer = buffer_of(model, row);
	weft_text_add_string(&t->text, "{\"span\":");
	weft_text_add_json(&t->text, name.bytes, name.size);
	if (row->task == WEFT_NONE)
		cli_add_number(&t->text, ",\"task\":null,\"thread\":", row->thread);
	else
		cli_add_number(&t->text, ",\"task\":", model->tasks.id[row->task]);
	if (row->task != WEFT_NONE)
		weft_text_add_string(&t->text, ",\"thread\":null");
	if (is_track(model, row)) {
		struct weft_slice track = weft_model_string(model, model->tasks.label[row->task]);
		weft_text_add_string(&t->text, ",\"track\":");
		weft_text_add_json(&t->text, track.bytes, track.size);
	}
	cli_add_number(&t->text, ",\"start\":", row->span.start);
	cli_add_number(&t->text, ",\"end\":", row->span.end);
	cli_add_number(&t->text, ",\"depth\":", row->span.depth);
	if (row->span.is_at_most)
		weft_text_add_string(&t->text, ",\"at_most\":true");
	uint64_t continuations = continuations_of(model, row);
	if (continuations)
		cli_add_number(&t->text, ",\"continuations\":", continuations);
	if (model->buffer_count > 1) {
		cli_add_number(&t->text, ",\"process\":",
			weft_trace_buffer_at(model->buffers, model->buffer_count, buffer)->pid);
		cli_add_number(&t->text, ",\"buffer\":", buffer);
	}
	weft_text_add_string(&t->text, "}\n");
}

/* Appends " task 7", " thread 0" or " track "gpu 0"". */
static void add_owner(struct table *t, const struct span_row *row)
{
	const struct weft_model *model = t->model;
	if (is_track(model, row)) {
		struct weft_slice track = weft_model_string(model, model->tasks.label[row->task]);
		weft_text_add_string(&t->text, " track ");
		weft_text_add_quoted(&t->text, track.bytes, track.size);
		return;
	}
	weft_text_add_string(&t->text, row->task == WEFT_NONE ? " thread " : " task ");
	if (model->buffer_count > 1)
		cli_add_number(&t->text, "", buffer_of(model, row));
	weft_text_add_string(&t->text, model->buffer_count > 1 ? "/" : "");
	weft_text_add_u64(&t->text, row->task == WEFT_NONE ? row->thread : model->tasks.id[row->task]);
}

static void add_text(struct table *t, const struct span_row *row)
{
	const struct weft_model *model = t->model;
	struct weft_slice name = weft_model_string(model, row->span.name);
	dump_add_seconds(&t->text, row->span.start - model->summary.start);
	dump_add_seconds(&t->text, row->span.end - row->span.start);
	size_t column = t->text.size;
	add_owner(t, row);
	weft_text_pad(&t->text, column, 16);
	for (unsigned i = 0; i < row->span.depth; i++)
		weft_text_add_string(&t->text, "  ");
	weft_text_add_quoted(&t->text, name.bytes, name.size);
	weft_text_add_string(&t->text, row->span.is_at_most ? " (at most)\n" : "\n");
}

static int dump_rows(struct table *t)
{
	const struct dump_range range = dump_find_range(t->options, t->model->summary.start);
	size_t count;
	struct span_row *rows = list_rows(t->model, &count);
	if (!rows)
		return WEFT_ERROR_MEMORY;
	for (size_t i = 0; i < count; i++) {
		if (rows[i].span.end < range.start_ns)
			continue;
		if (rows[i].span.start >= range.end_ns && range.end_ns != UINT64_MAX)
			break;
		if (t->options->json)
			add_json(t, &rows[i]);
		else
			add_text(t, &rows[i]);
		if (t->text.size >= DUMP_BLOCK_BYTES && (!cli_write(&t->text) || !cli_progress_step(i)))
			break;
	}
	free(rows);
	if (t->text.size)
		cli_write(&t->text);
	return 0;
}

int dump_spans(const struct dump_options *options, const struct cli_trace *trace)
{
	struct weft_model *model = NULL;
	int error = cli_trace_build_model(trace, &model);
	if (error)
		return cli_trace_fail(trace, error);
	struct table table = {.model = model, .options = options};
	error = dump_rows(&table);
	weft_text_finish(&table.text);
	weft_model_destroy(model);
	return error ? cli_trace_fail(trace, error) : CLI_DONE;
}
