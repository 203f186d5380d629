/* SPDX-License-Identifier: ISC
 *
 * Makes facts of events: ids become numbers of tasks, texts become numbers of strings. This depends
 * on names only, so that another thread may do it ahead of the rules (state.h), which take facts.
 */
#ifndef WEFT_MODEL_FACTS_H
#define WEFT_MODEL_FACTS_H

#include <stdbool.h>

#include <weft/event.h>
#include <weft/model.h>

#include "base/strings.h"
#include "model/attributes.h"
#include "model/identity.h"

/* An event with numbers instead of names; WEFT_NONE: no task, or no text. */
struct weft__fact {
	uint64_t time_ns, offset;
	union {
		int64_t value; /* the bits of a double if is_real; of a mark which attributes it has */
		weft_message_key key; /* of a send or receive */
	};
	uint32_t task, other;
	uint32_t text; /* string */
	union {
		struct {
			uint32_t thread, buffer;
		};
		uint64_t end_ns; /* of a span on a track, which begins at `value` */
	};
	uint16_t kind;
	uint8_t type;
	bool flag : 1, has_value : 1, is_set : 1, is_real : 1;
	bool is_gc : 1; /* of a band */
	bool is_rundown : 1;
	uint8_t category; /* of a created or living task: see weft_model_category */
};

/* True if events.def gives events of this type this field. `type` must be valid. */
bool weft__model_event_has(unsigned type, enum weft_slot slot);

/* Interns the texts of events. */
struct weft__texts {
	struct weft__strings strings;
	struct weft__attributes attributes;
	uint32_t *by_name; /* string + 1 of each name_id of buffer 0, or 0; NULL: none is known */
	uint32_t *kinds; /* strings: the names of the kinds that have one, in the order of first use */
	size_t kind_count, kind_capacity;
	uint32_t *categories; /* strings: the names of categories other than "program" */
	size_t category_count, category_capacity;
};

/* Readers number categories from 1 upwards; later ones than these count as none. */
#define WEFT__CATEGORIES_MAX 254u

/* Readers number named kinds from this number downwards, because one name has different numbers in
 * different programs. At most this many kinds have a number; later ones are unknown. */
#define WEFT__NAMED_KIND_LAST (WEFT_KIND_PREEXISTING - 1u)
#define WEFT__NAMED_KINDS_MAX 256u

/* The index of a reader's kind among the named ones; WEFT__NAMED_KINDS_MAX or more if it is not one
 * of them. */
static inline uint32_t weft__model_named_kind(unsigned kind)
{
	return kind <= WEFT__NAMED_KIND_LAST ? WEFT__NAMED_KIND_LAST - kind : UINT32_MAX;
}

/* Gives an event's kind the reader's number: a named one by its index in `kinds`, to which the name
 * is added. A number of the program's own that readers use for named kinds becomes unknown. */
int weft__model_number_kind(
	struct weft__strings *kinds, const struct weft_event *event, uint16_t *ret_kind);

/* True for events that begin or end the life of a task. */
static inline bool weft__model_is_of_life(unsigned type)
{
	switch (type) {
	case WEFT_EVENT_CREATE:
	case WEFT_EVENT_ALIVE:
	case WEFT_EVENT_BECOME:
	case WEFT_EVENT_RESOLVE:
	case WEFT_EVENT_FAIL:
	case WEFT_EVENT_CANCEL:
	case WEFT_EVENT_CLOSE:
	case WEFT_EVENT_TIME_OUT:
		return true;
	default:
		return false;
	}
}

/* Takes the fact of such an event: an id that is created again after its task ended is a new task.
 * 0, WEFT_ERROR_MEMORY or _LIMIT; it can be called again after an error. */
int weft__model_follow_life(struct weft__identities *identities, struct weft__fact *fact);

/* The tables with which a reader makes facts of plain events by itself: see
 * format/weft/follow/plain.c. */
struct weft__naming {
	struct weft__identities *identities;
	struct weft__texts *texts;
	bool is_summary; /* the texts of notes and tags are left out */
};

int weft__model_texts_init(struct weft__texts *texts);
void weft__model_texts_finish(struct weft__texts *texts);

/* Makes a fact. Without `texts` its text is WEFT_NONE; so it is if the event has none: an empty
 * reason of a switch or band, or an empty label in a rundown, counts as none. 0, or
 * WEFT_ERROR_MEMORY, _LIMIT or _ARGUMENT. */
int weft__model_fact_of_event(struct weft__identities *identities, struct weft__texts *texts,
	const struct weft_event *event, struct weft__fact *ret_fact);

#endif
