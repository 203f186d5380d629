/* SPDX-License-Identifier: ISC */
#include "otlp/contexts.h"

#include <stdlib.h>

#include "base/array.h"

/* 16 hexadecimal digits, which the model has checked. */
static uint64_t number_of(const char *digits)
{
	uint64_t number = 0;
	for (int i = 0; i < 16; i++)
		number =
			number << 4 | (uint64_t)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
	return number;
}

struct weft__otlp_context weft__otlp_context_convert(
	uint32_t task, const struct weft_trace_context *from)
{
	return (struct weft__otlp_context){
		.task = task,
		.trace = {{number_of(from->trace_id), number_of(from->trace_id + 16)}},
		.span = number_of(from->span_id),
		.parent = from->parent_span_id ? number_of(from->parent_span_id) : 0,
		.state = from->state,
		.flags = from->flags,
	};
}

static int compare_made(const void *left, const void *right)
{
	const struct weft__otlp_made *a = left, *b = right;
	if (a->span != b->span)
		return a->span < b->span ? -1 : 1;
	return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

static int add_made(
	struct weft__otlp_contexts *contexts, uint32_t buffer, const struct weft_trace_context *context)
{
	const struct weft__column column = {&contexts->made, sizeof(*contexts->made)};
	const size_t need = contexts->made_count + (size_t)1;
	const int error = weft__columns_reserve(&column, 1, &contexts->made_room, need);
	if (!error)
		contexts->made[contexts->made_count++] =
			(struct weft__otlp_made){number_of(context->span_id), buffer};
	return error;
}

/* The last context of a task counts. */
static int add_task(
	struct weft__otlp_contexts *contexts, uint32_t task, const struct weft_trace_context *context)
{
	const struct weft__column column = {&contexts->list, sizeof(*contexts->list)};
	if (contexts->count && contexts->list[contexts->count - 1].task == task)
		contexts->count--;
	const size_t need = contexts->count + (size_t)1;
	const int error = weft__columns_reserve(&column, 1, &contexts->room, need);
	if (!error)
		contexts->list[contexts->count++] = weft__otlp_context_convert(task, context);
	return error;
}

static int add(struct weft__otlp_contexts *contexts, const struct weft_model *model, uint32_t task,
	uint32_t note)
{
	struct weft_trace_context found;
	if (!weft_model_note_context(model, note, &found))
		return 0;
	const int error = add_made(contexts, model->tasks.buffer[task], &found);
	return error || found.is_of_span ? error : add_task(contexts, task, &found);
}

int weft__otlp_contexts_init(struct weft__otlp_contexts *contexts, const struct weft_model *model)
{
	const struct weft_tasks *tasks = &model->tasks;
	int error = 0;
	*contexts = (struct weft__otlp_contexts){0};
	for (uint32_t task = 0; task < tasks->count; task++)
		for (uint32_t note = tasks->first_note[task]; !error && note < tasks->end_note[task];
			 note++)
			error = add(contexts, model, task, note);
	if (contexts->made_count)
		qsort(contexts->made, contexts->made_count, sizeof(*contexts->made), compare_made);
	return error;
}

void weft__otlp_contexts_finish(struct weft__otlp_contexts *contexts)
{
	free(contexts->list);
	free(contexts->made);
}

bool weft__otlp_is_remote(
	const struct weft__otlp_contexts *contexts, uint32_t buffer, uint64_t span)
{
	const struct weft__otlp_made key = {span, buffer};
	return !contexts->made_count ||
		   !bsearch(&key, contexts->made, contexts->made_count, sizeof(key), compare_made);
}

static int compare(const void *key, const void *of)
{
	const uint32_t task = *(const uint32_t *)key;
	const struct weft__otlp_context *context = of;
	return task < context->task ? -1 : task > context->task;
}

const struct weft__otlp_context *weft__otlp_context_of(
	const struct weft__otlp_contexts *contexts, uint32_t task)
{
	if (!contexts->count)
		return NULL;
	return bsearch(&task, contexts->list, contexts->count, sizeof(*contexts->list), compare);
}

bool weft__otlp_context_of_span(const struct weft_model *model, uint32_t task,
	const struct weft_span *span, struct weft__otlp_context *ret_context)
{
	struct weft_trace_context found;
	if (!weft_model_span_context(model, task, span, &found))
		return false;
	*ret_context = weft__otlp_context_convert(task, &found);
	return true;
}
