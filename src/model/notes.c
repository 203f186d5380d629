/* SPDX-License-Identifier: ISC
 *
 * Notes as text, and the attributes of notes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/export.h"
#include "base/number.h"
#include "model/attributes.h"
#include "model/state.h"

#define REAL_DIGITS 6 /* significant digits of a real number for people */

WEFT__EXPORT size_t weft_number_format(struct weft_number number, char *buffer, size_t size)
{
	char digits[WEFT__NUMBER_BYTES];
	if (!number.is_real)
		return (size_t)snprintf(buffer, size, "%" PRId64, number.integer);
	return (size_t)snprintf(
		buffer, size, "%s", weft__number_general(number.real, REAL_DIGITS, digits));
}

/* ---- Attributes ---- */

WEFT__EXPORT uint32_t weft_model_attribute_count(const struct weft_model *model, uint32_t note)
{
	if (model->notes.type[note] == WEFT_NOTE_MARK)
		return weft__model_range_count(model->notes.value[note]);
	return model->notes.type[note] == WEFT_NOTE_VALUE;
}

WEFT__EXPORT struct weft_field weft_model_attribute(
	const struct weft_model *model, uint32_t note, uint32_t number)
{
	const struct weft_attributes *a = &model->attributes;
	int64_t value = model->notes.value[note];
	struct weft_field field = {.type = WEFT_FIELD_I64, .value.i64 = value};
	if (model->notes.type[note] == WEFT_NOTE_VALUE) {
		field.name = weft_model_string(model, model->notes.text[note]);
		return field;
	}
	uint32_t row = weft__model_range_first(value) + number;
	field.name = weft_model_string(model, a->name[row]);
	field.type = (enum weft_field_type)a->type[row];
	if (field.type == WEFT_FIELD_TEXT)
		field.value.text = weft_model_string(model, (uint32_t)a->value[row]);
	else
		memcpy(&field.value, &a->value[row], sizeof(a->value[row]));
	return field;
}

/* ---- Text ---- */

/* Text of which the first bytes are kept. */
struct writer {
	char *buffer;
	size_t size, length;
};

static void put(struct writer *w, const char *text)
{
	size_t bytes = strlen(text), room = w->size > w->length ? w->size - w->length - 1 : 0;
	if (w->size > w->length)
		memcpy(w->buffer + w->length, text, bytes < room ? bytes : room);
	w->length += bytes;
}

static void put_attribute(struct writer *w, const struct weft_field *field)
{
	struct weft_number number = {0};
	char digits[32];
	put(w, " ");
	put(w, field->name.bytes);
	put(w, "=");
	switch (field->type) {
	case WEFT_FIELD_TEXT:
		put(w, field->value.text.bytes);
		return;
	case WEFT_FIELD_BOOL:
		put(w, field->value.u64 ? "true" : "false");
		return;
	case WEFT_FIELD_U64:
		snprintf(digits, sizeof(digits), "%" PRIu64, field->value.u64);
		put(w, digits);
		return;
	case WEFT_FIELD_I64:
		number.integer = field->value.i64;
		break;
	case WEFT_FIELD_F64:
		number = (struct weft_number){.real = field->value.f64, .is_real = true};
		break;
	}
	weft_number_format(number, digits, sizeof(digits));
	put(w, digits);
}

/* Appends the value of a note about a counter or a tag. */
static void put_value(struct writer *w, enum weft_note_type type, int64_t value)
{
	char digits[32];
	bool is_real = type == WEFT_NOTE_REAL_CHANGE || type == WEFT_NOTE_REAL_SET;
	bool is_change = type == WEFT_NOTE_CHANGE || type == WEFT_NOTE_REAL_CHANGE;
	weft_number_format(
		(struct weft_number){weft__model_real_of(value), value, is_real}, digits, sizeof(digits));
	put(w, !is_change ? "=" : digits[0] == '-' ? "" : "+");
	put(w, digits);
}

WEFT__EXPORT size_t weft_model_format_note(
	const struct weft_model *model, uint32_t note, char *buffer, size_t size)
{
	enum weft_note_type type = (enum weft_note_type)model->notes.type[note];
	struct writer w = {buffer, size, 0};
	put(&w, weft_model_string(model, model->notes.text[note]).bytes);
	if (type == WEFT_NOTE_MARK) {
		for (uint32_t i = 0, count = weft_model_attribute_count(model, note); i < count; i++) {
			const struct weft_field field = weft_model_attribute(model, note, i);
			put_attribute(&w, &field);
		}
	} else if (type != WEFT_NOTE_LABEL && type != WEFT_NOTE_TEXT) {
		put_value(&w, type, model->notes.value[note]);
	}
	if (size)
		buffer[w.length < size ? w.length : size - 1] = '\0';
	return w.length;
}
