/* SPDX-License-Identifier: ISC
 *
 * The fields of marks as rows of typed values.
 */
#include "model/attributes.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/array.h"

#define COLUMNS 3

static void list_columns(struct weft__attributes *a, struct weft__column columns[COLUMNS])
{
	columns[0] = (struct weft__column){&a->value, sizeof(*a->value)};
	columns[1] = (struct weft__column){&a->name, sizeof(*a->name)};
	columns[2] = (struct weft__column){&a->type, sizeof(*a->type)};
}

struct weft__shared *weft__model_attributes_hold(struct weft__attributes *attributes)
{
	struct weft__column columns[COLUMNS];
	list_columns(attributes, columns);
	return weft__shared_hold(&attributes->shared, columns, COLUMNS);
}

int weft__model_attributes_own(struct weft__attributes *attributes)
{
	struct weft__column columns[COLUMNS];
	list_columns(attributes, columns);
	return weft__shared_own(&attributes->shared, columns, COLUMNS, attributes->capacity);
}

void weft__model_attributes_trim(struct weft__attributes *attributes)
{
	struct weft__column columns[COLUMNS];
	list_columns(attributes, columns);
	if (attributes->capacity)
		weft__columns_trim(columns, COLUMNS, &attributes->capacity, attributes->count);
}

void weft__model_attributes_finish(struct weft__attributes *attributes)
{
	if (attributes->shared) {
		weft__shared_release(attributes->shared);
	} else {
		free(attributes->value);
		free(attributes->name);
		free(attributes->type);
	}
	*attributes = (struct weft__attributes){0};
}

struct weft_attributes weft__model_attributes_show(const struct weft__attributes *attributes)
{
	return (struct weft_attributes){
		attributes->count, attributes->value, attributes->name, attributes->type};
}

static int reserve(struct weft__attributes *a, uint32_t more)
{
	struct weft__column columns[COLUMNS];
	if (a->count + (size_t)more <= a->capacity)
		return 0;
	int error = weft__model_attributes_own(a);
	if (error)
		return error;
	list_columns(a, columns);
	return weft__columns_reserve(columns, COLUMNS, &a->capacity, a->count + (size_t)more);
}

static int add_attribute(
	struct weft__attributes *a, struct weft__strings *strings, const struct weft_field *field)
{
	uint32_t row = a->count, string = 0;
	int error = weft__strings_intern(strings, field->name.bytes, field->name.size, &a->name[row]);
	if (!error && field->type == WEFT_FIELD_TEXT)
		error =
			weft__strings_intern(strings, field->value.text.bytes, field->value.text.size, &string);
	if (error)
		return error;
	a->type[row] = (uint8_t)field->type;
	if (field->type == WEFT_FIELD_TEXT)
		a->value[row] = string;
	else
		memcpy(&a->value[row], &field->value, sizeof(a->value[row]));
	a->count++;
	return 0;
}

int weft__model_attributes_add(struct weft__attributes *attributes, struct weft__strings *strings,
	const struct weft_event *mark, int64_t *ret_range)
{
	uint32_t first = attributes->count;
	int error = mark->field_count ? reserve(attributes, mark->field_count) : 0;
	for (uint32_t i = 0; !error && i < mark->field_count; i++)
		error = add_attribute(attributes, strings, &mark->fields[i]);
	if (!error)
		*ret_range = (int64_t)((uint64_t)mark->field_count << 32 | first);
	return error;
}
