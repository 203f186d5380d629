/* SPDX-License-Identifier: ISC
 *
 * The room begins with the fields, which need alignment; the texts follow.
 */
#include "format/kept.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <weft/decoder.h>

/* The ticks of a span are in the same room. */
static bool has_category(const struct weft_event *event)
{
	return event->type != WEFT_EVENT_SPAN;
}

static size_t size_of(const struct weft_event *event)
{
	size_t size = event->field_count * sizeof(*event->fields);
	size += event->text.size + event->kind_name.size;
	if (has_category(event))
		size += event->category.size;
	for (uint32_t i = 0; i < event->field_count; i++) {
		const struct weft_field *field = &event->fields[i];
		size += field->name.size;
		if (field->type == WEFT_FIELD_TEXT)
			size += field->value.text.size;
	}
	return size;
}

/* Copies the text to `to`, and returns the end of the copy. */
static char *move(struct weft_slice *text, char *to)
{
	if (text->size)
		memcpy(to, text->bytes, text->size);
	text->bytes = to;
	return to + text->size;
}

static char *move_fields(struct weft_event *event, char *to)
{
	struct weft_field *fields = (void *)to;
	char *end = to + event->field_count * sizeof(*fields);
	if (!event->field_count)
		return to;
	memcpy(fields, event->fields, event->field_count * sizeof(*fields));
	for (uint32_t i = 0; i < event->field_count; i++) {
		end = move(&fields[i].name, end);
		if (fields[i].type == WEFT_FIELD_TEXT)
			end = move(&fields[i].value.text, end);
	}
	event->fields = fields;
	return end;
}

int weft__format_keep(struct weft__kept *kept, struct weft_event *event)
{
	size_t size = size_of(event);
	if (size > kept->capacity) {
		char *larger = malloc(size);
		if (!larger)
			return WEFT_ERROR_MEMORY;
		free(kept->room);
		*kept = (struct weft__kept){larger, size};
	}
	if (!size)
		return 0;
	char *end = move_fields(event, kept->room);
	end = move(&event->text, end);
	end = move(&event->kind_name, end);
	if (has_category(event))
		move(&event->category, end);
	return 0;
}

void weft__format_kept_finish(struct weft__kept *kept)
{
	free(kept->room);
	*kept = (struct weft__kept){0};
}
