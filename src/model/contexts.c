/* SPDX-License-Identifier: ISC
 *
 * Trace contexts, as src/record/context.c records them: marks with these names and fields. A mark
 * that a program made in another way is a mark.
 */
#include <string.h>

#include <weft/model.h>

#include "model/slice.h"
#include "base/export.h"
#include "base/search.h"

#define HEX_DIGITS "0123456789abcdef"

/* NULL unless it is a text of that name and so many digits, not all 0. */
static const char *digits_of(const struct weft_field *field, const char *name, size_t count)
{
	if (!weft__slice_is(field->name, name) || field->type != WEFT_FIELD_TEXT ||
		field->value.text.size != count)
		return NULL;
	const char *text = field->value.text.bytes;
	return strspn(text, HEX_DIGITS) == count && strspn(text, "0") < count ? text : NULL;
}

/* The fields of a mark. False if they are not those of a context. */
static bool read_fields(
	const struct weft_model *model, uint32_t note, struct weft_trace_context *ret_context)
{
	const uint32_t count = weft_model_attribute_count(model, note);
	if (count < 3)
		return false;
	const struct weft_field trace = weft_model_attribute(model, note, 0),
							span = weft_model_attribute(model, note, 1),
							flags = weft_model_attribute(model, note, 2);
	ret_context->trace_id = digits_of(&trace, "trace_id", 32);
	ret_context->span_id = digits_of(&span, "span_id", 16);
	ret_context->flags = (uint8_t)flags.value.u64;
	for (uint32_t i = 3; i < count; i++) {
		const struct weft_field field = weft_model_attribute(model, note, i);
		if (weft__slice_is(field.name, "parent_span_id"))
			ret_context->parent_span_id = digits_of(&field, "parent_span_id", 16);
		else if (weft__slice_is(field.name, "trace_state") && field.type == WEFT_FIELD_TEXT)
			ret_context->state = field.value.text.bytes;
	}
	return ret_context->trace_id && ret_context->span_id &&
		   weft__slice_is(flags.name, "trace_flags") && flags.type == WEFT_FIELD_U64;
}

WEFT__EXPORT bool weft_model_note_context(
	const struct weft_model *model, uint32_t note, struct weft_trace_context *ret_context)
{
	if (model->notes.type[note] != WEFT_NOTE_MARK)
		return false;
	const struct weft_slice name = weft_model_string(model, model->notes.text[note]);
	*ret_context = (struct weft_trace_context){
		.time_ns = model->notes.time[note], .is_of_span = weft__slice_is(name, "span context")};
	return (ret_context->is_of_span || weft__slice_is(name, "trace context")) &&
		   read_fields(model, note, ret_context);
}

WEFT__EXPORT bool weft_model_context(
	const struct weft_model *model, uint32_t task, struct weft_trace_context *ret_context)
{
	const uint32_t first = model->tasks.first_note[task];
	for (uint32_t note = model->tasks.end_note[task]; note > first; note--)
		if (weft_model_note_context(model, note - 1, ret_context) && !ret_context->is_of_span)
			return true;
	return false;
}

/* True if it is the innermost span at that time: the one that was begun last. */
static bool is_innermost(
	const struct weft_model *model, uint32_t task, const struct weft_span *span, uint64_t time_ns)
{
	struct weft_span innermost;
	return weft_model_span_at(model, task, time_ns, &innermost) && innermost.start == span->start &&
		   innermost.depth == span->depth;
}

WEFT__EXPORT bool weft_model_span_context(const struct weft_model *model, uint32_t task,
	const struct weft_span *span, struct weft_trace_context *ret_context)
{
	const uint64_t *times = model->notes.time;
	const uint32_t first = model->tasks.first_note[task], end = model->tasks.end_note[task];
	uint32_t note = first;
	if (first < end)
		note += (uint32_t)weft__lower_bound_u64(times + first, end - first, span->start);
	for (; note < end && times[note] <= span->end; note++)
		if (weft_model_note_context(model, note, ret_context) && ret_context->is_of_span &&
			is_innermost(model, task, span, times[note]))
			return true;
	return false;
}
