/* SPDX-License-Identifier: ISC
 *
 * See code_samples.h. The tables come from a file, so nothing in them is trusted: a function whose
 * caller is no earlier row has none. A sample belongs to the task that the thread ran at its time.
 *
 * A buffer of another host has no samples here: its rows are in its own time.
 */
#include "model/code_samples.h"

#include <stdlib.h>

#include <weft/error.h>

#include "base/array.h"
#include "base/search.h"
#include "model/side_tables.h"

#define ARROW    " \xe2\x86\x90 "
#define ELLIPSIS "\xe2\x80\xa6"

enum {
	CALLS_BYTES = 1024,
	DEPTH = 64,
};

/* An activation, for the search by thread and time. */
struct activation {
	uint64_t start, end;
	uint32_t thread, task;
};

/* The functions of one buffer. */
struct functions {
	const struct weft__side_table *table;
	struct weft_code_sample *known; /* by row: its texts; calls are WEFT_NONE if not made yet */
};

struct reading {
	const struct weft_trace_buffer *buffers;
	struct weft_model *model;
	struct weft__strings *strings;
	struct weft_code_sample *list;
	uint32_t count;
	size_t capacity;
	struct activation *activations;
	uint32_t activation_count;
};

static const void *row_at(const struct weft__side_table *table, uint32_t row)
{
	return table->rows + (size_t)row * table->row_bytes;
}

/* ---- Calls ---- */

struct calls {
	size_t size;
	char bytes[CALLS_BYTES];
};

static bool append(struct calls *calls, const char *bytes, size_t size)
{
	if (size > sizeof(calls->bytes) - calls->size)
		return false;
	memcpy(calls->bytes + calls->size, bytes, size);
	calls->size += size;
	return true;
}

static struct weft_slice function_of(const struct weft_abi_code_row *code)
{
	const char *end = memchr(code->function, '\0', sizeof(code->function));
	return (struct weft_slice){
		code->function, end ? (size_t)(end - code->function) : sizeof(code->function)};
}

/* Without its line: "say_hello" of "say_hello (hello.c:12)". */
static struct weft_slice name_of(struct weft_slice function)
{
	size_t at = function.size;
	if (at && function.bytes[at - 1] == ')')
		while (at > 1 && !(function.bytes[at - 1] == '(' && function.bytes[at - 2] == ' '))
			at--;
	if (at > 2 && at < function.size)
		function.size = at - 2;
	return function;
}

/* With an ellipsis if there is no room for all. */
static void list_calls(const struct weft__side_table *table, uint32_t row, struct calls *calls)
{
	calls->size = 0;
	for (unsigned depth = 0;; depth++) {
		const struct weft_abi_code_row *code = row_at(table, row);
		const struct weft_slice function = function_of(code);
		const size_t before = calls->size, end = sizeof(ARROW ELLIPSIS);
		bool fits = depth < DEPTH && (!before || append(calls, ARROW, sizeof(ARROW) - 1)) &&
					append(calls, function.bytes, function.size) &&
					sizeof(calls->bytes) - calls->size >= end;
		if (!fits) {
			calls->size = before;
			append(calls, ARROW ELLIPSIS, end - 1);
			return;
		}
		if (!code->caller || code->caller > row)
			return;
		row = (uint32_t)code->caller - 1;
	}
}

static int name_row(struct reading *r, const struct functions *functions, uint32_t row)
{
	struct weft_code_sample *known = &functions->known[row];
	const struct weft_slice function = name_of(function_of(row_at(functions->table, row)));
	struct calls calls;
	list_calls(functions->table, row, &calls);
	int error = weft__strings_intern(r->strings, function.bytes, function.size, &known->function);
	return error ? error : weft__strings_intern(r->strings, calls.bytes, calls.size, &known->calls);
}

static int open_functions(const struct weft_trace_buffer *buffer, struct functions *ret_functions)
{
	const struct weft__side_table *table =
		weft__model_side_table_find(buffer, WEFT_ABI_TABLE_code, sizeof(struct weft_abi_code_row));
	*ret_functions = (struct functions){.table = table};
	if (!table)
		return 0;
	ret_functions->known = malloc(table->count * sizeof(*ret_functions->known));
	if (!ret_functions->known)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < table->count; i++)
		ret_functions->known[i].calls = WEFT_NONE;
	return 0;
}

/* ---- Tasks ---- */

static int by_thread(const void *left, const void *right)
{
	const struct activation *l = left, *r = right;
	if (l->thread != r->thread)
		return l->thread < r->thread ? -1 : 1;
	return l->start < r->start ? -1 : l->start > r->start;
}

static int sort_activations(struct reading *r)
{
	const struct weft_model *m = r->model;
	r->activations = malloc((m->activations.count + (size_t)1) * sizeof(*r->activations));
	if (!r->activations)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < m->tasks.count; task++)
		for (uint32_t i = m->tasks.first_activation[task]; i < m->tasks.end_activation[task]; i++)
			r->activations[r->activation_count++] = (struct activation){
				m->activations.start[i], m->activations.end[i], m->activations.thread[i], task};
	if (r->activation_count)
		qsort(r->activations, r->activation_count, sizeof(*r->activations), by_thread);
	return 0;
}

struct thread_search {
	const struct activation *list;
	uint32_t thread;
};

static bool is_before(const void *context, uint32_t row, uint64_t time)
{
	const struct thread_search *search = context;
	const struct activation *a = &search->list[row];
	return a->thread < search->thread || (a->thread == search->thread && a->start <= time);
}

/* The task that the thread ran, or WEFT_NONE. */
static uint32_t task_at(const struct reading *r, uint32_t thread, uint64_t time)
{
	const struct thread_search search = {r->activations, thread};
	const uint32_t after = weft__search(&search, 0, r->activation_count, is_before, time);
	const struct activation *a = after ? &r->activations[after - 1] : NULL;
	return a && a->thread == thread && time < a->end ? a->task : WEFT_NONE;
}

static uint32_t find_thread(const struct weft_model *m, uint32_t buffer, uint32_t tid)
{
	for (uint32_t i = 0; i < m->thread_count; i++)
		if (m->threads[i].buffer == buffer && m->threads[i].tid == tid)
			return i;
	return WEFT_NONE;
}

/* ---- Samples ---- */

static int read_row(struct reading *r, uint32_t buffer, const struct functions *functions,
	const struct weft_abi_ran_row *row, struct weft_code_sample *sample)
{
	const struct weft__side_tables *tables = r->buffers[buffer].tables;
	const uint32_t count = functions->table ? functions->table->count : 0;
	int error = 0;
	sample->time = tables->to_ns(tables->buffer, row->time);
	if (row->code && row->code <= count) {
		const struct weft_code_sample *known = &functions->known[row->code - 1];
		if (known->calls == WEFT_NONE)
			error = name_row(r, functions, row->code - 1);
		sample->function = known->function;
		sample->calls = known->calls;
	}
	return error;
}

/* Samples of a thread follow each other mostly. */
static void find_task(
	const struct reading *r, uint32_t buffer, uint32_t tid, struct weft_code_sample *sample)
{
	const struct weft_code_sample *last = r->count ? &r->list[r->count - 1] : NULL;
	const uint32_t thread = last ? last->thread : WEFT_NONE;
	const struct weft_trace_thread *known = thread != WEFT_NONE ? &r->model->threads[thread] : NULL;
	sample->thread = known && known->buffer == buffer && known->tid == tid
						 ? thread
						 : find_thread(r->model, buffer, tid);
	if (sample->thread != WEFT_NONE)
		sample->task = task_at(r, sample->thread, sample->time);
}

static int read_rows(struct reading *r, uint32_t buffer, const struct weft__side_table *ran,
	uint64_t interval_ns, const struct functions *functions)
{
	const struct weft__column column = {&r->list, sizeof(*r->list)};
	int error = weft__columns_reserve(&column, 1, &r->capacity, r->count + (size_t)ran->count);
	for (uint32_t i = 0; i < ran->count && !error; i++) {
		const struct weft_abi_ran_row *row = row_at(ran, i);
		struct weft_code_sample sample = {
			0, interval_ns, buffer, WEFT_NONE, WEFT_NONE, WEFT_NONE, WEFT_NONE};
		error = read_row(r, buffer, functions, row, &sample);
		find_task(r, buffer, row->thread, &sample);
		r->list[r->count++] = sample;
	}
	return error;
}

static int read_buffer(struct reading *r, const struct weft_trace_buffer *of, uint32_t buffer)
{
	const struct weft__side_table *sampling = weft__model_side_table_find(
		of, WEFT_ABI_TABLE_sampling, offsetof(struct weft_abi_sampling_row, denied));
	const struct weft__side_table *ran =
		weft__model_side_table_find(of, WEFT_ABI_TABLE_ran, sizeof(struct weft_abi_ran_row));
	struct functions functions;
	if (!sampling || !ran || of->alignment != WEFT_ALIGNMENT_SAME)
		return 0;
	const struct weft_abi_sampling_row *how = row_at(sampling, 0);
	int error = r->activations ? 0 : sort_activations(r);
	if (!error)
		error = open_functions(of, &functions);
	if (error)
		return error;
	error = read_rows(r, buffer, ran, how->interval_ns, &functions);
	free(functions.known);
	return error;
}

static int by_time(const void *left, const void *right)
{
	const struct weft_code_sample *l = left, *r = right;
	if (l->time != r->time)
		return l->time < r->time ? -1 : 1;
	return l->thread < r->thread ? -1 : l->thread > r->thread;
}

int weft__model_code_samples_read(const struct weft_trace_description *description,
	struct weft__strings *strings, struct weft_model *model)
{
	struct reading r = {.buffers = description->buffers, .model = model, .strings = strings};
	int error = 0;
	for (uint32_t i = 0; i < description->buffer_count && !error; i++)
		error = read_buffer(&r, &description->buffers[i], i);
	if (r.count)
		qsort(r.list, r.count, sizeof(*r.list), by_time);
	free(r.activations);
	model->code_samples = r.list;
	model->code_sample_count = r.count;
	return error;
}
