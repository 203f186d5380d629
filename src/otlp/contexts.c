/* SPDX-License-Identifier: ISC */
#include "otlp/contexts.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

/* 16 hexadecimal digits, which the model has checked. */
static uint64_t number_of(const char *digits)
{
	uint64_t number = 0;
	for (int i = 0; i < 16; i++)
		number =
			number << 4 | (uint64_t)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
	return number;
}

static struct weft__otlp_context convert(uint32_t task, const struct weft_trace_context *from)
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

int weft__otlp_contexts_init(struct weft__otlp_contexts *contexts, const struct weft_model *model)
{
	struct weft_trace_context found;
	uint32_t room = 0;
	*contexts = (struct weft__otlp_contexts){0};
	for (uint32_t task = 0; task < model->tasks.count; task++) {
		if (!weft_model_context(model, task, &found))
			continue;
		if (contexts->count == room) {
			room = room ? 2 * room : 64;
			struct weft__otlp_context *list = realloc(contexts->list, (size_t)room * sizeof(*list));
			if (!list)
				return WEFT_ERROR_MEMORY;
			contexts->list = list;
		}
		contexts->list[contexts->count++] = convert(task, &found);
	}
	return 0;
}

void weft__otlp_contexts_finish(struct weft__otlp_contexts *contexts)
{
	free(contexts->list);
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
	*ret_context = convert(task, &found);
	return true;
}

bool weft__otlp_is_context(const struct weft_model *model, uint32_t note)
{
	if (model->notes.type[note] != WEFT_NOTE_MARK)
		return false;
	const struct weft_slice name = weft_model_string(model, model->notes.text[note]);
	return name.size > 0 &&
		   (strcmp(name.bytes, "trace context") == 0 || strcmp(name.bytes, "span context") == 0);
}
