/* SPDX-License-Identifier: ISC
 *
 * Trace contexts, as src/record/context.c records them: marks with these names and fields. A mark
 * that a program made in another way is a mark.
 */
#include <string.h>

#include <weft/model.h>

#include "model/slice.h"
#include "base/export.h"

#define HEX_DIGITS "0123456789abcdef"

static bool is_named(const struct weft_model *model, uint32_t note, const char *name)
{
	return model->notes.type[note] == WEFT_NOTE_MARK &&
		   weft__slice_is(weft_model_string(model, model->notes.text[note]), name);
}

/* NULL unless it is a text of that name and so many digits, not all 0. */
static const char *digits_of(const struct weft_field *field, const char *name, size_t count)
{
	if (!weft__slice_is(field->name, name) || field->type != WEFT_FIELD_TEXT ||
		field->value.text.size != count)
		return NULL;
	const char *text = field->value.text.bytes;
	return strspn(text, HEX_DIGITS) == count && strspn(text, "0") < count ? text : NULL;
}

static bool read_context(
	const struct weft_model *model, uint32_t note, struct weft_trace_context *ret_context)
{
	struct weft_trace_context c = {.time_ns = model->notes.time[note]};
	const uint32_t count = weft_model_attribute_count(model, note);
	if (count < 3)
		return false;
	const struct weft_field trace = weft_model_attribute(model, note, 0),
							span = weft_model_attribute(model, note, 1),
							flags = weft_model_attribute(model, note, 2);
	c.trace_id = digits_of(&trace, "trace_id", 32);
	c.span_id = digits_of(&span, "span_id", 16);
	if (!c.trace_id || !c.span_id || !weft__slice_is(flags.name, "trace_flags") ||
		flags.type != WEFT_FIELD_U64)
		return false;
	c.flags = (uint8_t)flags.value.u64;
	for (uint32_t i = 3; i < count; i++) {
		const struct weft_field field = weft_model_attribute(model, note, i);
		if (weft__slice_is(field.name, "parent_span_id"))
			c.parent_span_id = digits_of(&field, "parent_span_id", 16);
		else if (weft__slice_is(field.name, "trace_state") && field.type == WEFT_FIELD_TEXT)
			c.state = field.value.text.bytes;
	}
	*ret_context = c;
	return true;
}

WEFT__EXPORT bool weft_model_context(
	const struct weft_model *model, uint32_t task, struct weft_trace_context *ret_context)
{
	const uint32_t first = model->tasks.first_note[task], last = model->tasks.end_note[task];
	for (uint32_t note = last; note > first; note--)
		if (is_named(model, note - 1, "trace context") &&
			read_context(model, note - 1, ret_context))
			return true;
	return false;
}

WEFT__EXPORT bool weft_model_span_context(const struct weft_model *model, uint32_t task,
	const struct weft_span *span, struct weft_trace_context *ret_context)
{
	const uint32_t last = model->tasks.end_note[task];
	struct weft_span innermost;
	for (uint32_t note = model->tasks.first_note[task]; note < last; note++) {
		const uint64_t time = model->notes.time[note];
		if (time > span->end)
			return false;
		if (time >= span->start && is_named(model, note, "span context") &&
			weft_model_span_at(model, task, time, &innermost) && innermost.start == span->start &&
			innermost.depth == span->depth && read_context(model, note, ret_context))
			return true;
	}
	return false;
}
