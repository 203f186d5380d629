/* SPDX-License-Identifier: ISC
 *
 * Trace contexts, as src/record/context.c records them: marks with these names and fields. A mark
 * that a program made in another way is a mark.
 */
#include <string.h>

#include <weft/model.h>

#include "model/contexts.h"
#include "model/slice.h"
#include "base/export.h"
#include "base/search.h"

#define HEX_DIGITS "0123456789abcdef"
#define FIELDS_MAX 5 /* a context has no more */

/* NULL unless it is a text of that name and so many digits, not all 0. */
static const char *digits_of(const struct weft_field *field, const char *name, size_t count)
{
	if (!weft__slice_is(field->name, name) || field->type != WEFT_FIELD_TEXT ||
		field->value.text.size != count)
		return NULL;
	const char *text = field->value.text.bytes;
	bool is_zero = true;
	for (size_t i = 0; i < count; i++) {
		if (!memchr(HEX_DIGITS, text[i], sizeof(HEX_DIGITS) - 1))
			return NULL;
		is_zero = is_zero && text[i] == '0';
	}
	return is_zero ? NULL : text;
}

bool weft__model_read_context(struct weft_slice name, const struct weft_field *fields,
	uint32_t count, struct weft_trace_context *ret_context)
{
	ret_context->is_of_span = weft__slice_is(name, "span context");
	if (count < 3 || (!ret_context->is_of_span && !weft__slice_is(name, "trace context")))
		return false;
	ret_context->trace_id = digits_of(&fields[0], "trace_id", 32);
	ret_context->span_id = digits_of(&fields[1], "span_id", 16);
	ret_context->flags = (uint8_t)fields[2].value.u64;
	for (uint32_t i = 3; i < count; i++) {
		if (weft__slice_is(fields[i].name, "parent_span_id"))
			ret_context->parent_span_id = digits_of(&fields[i], "parent_span_id", 16);
		else if (weft__slice_is(fields[i].name, "trace_state") && fields[i].type == WEFT_FIELD_TEXT)
			ret_context->state = fields[i].value.text.bytes;
	}
	return ret_context->trace_id && ret_context->span_id &&
		   weft__slice_is(fields[2].name, "trace_flags") && fields[2].type == WEFT_FIELD_U64;
}

WEFT__EXPORT bool weft_model_note_context(
	const struct weft_model *model, uint32_t note, struct weft_trace_context *ret_context)
{
	if (model->notes.type[note] != WEFT_NOTE_MARK)
		return false;
	struct weft_field fields[FIELDS_MAX];
	uint32_t count = weft_model_attribute_count(model, note);
	count = count < FIELDS_MAX ? count : FIELDS_MAX;
	for (uint32_t i = 0; i < count; i++)
		fields[i] = weft_model_attribute(model, note, i);
	*ret_context = (struct weft_trace_context){.time_ns = model->notes.time[note]};
	return weft__model_read_context(
		weft_model_string(model, model->notes.text[note]), fields, count, ret_context);
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

/* The spans that begin at one time. */
struct begun {
	uint32_t all;
	uint32_t before; /* a certain one of them */
};

/* A span of length 0 began before the given one, unless it was inside of it. */
static struct begun count_begun(
	const struct weft_model *model, uint32_t task, const struct weft_span *span)
{
	const uint32_t count = weft_model_span_count(model, task);
	const uint32_t first = weft_model_span_after(model, task, span->start);
	struct begun begun = {0};
	for (uint32_t i = first; i < count; i++) {
		const struct weft_span other = weft_model_span(model, task, i);
		begun.all += other.start == span->start;
		begun.before += other.start == span->start && other.depth < span->depth;
		if (other.depth == 0)
			break;
	}
	for (uint32_t i = first; i > 0; i--) {
		const struct weft_span other = weft_model_span(model, task, i - 1);
		if (other.end != span->start)
			break;
		begun.all += other.start == span->start;
		begun.before += other.start == span->start && other.depth <= span->depth;
	}
	return begun;
}

/* Reads the contexts that were recorded when the span began, and counts them. Those of other spans
 * that began at this time are among them, in the order of begins: if there are not as many, it is
 * unknown which span has which. The order of those that ended at once is not looked for. */
static uint32_t find_at_start(const struct weft_model *model, uint32_t task, uint32_t *note,
	const struct weft_span *span, bool *ret_found, struct weft_trace_context *ret_context)
{
	const uint32_t end = model->tasks.end_note[task];
	if (*note == end || model->notes.time[*note] != span->start)
		return 0;
	const struct begun begun = count_begun(model, task, span);
	const bool is_over = span->end == span->start;
	struct weft_trace_context context;
	uint32_t seen = 0;
	for (; *note < end && model->notes.time[*note] == span->start; (*note)++)
		if (weft_model_note_context(model, *note, &context) && context.is_of_span &&
			seen++ == (is_over ? 0 : begun.before))
			*ret_context = context;
	*ret_found = span->depth < WEFT_SPAN_DEPTH_MAX && seen > 0 && seen == begun.all &&
				 (!is_over || begun.all == 1);
	return seen;
}

WEFT__EXPORT bool weft_model_span_context(const struct weft_model *model, uint32_t task,
	const struct weft_span *span, struct weft_trace_context *ret_context)
{
	const uint64_t *times = model->notes.time;
	const uint32_t first = model->tasks.first_note[task], end = model->tasks.end_note[task];
	uint32_t note = first;
	if (first < end)
		note += (uint32_t)weft__lower_bound_u64(times + first, end - first, span->start);
	bool is_found = false;
	if (find_at_start(model, task, &note, span, &is_found, ret_context))
		return is_found;
	for (; note < end && times[note] <= span->end; note++)
		if (weft_model_note_context(model, note, ret_context) && ret_context->is_of_span &&
			is_innermost(model, task, span, times[note]))
			return true;
	return false;
}
