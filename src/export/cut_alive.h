/* SPDX-License-Identifier: ISC
 *
 * The state at the start of a range, and the other data that a rundown needs: when each task was
 * created, and which tasks the range names.
 */
#ifndef WEFT_EXPORT_CUT_ALIVE_H
#define WEFT_EXPORT_CUT_ALIVE_H

#include "model/holds.h"
#include "model/state.h"

/* The time at which the task was created is unknown. */
#define WEFT__ALIVE_UNDATED UINT64_MAX

/* A rundown has nested holds up to this depth. */
#define WEFT__ALIVE_DEPTH_MAX 64

struct weft__alive {
	struct weft__identities identities;
	struct weft__texts texts;
	bool has_categories;   /* see struct weft_trace_buffer */
	bool broke_rule;       /* the last event broke a rule */
	bool has_vain_creates; /* a create event did: what it nearly did is in no rundown */
	bool is_checkpoint;    /* the rundown is for further events, not for a reader */
	struct weft__state state;
	size_t capacity;
	uint64_t *born_ns; /* when each task was created, or WEFT__ALIVE_UNDATED */
	bool *is_named;
	/* When each task is due, by its latest deadline tag; or WEFT__ALIVE_UNDATED. */
	uint64_t *due_ns;
	/* If a task waits for any of several: the first and the last of these, else WEFT_NONE. */
	uint32_t *first_any, *last_any;
	struct weft__any *any;
	uint32_t any_count, any_free; /* the first of the list of free ones, or WEFT_NONE */
	size_t any_capacity;
	/* The holders of each resource: its index in `holders`, or WEFT_NONE. */
	uint32_t *holders_of;
	struct weft__holders *holders;
	uint32_t holders_count;
	size_t holders_capacity;
	/* Messages whose first side is before the range and whose second one in it, in the order of
	 * the latter. */
	struct weft__message *messages;
	uint32_t message_count;
	size_t message_capacity;
	/* An enum weft__range_begin for each counter. */
	uint8_t *range_begins;
	uint32_t range_count;
	size_t range_capacity;
};

/* The first event of a range about a counter. */
enum weft__range_begin {
	WEFT__RANGE_WITHOUT,
	WEFT__RANGE_SETS,
	WEFT__RANGE_CHANGES,
};

/* A task that another waits for, among others. */
struct weft__any {
	uint64_t time_ns; /* when the wait began */
	uint32_t source;
	uint32_t next; /* of the same wait, or of the free ones; or WEFT_NONE */
};

int weft__export_alive_init(struct weft__alive *alive);
void weft__export_alive_finish(struct weft__alive *alive);

/* Takes the next event before the range. */
int weft__export_alive_add(struct weft__alive *alive, const struct weft_event *event);

/* The holders of a resource, as they are named now; NULL if it was never held. */
struct weft__holders *weft__export_alive_holders(struct weft__alive *alive, uint32_t resource);

/* The task that the event names in `slot`, as ids are used before it; or WEFT_NONE. */
uint32_t weft__export_alive_find(
	const struct weft__alive *alive, const struct weft_event *event, enum weft_slot slot);

/* Takes an event of the range: the rundown has to include the tasks that it names, and the other
 * side of its message. 0 or WEFT_ERROR_MEMORY. */
int weft__export_alive_name(struct weft__alive *alive, const struct weft_event *event);

/* Takes it, too, if events were before the range: the rundown has to say of a counter that is
 * changed for the first time whether earlier changes may be missing. 0 or WEFT_ERROR_MEMORY. */
int weft__export_alive_name_counter(struct weft__alive *alive, const struct weft_event *event);

/* True if the first event of the range about a counter changes it, and does not set it. */
bool weft__export_alive_is_changed(const struct weft__alive *alive, uint32_t counter);

#endif
