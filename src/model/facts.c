/* SPDX-License-Identifier: ISC
 *
 * From events to facts: ids become numbers of tasks, texts numbers of strings. This looks at
 * nothing but names, so that it can run ahead of the rules.
 */
#include "model/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "model/builder.h"

static int identify(
	struct weft_model_builder *b, const struct weft_event *event, uint64_t id, uint32_t *ret_task)
{
	return id == WEFT_TASK_NONE ? 0 : weft__identify(&b->identities, event->buffer, id, ret_task);
}

static int intern(struct weft_model_builder *b, struct weft_slice text, uint32_t *ret_string)
{
	return weft__strings_intern(&b->strings, text.bytes, text.size, ret_string);
}

static int append_scratch(
	struct weft_model_builder *b, size_t *size, const char *bytes, size_t more)
{
	if (*size + more > b->scratch_capacity) {
		size_t capacity = weft__array_next_capacity(b->scratch_capacity, *size + more);
		int error = weft__array_resize(&b->scratch, capacity, 1);
		if (error)
			return error;
		b->scratch_capacity = capacity;
	}
	if (more)
		memcpy(b->scratch + *size, bytes, more);
	*size += more;
	return 0;
}

static struct weft_slice format_value(const struct weft_field *field, char *number, size_t size)
{
	struct weft_slice slice = {number, 0};
	char real[WEFT__NUMBER_BYTES];
	int length = 0;
	switch (field->type) {
	case WEFT_FIELD_I64:
		length = snprintf(number, size, "%" PRId64, field->value.i64);
		break;
	case WEFT_FIELD_U64:
		length = snprintf(number, size, "%" PRIu64, field->value.u64);
		break;
	case WEFT_FIELD_F64:
		length = snprintf(number, size, "%s", weft__number_general(field->value.f64, 6, real));
		break;
	case WEFT_FIELD_TEXT:
		return field->value.text;
	}
	slice.size = length > 0 ? (size_t)length : 0;
	return slice;
}

/* " name=value" into the scratch text. */
static int append_field(struct weft_model_builder *b, size_t *size, const struct weft_field *field)
{
	char number[32];
	struct weft_slice value = format_value(field, number, sizeof(number));
	int error = append_scratch(b, size, " ", 1);
	if (!error)
		error = append_scratch(b, size, field->name.bytes, field->name.size);
	if (!error)
		error = append_scratch(b, size, "=", 1);
	if (!error)
		error = append_scratch(b, size, value.bytes, value.size);
	return error;
}

/* A mark and its fields as one text. */
static int intern_mark(
	struct weft_model_builder *b, const struct weft_event *event, uint32_t *ret_string)
{
	size_t size = 0;
	int error = append_scratch(b, &size, event->text.bytes, event->text.size);
	for (uint32_t i = 0; !error && i < event->field_count; i++)
		error = append_field(b, &size, &event->fields[i]);
	return error ? error : intern(b, (struct weft_slice){b->scratch, size}, ret_string);
}

static int intern_text(
	struct weft_model_builder *b, const struct weft_event *event, uint32_t *ret_string)
{
	switch (event->type) {
	case WEFT_EVENT_FAIL:
	case WEFT_EVENT_LABEL:
	case WEFT_EVENT_NOTE:
	case WEFT_EVENT_TAG:
	case WEFT_EVENT_COUNTER:
		return intern(b, event->text, ret_string);
	case WEFT_EVENT_SWITCH:
	case WEFT_EVENT_BAND:
	case WEFT_EVENT_ALIVE:
		return event->text.size ? intern(b, event->text, ret_string) : 0;
	case WEFT_EVENT_MARK:
		return intern_mark(b, event, ret_string);
	default:
		return 0;
	}
}

int weft__model_state(
	struct weft_model_builder *b, const struct weft_event *event, struct weft__fact *ret_fact)
{
	int error = 0;
	if (event->type == 0 || event->type >= WEFT_EVENT_TYPES)
		return WEFT_ERROR_ARGUMENT;
	*ret_fact = (struct weft__fact){
		.time_ns = event->time_ns,
		.offset = event->offset,
		.value = event->value,
		.task = WEFT_NONE,
		.other = WEFT_NONE,
		.text = WEFT_NONE,
		.thread = event->thread,
		.kind = event->kind,
		.type = event->type,
		.band = event->band,
		.flag = event->flag,
		.has_value = event->has_value,
		.is_set = event->is_set,
	};
	if (b->names_task[event->type])
		error = identify(b, event, event->task, &ret_fact->task);
	if (!error && b->names_other[event->type])
		error = identify(b, event, event->other, &ret_fact->other);
	return error ? error : intern_text(b, event, &ret_fact->text);
}
