/* SPDX-License-Identifier: ISC
 *
 * From events to facts: ids become numbers of tasks, texts numbers of strings. This looks at
 * nothing but names, so that another thread may do it ahead of the rules (state.h), which take
 * facts.
 */
#ifndef WEFT_MODEL_FACTS_H
#define WEFT_MODEL_FACTS_H

#include <stdbool.h>

#include <weft/event.h>

#include "base/strings.h"
#include "model/identity.h"

/* An event with numbers for names: WEFT_NONE for no task, or no text. */
struct weft__fact {
	uint64_t time_ns, offset;
	int64_t value;
	uint32_t task, other;
	uint32_t text; /* string */
	uint32_t thread;
	uint16_t kind;
	uint8_t type, band;
	bool flag, has_value, is_set;
};

/* Does events.def say that an event of this type, which is one, has this field? */
bool weft__event_has(unsigned type, enum weft_slot slot);

/* The fact but for its text, which is WEFT_NONE. 0, or WEFT_ERROR_MEMORY, _LIMIT or _ARGUMENT. */
int weft__fact_of_event(struct weft__identities *identities, const struct weft_event *event,
	struct weft__fact *ret_fact);

/* Where texts are interned. */
struct weft__texts {
	struct weft__strings strings;
	char *scratch; /* a mark as text */
	size_t scratch_capacity;
};

int weft__texts_init(struct weft__texts *texts);
void weft__texts_finish(struct weft__texts *texts);

/* The number of an event's text; WEFT_NONE if it has none: an empty reason of a switch or a band,
 * or the empty label of a rundown, says nothing. */
int weft__text_of_event(
	struct weft__texts *texts, const struct weft_event *event, uint32_t *ret_string);

#endif
