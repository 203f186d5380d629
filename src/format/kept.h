/* SPDX-License-Identifier: ISC
 *
 * An event that is kept while its decoder goes on: its texts are copied, so that they outlive what
 * they were borrowed from.
 */
#ifndef WEFT_FORMAT_KEPT_H
#define WEFT_FORMAT_KEPT_H

#include <stddef.h>

struct weft_event;

/* Room for one event's texts and fields; zero is empty. */
struct weft__kept {
	char *room;
	size_t capacity;
};

/* Makes the event borrow from `kept` instead; the event that was kept there before loses its texts.
 * 0 or WEFT_ERROR_MEMORY, and the event is as before. */
int weft__format_keep(struct weft__kept *kept, struct weft_event *event);
void weft__format_kept_finish(struct weft__kept *kept);

#endif
