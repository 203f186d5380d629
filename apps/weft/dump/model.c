/* SPDX-License-Identifier: ISC
 *
 * weft dump --tasks and --edges: prints tables of the model and the layout, one row on each line.
 */
#include "dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/duration.h>
#include <weft/layout.h>
#include <weft/model.h>

struct tables {
	const struct weft_model *model;
	const struct weft_layout *layout;
	const struct dump_options *options;
	struct dump_range range;
	struct weft_text text;
	uint32_t messages;    /* edges of type receive so far */
	bool was_interrupted; /* before the output began: then everything that was read is printed */
};

static void add_string(struct weft_text *text, const struct weft_model *model, uint32_t string)
{
	struct weft_slice slice = weft_model_string(model, string);
	weft_text_add_json(text, slice.bytes, slice.size);
}

static void add_json_string(struct tables *t, const char *key, uint32_t string)
{
	weft_text_add_string(&t->text, key);
	if (string == WEFT_NONE)
		weft_text_add_string(&t->text, "null");
	else
		add_string(&t->text, t->model, string);
}

/* Appends an id as text: "17", or "2/17" if the trace has several buffers. */
static void add_id(struct tables *t, const char *key, uint32_t task)
{
	weft_text_add_string(&t->text, key);
	if (t->model->buffer_count > 1) {
		weft_text_add_u64(&t->text, t->model->tasks.buffer[task]);
		weft_text_add_string(&t->text, "/");
	}
	weft_text_add_u64(&t->text, t->model->tasks.id[task]);
}

/* Appends the task's process if the trace has several. */
static void add_json_process(struct tables *t, uint32_t task)
{
	const struct weft_model *model = t->model;
	uint32_t buffer = model->tasks.buffer[task];
	if (model->buffer_count <= 1)
		return;
	cli_add_number(&t->text,
		",\"process\":", weft_trace_buffer_at(model->buffers, model->buffer_count, buffer)->pid);
	cli_add_number(&t->text, ",\"buffer\":", buffer);
}

static void add_process(struct tables *t, uint32_t task)
{
	const struct weft_model *model = t->model;
	char name[128];
	if (model->buffer_count <= 1)
		return;
	weft_trace_format_process(
		model->buffers, model->buffer_count, model->tasks.buffer[task], name, sizeof(name));
	weft_text_add_string(&t->text, " process=");
	weft_text_add_quoted(&t->text, name, strlen(name));
}

static void add_json_bool(struct tables *t, const char *key, bool value)
{
	weft_text_add_string(&t->text, key);
	weft_text_add_string(&t->text, value ? "true" : "false");
}

static void add_json_kind(struct tables *t, const char *key, unsigned kind)
{
	const char *name = weft_model_kind_name(t->model, kind);
	weft_text_add_string(&t->text, key);
	if (name)
		weft_text_add_json(&t->text, name, strlen(name));
	else
		weft_text_add_u64(&t->text, kind);
}

/* Appends the task's category if it is known. */
static void add_json_category(struct tables *t, uint32_t task)
{
	const char *name = weft_model_category_name(t->model, weft_model_category(t->model, task));
	if (!name)
		return;
	cli_add_json(&t->text, ",\"category\":", name);
}

/* For people "program" goes without saying. */
static void add_category(struct tables *t, uint32_t task)
{
	uint32_t category = weft_model_category(t->model, task);
	const char *name = weft_model_category_name(t->model, category);
	if (!name || category == WEFT_CATEGORY_PROGRAM)
		return;
	weft_text_add_string(&t->text, " category=");
	weft_text_add_quoted(&t->text, name, strlen(name));
}

static uint32_t activation_count(const struct weft_tasks *tasks, uint32_t task)
{
	return tasks->end_activation[task] - tasks->first_activation[task];
}

static void add_task_json(struct tables *t, uint32_t task)
{
	const struct weft_tasks *tasks = &t->model->tasks;
	unsigned flags = tasks->flags[task];
	uint64_t created;
	cli_add_number(&t->text, "{\"task\":", tasks->id[task]);
	add_json_kind(t, ",\"kind\":", tasks->kind[task]);
	add_json_category(t, task);
	add_json_string(t, ",\"label\":", tasks->label[task]);
	cli_add_task(&t->text, ",\"parent\":", t->model, t->layout->parent[task]);
	cli_add_number(&t->text, ",\"start\":", t->layout->start[task]);
	cli_add_number(&t->text, ",\"end\":", tasks->end[task]);
	add_json_bool(t, ",\"resolved\":", flags & WEFT_TASK_RESOLVED);
	weft_text_add_string(&t->text, ",\"outcome\":\"");
	weft_text_add_string(&t->text, weft_outcome_key((enum weft_outcome)tasks->outcome[task]));
	add_json_string(t, "\",\"failed\":", tasks->message[task]);
	cli_add_task(&t->text, ",\"becomes\":", t->model, tasks->becomes[task]);
	cli_add_number(&t->text, ",\"running\":", weft_model_running_ns(t->model, task));
	if (weft_model_off_cpu_ns(t->model, task))
		cli_add_number(&t->text, ",\"off_cpu\":", weft_model_off_cpu_ns(t->model, task));
	cli_add_number(&t->text, ",\"activations\":", activation_count(tasks, task));
	add_json_bool(t, ",\"expected\":", flags & WEFT_TASK_EXPECTED);
	cli_add_number(&t->text, ",\"row\":", t->layout->row[task]);
	if ((flags & (WEFT_TASK_FROM_RUNDOWN | WEFT_TASK_CREATED)) == WEFT_TASK_FROM_RUNDOWN &&
		weft_model_creation(t->model, task, &created))
		cli_add_number(&t->text, ",\"created\":", created);
	add_json_process(t, task);
	weft_text_add_string(&t->text, "}\n");
}

/* An expected task without an end counts as failed here: its message says which it is. */
static const char *outcome(const struct weft_tasks *tasks, uint32_t task)
{
	bool failed = tasks->flags[task] & WEFT_TASK_FAILED;
	return weft_outcome_key(failed ? WEFT_OUTCOME_FAILED : (enum weft_outcome)tasks->outcome[task]);
}

/* Appends the creation in seconds from the trace's start, usually negative. */
static void add_created(struct tables *t, uint32_t task)
{
	uint64_t created, start = t->model->summary.start;
	char cell[48];
	unsigned flags = t->model->tasks.flags[task];
	if ((flags & (WEFT_TASK_FROM_RUNDOWN | WEFT_TASK_CREATED)) != WEFT_TASK_FROM_RUNDOWN ||
		!weft_model_creation(t->model, task, &created))
		return;
	uint64_t ns = created < start ? start - created : created - start;
	int length = snprintf(cell, sizeof(cell), " created=%s%llu.%09llu", created < start ? "-" : "",
		(unsigned long long)(ns / 1000000000), (unsigned long long)(ns % 1000000000));
	weft_text_add(&t->text, cell, (size_t)length);
}

/* Appends what stands in columns: from its times to its parent. */
static void add_task_columns(struct tables *t, uint32_t task)
{
	const struct weft_tasks *tasks = &t->model->tasks;
	struct weft_text *text = &t->text;
	uint64_t start = t->layout->start[task];
	dump_add_seconds(text, start - t->model->summary.start);
	dump_add_seconds(text, tasks->end[task] - start);
	size_t column = text->size;
	add_id(t, " ", task);
	weft_text_pad(text, column, 8);
	const char *kind = weft_model_kind_name(t->model, tasks->kind[task]);
	if (kind)
		weft_text_add_shown(text, kind, strlen(kind));
	else
		weft_text_add_u64(text, tasks->kind[task]);
	weft_text_pad(text, column, 24);
	weft_text_add_string(text, outcome(tasks, task));
	weft_text_pad(text, column, 36);
	cli_add_number(&t->text, "row=", t->layout->row[task]);
	weft_text_pad(text, column, 45);
	if (t->layout->parent[task] != WEFT_NONE)
		add_id(t, "parent=", t->layout->parent[task]);
	else
		weft_text_add_string(text, "parent=none");
}

static void add_task_runs(struct tables *t, uint32_t task)
{
	cli_add_number(&t->text, " activations=", activation_count(&t->model->tasks, task));
	cli_add_number(&t->text, " running=", weft_model_running_ns(t->model, task));
	weft_text_add_string(&t->text, "ns");
	if (weft_model_off_cpu_ns(t->model, task)) {
		cli_add_number(&t->text, " off_cpu=", weft_model_off_cpu_ns(t->model, task));
		weft_text_add_string(&t->text, "ns");
	}
}

static void add_task_string(struct tables *t, const char *key, uint32_t string)
{
	if (string == WEFT_NONE)
		return;
	struct weft_slice slice = weft_model_string(t->model, string);
	weft_text_add_string(&t->text, key);
	weft_text_add_quoted(&t->text, slice.bytes, slice.size);
}

static void add_task_text(struct tables *t, uint32_t task)
{
	const struct weft_tasks *tasks = &t->model->tasks;
	add_task_columns(t, task);
	if (tasks->becomes[task] != WEFT_NONE)
		add_id(t, " becomes=", tasks->becomes[task]);
	add_task_runs(t, task);
	add_created(t, task);
	add_category(t, task);
	add_process(t, task);
	add_task_string(t, " label=", tasks->label[task]);
	add_task_string(t, " failed=", tasks->message[task]);
	weft_text_add(&t->text, "\n", 1);
}

struct task_order {
	uint64_t start, id;
	uint32_t task;
};

static int compare_tasks(const void *a, const void *b)
{
	const struct task_order *left = a, *right = b;
	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	return left->task < right->task ? -1 : left->task > right->task;
}

/* True if the task is alive in the range. */
static bool is_task_wanted(const struct tables *t, uint32_t task)
{
	if (t->range.end_ns != UINT64_MAX && t->layout->start[task] >= t->range.end_ns)
		return false;
	return t->model->tasks.end[task] > t->range.start_ns ||
		   t->layout->start[task] >= t->range.start_ns;
}

/* Writes if there is a whole block; false if the work should stop. */
static bool flush_block(struct tables *t, uint32_t done)
{
	if (t->text.size < DUMP_BLOCK_BYTES)
		return true;
	return cli_write(&t->text) && (t->was_interrupted || cli_progress_step(done));
}

static int dump_tasks(struct tables *t)
{
	uint32_t count = t->model->tasks.count;
	struct task_order *order = calloc(count ? count : 1, sizeof(*order));
	if (!order)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		order[i] = (struct task_order){t->layout->start[i], t->model->tasks.id[i], i};
	qsort(order, count, sizeof(*order), compare_tasks);
	for (uint32_t i = 0; i < count && flush_block(t, i); i++) {
		if (!is_task_wanted(t, order[i].task))
			continue;
		if (t->options->json)
			add_task_json(t, order[i].task);
		else
			add_task_text(t, order[i].task);
	}
	free(order);
	return 0;
}

/* Appends the process of a task that sent something to a task of another process. */
static void add_json_sender(struct tables *t, uint32_t from, uint32_t to)
{
	const struct weft_model *model = t->model;
	const uint32_t *buffer = model->tasks.buffer;
	if (from == WEFT_NONE || buffer[from] == buffer[to])
		return;
	cli_add_number(&t->text, ",\"from_process\":",
		weft_trace_buffer_at(model->buffers, model->buffer_count, buffer[from])->pid);
	cli_add_number(&t->text, ",\"from_buffer\":", buffer[from]);
}

/* The error of a message's time between two hosts; null: it has no bound. */
static void add_sent_error(struct tables *t, uint32_t from, uint32_t to)
{
	const struct weft_model *model = t->model;
	const uint32_t *buffer = model->tasks.buffer;
	uint64_t error_ns;
	enum weft_alignment alignment = weft_trace_alignment(
		model->buffers, model->buffer_count, buffer[from], buffer[to], &error_ns);
	if (alignment == WEFT_ALIGNMENT_BOUNDED)
		cli_add_number(&t->text, ",\"sent_error\":", error_ns);
	else if (alignment != WEFT_ALIGNMENT_SAME)
		weft_text_add_string(&t->text, ",\"sent_error\":null");
}

/* When the message of the edge was sent; UINT64_MAX: it has none, or this is unknown. Edges are
 * asked for in their order. */
static uint64_t sent_of(struct tables *t, uint32_t edge)
{
	const struct weft_edges *edges = &t->model->edges;
	if (edges->type[edge] != WEFT_EDGE_RECEIVE)
		return UINT64_MAX;
	uint32_t message = t->messages++;
	return message < edges->sent_count ? edges->sent[message] : UINT64_MAX;
}

static void add_edge_json(struct tables *t, uint32_t edge, uint64_t sent)
{
	const struct weft_edges *edges = &t->model->edges;
	cli_add_number(&t->text, "{\"time\":", edges->time[edge]);
	weft_text_add_string(&t->text, ",\"edge\":\"");
	weft_text_add_string(&t->text, weft_edge_name(edges->type[edge]));
	cli_add_task(&t->text, "\",\"from\":", t->model, edges->from[edge]);
	cli_add_task(&t->text, ",\"to\":", t->model, edges->to[edge]);
	add_json_process(t, edges->to[edge]);
	add_json_sender(t, edges->from[edge], edges->to[edge]);
	if (sent != UINT64_MAX)
		cli_add_number(&t->text, ",\"sent\":", sent);
	if (sent != UINT64_MAX && edges->from[edge] != WEFT_NONE)
		add_sent_error(t, edges->from[edge], edges->to[edge]);
	weft_text_add_string(&t->text, "}\n");
}

static void add_edge_text(struct tables *t, uint32_t edge, uint64_t sent)
{
	const struct weft_edges *edges = &t->model->edges;
	dump_add_seconds(&t->text, edges->time[edge] - t->model->summary.start);
	size_t column = t->text.size;
	weft_text_add(&t->text, " ", 1);
	weft_text_add_string(&t->text, weft_edge_name(edges->type[edge]));
	weft_text_pad(&t->text, column, 10);
	if (edges->from[edge] == WEFT_NONE)
		weft_text_add_string(&t->text, "none");
	else
		add_id(t, "", edges->from[edge]);
	add_id(t, " -> ", edges->to[edge]);
	if (sent != UINT64_MAX && sent < edges->time[edge]) {
		const struct weft_model *model = t->model;
		const uint32_t *buffer = model->tasks.buffer;
		char duration[32], error[96] = "";
		weft_format_duration(edges->time[edge] - sent, 4, duration);
		if (edges->from[edge] != WEFT_NONE)
			weft_trace_format_error(model->buffers, model->buffer_count, buffer[edges->from[edge]],
				buffer[edges->to[edge]], error, sizeof(error));
		weft_text_add_string(&t->text, " after ");
		weft_text_add_string(&t->text, duration);
		weft_text_add_string(&t->text, error);
	}
	weft_text_add(&t->text, "\n", 1);
}

static void dump_edges(struct tables *t)
{
	const struct weft_edges *edges = &t->model->edges;
	for (uint32_t i = 0; i < edges->count && flush_block(t, i); i++) {
		uint64_t sent = sent_of(t, i);
		if (edges->time[i] < t->range.start_ns)
			continue;
		if (edges->time[i] >= t->range.end_ns && t->range.end_ns != UINT64_MAX)
			break;
		if (t->options->json)
			add_edge_json(t, i, sent);
		else
			add_edge_text(t, i, sent);
	}
}

static int dump_tables(struct tables *t)
{
	const struct weft_layout_options options = {.no_simplify = t->options->no_simplify};
	struct weft_layout *layout = NULL;
	int error = 0;
	t->was_interrupted = !cli_progress_step(0);
	t->range = dump_find_range(t->options, t->model->summary.start);
	if (t->options->what == DUMP_EDGES) {
		dump_edges(t);
	} else {
		error = weft_layout_create(t->model, &options, &layout);
		t->layout = layout;
		if (!error)
			error = dump_tasks(t);
		weft_layout_destroy(layout);
	}
	if (!error && t->text.size)
		cli_write(&t->text);
	weft_text_finish(&t->text);
	return error;
}

int dump_model(const struct dump_options *options, const struct cli_trace *trace)
{
	struct weft_model *model = NULL;
	int error = cli_trace_build_model(trace, &model);
	if (error)
		return cli_trace_fail(trace, error);
	if (model->summary.events == 0)
		cli_inform("%s: a valid trace without events", trace->name);
	struct tables tables = {.model = model, .options = options};
	error = dump_tables(&tables);
	weft_model_destroy(model);
	return error ? cli_trace_fail(trace, error) : CLI_DONE;
}
