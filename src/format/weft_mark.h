/* SPDX-License-Identifier: ISC
 *
 * The low-water mark: up to when everything that was recorded can be seen.
 */
#ifndef WEFT_FORMAT_WEFT_MARK_H
#define WEFT_FORMAT_WEFT_MARK_H

#include "format/weft_buffer.h"

/* A thread that is in the middle of one event holds the mark. Not for longer than this, while
 * others go on: it may have died there, or have left by siglongjmp. Should its event come after
 * all, it is too late, and a loss. */
#define WEFT__MARK_HOLD_NS 1000000000u

/* Between a reading of the clock and the look that uses it: see weft_mark.c. */
#define WEFT__MARK_SLACK_NS 10000u

struct weft__mark {
	struct weft__mark_slot *slots;
	const uint8_t *first; /* slot in the buffer */
	uint32_t slot_bytes, slot_count;
	const uint8_t *used;     /* how many of them there are, in the buffer */
	uint64_t ticks;          /* the mark */
	uint64_t previous_ticks; /* of the last look */
	uint64_t active_ns;      /* time in which any thread recorded */
	bool has_looked;
};

/* WEFT_ERROR_DAMAGED if the header's slots make no sense. */
int weft__mark_init(struct weft__mark *mark, const struct weft__buffer *buffer, size_t size);
void weft__mark_finish(struct weft__mark *mark);

/* Reads every thread's sequence; `ticks` was the time a slack ago. */
void weft__mark_look(struct weft__mark *mark, uint64_t ticks, const struct weft__ticks *clock);

/* The latest stamp in the buffer, or the time of the last look if that is later: a time that has
 * been, on a clock that only the program can read. */
uint64_t weft__mark_latest(const struct weft__mark *mark, const struct weft__buffer *buffer);

#endif
