/* SPDX-License-Identifier: ISC
 *
 * Tracks: rows for spans that other clocks measured. Spans of a track that overlap go to different
 * lines, each of which is a task of its own; so the spans of a line are in the order of time,
 * however they were recorded, and a snapshot appends to them as to any other rows. A thread's
 * own spans, outside any task, are on a track with one line.
 */
#ifndef WEFT_MODEL_TRACKS_H
#define WEFT_MODEL_TRACKS_H

#include "model/facts.h"

struct weft__track_line {
	uint64_t end;  /* of its last span */
	uint32_t task; /* its number */
	uint32_t name; /* string; of a thread without a name yet: WEFT_NONE */
	uint32_t thread;
};

struct weft__tracks {
	struct weft__track_line *lines; /* in the order of first use */
	uint32_t count;
	size_t capacity;
	struct weft__index by_task; /* no slots before the first line */
};

void weft__model_tracks_finish(struct weft__tracks *tracks);

/* Chooses the line of a span, which the fact then names instead of the track. On the last line of a
 * track, a span begins after the one before; so it may end before it begins. 0, WEFT_ERROR_MEMORY
 * or WEFT_ERROR_LIMIT. */
int weft__model_tracks_place(struct weft__tracks *tracks, struct weft__identities *identities,
	struct weft__texts *texts, const struct weft_event *event, struct weft__fact *fact);

/* True if the event begins or ends a span of the thread itself. */
static inline bool weft__model_is_of_thread(const struct weft_event *event)
{
	bool is_part = event->type == WEFT_EVENT_BEGIN || event->type == WEFT_EVENT_END;
	return is_part && event->task == WEFT_TASK_NONE;
}

/* Makes the fact name the thread's track as its task; an end alone makes no track. 0,
 * WEFT_ERROR_MEMORY or WEFT_ERROR_LIMIT. */
int weft__model_tracks_place_thread(struct weft__tracks *tracks,
	struct weft__identities *identities, const struct weft_event *event, struct weft__fact *fact);

/* Renumbers the tasks, none of which is forgotten. 0 or WEFT_ERROR_MEMORY. */
int weft__model_tracks_move(struct weft__tracks *tracks, const uint32_t *new_index);

#endif
