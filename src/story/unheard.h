/* SPDX-License-Identifier: ISC
 *
 * Signals to a condition for which no task waited. Recorders that write no event for these say when
 * the next wait begins when the last one was, by tags of the condition (WEFT_TAG_SIGNALLED_BY).
 */
#ifndef WEFT_STORY_UNHEARD_H
#define WEFT_STORY_UNHEARD_H

#include <weft/model.h>

struct weft__unheard {
	uint64_t time;       /* of the signal, ns; not before the trace */
	uint32_t sender;     /* task; WEFT_NONE: unknown */
	bool is_one_of_many; /* since the wait before */
};

/* True if that note of a task says that it was signalled. */
bool weft__story_unheard_by_note(
	const struct weft_model *model, uint32_t task, uint32_t note, struct weft__unheard *ret);

/* The signal that was remembered when a wait for the condition began at `since`, if it is the first
 * wait after that was written. False if there is none. */
bool weft__story_unheard_before(
	const struct weft_model *model, uint32_t condition, uint64_t since, struct weft__unheard *ret);

#endif
