/* SPDX-License-Identifier: ISC
 *
 * Shared by the lines for programs and those for people.
 */
#ifndef WEFT_EXPORT_LINES_H
#define WEFT_EXPORT_LINES_H

#include <stdbool.h>

#include <weft/lines.h>

/* The process of an event. */
uint64_t weft__lines_process(const struct weft_lines *lines, const struct weft_event *event);

/* True if the event has this field. */
bool weft__lines_has_field(const struct weft_event *event, enum weft_slot slot);

/* Appends the value of a mark's field; `add_text` appends quoted text. */
void weft__lines_add_value(struct weft_text *text, const struct weft_field *field,
	void (*add_text)(struct weft_text *text, struct weft_slice slice));

/* Appends the change or new value of a counter. */
void weft__lines_add_change(struct weft_text *text, const struct weft_event *event);

/* The key of a counter event depends on whether it is a change or a new value. */
const char *weft__lines_key(const struct weft_event *event, enum weft_slot slot, const char *key);

#endif
