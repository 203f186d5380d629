/* SPDX-License-Identifier: ISC
 *
 * The low-water mark: the time up to which all recorded events are visible.
 */
#ifndef WEFT_FORMAT_WEFT_MARK_H
#define WEFT_FORMAT_WEFT_MARK_H

#include "format/weft/buffer.h"

/* A thread that is inside an event holds the mark back, but not for longer than this while other
 * threads record: it may have died there, or have left by siglongjmp. If its event comes after all,
 * it is too late and is lost. */
#define WEFT__MARK_HOLD_NS 1000000000u

/* The shortest time between a reading of the clock and the look that uses it: see
 * weft/follow/mark.c. */
#define WEFT__MARK_SLACK_NS 10000u

struct weft__mark {
	struct weft__mark_slot *slots;
	const uint8_t *first; /* the first slot in the buffer */
	uint32_t slot_bytes, slot_count;
	const uint8_t *used;     /* the count of used slots, in the buffer */
	uint64_t ticks;          /* the mark */
	uint64_t previous_ticks; /* of the last look */
	uint64_t active_ns;      /* time in which any thread recorded */
	bool has_looked;
};

/* WEFT_ERROR_DAMAGED if the header's slots are invalid. */
int weft__format_mark_init(struct weft__mark *mark, const struct weft__buffer *buffer, size_t size);
void weft__format_mark_finish(struct weft__mark *mark);

/* Reads every thread's sequence and moves the mark. `ticks` was the time at least
 * WEFT__MARK_SLACK_NS ago. */
void weft__format_mark_look(
	struct weft__mark *mark, uint64_t ticks, const struct weft__ticks *clock);

/* The latest stamp in the buffer, or the time of the last look if that is later: a time that has
 * passed, on a clock that only the program can read. */
uint64_t weft__format_mark_latest(const struct weft__mark *mark, const struct weft__buffer *buffer);

#endif
