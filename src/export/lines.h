/* SPDX-License-Identifier: ISC
 *
 * What the lines for programs and those for people have in common.
 */
#ifndef WEFT_EXPORT_LINES_H
#define WEFT_EXPORT_LINES_H

#include <stdbool.h>

#include <weft/lines.h>

/* The process of an event's thread. */
uint64_t weft__lines_process(const struct weft_lines *lines, const struct weft_event *event);

/* Does the event have this field at all? */
bool weft__lines_has_field(const struct weft_event *event, enum weft_slot slot);

/* The value of a mark's field; `add_text` puts text in quotes. */
void weft__lines_add_value(struct weft_text *text, const struct weft_field *field,
	void (*add_text)(struct weft_text *text, struct weft_slice slice));

/* The key of a counter's change depends on what it is. */
const char *weft__lines_key(const struct weft_event *event, enum weft_slot slot, const char *key);

#endif
