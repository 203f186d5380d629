/* SPDX-License-Identifier: ISC
 *
 * A buffer that a program is recording into, read as it goes on. Pure: the caller brings the time,
 * and waits.
 *
 *     create → look → next … next → (time passes) → look → next … → finish → next … → destroy
 *
 * A look moves the low-water mark: what is earlier is given by next, in the order of time, and
 * nothing earlier comes any more.
 */
#ifndef WEFT_FORMAT_WEFT_FOLLOWER_H
#define WEFT_FORMAT_WEFT_FOLLOWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/diagnostic.h>
#include <weft/event.h>
#include <weft/trace.h>

#include "format/format.h"

struct weft__follower;
struct weft__buffer;

/* The bytes are aligned to 8, stay where they are, and may be another program's mapping. */
int weft__follower_create(const uint8_t *bytes, size_t size, struct weft__follower **ret_follower);

/* weft_saved.c: of a buffer or a stream where nothing more comes, though the bytes may change. It
 * is finished from the beginning on, and fills the input's description and diagnostics. */
int weft__follower_create_saved(
	const struct weft__input *input, struct weft__follower **ret_follower);
void weft__follower_destroy(struct weft__follower *follower);

/* The latest stamp in the buffer: a time on its clock that has been, for clocks that only the
 * program can read. */
uint64_t weft__follower_latest(struct weft__follower *follower);

/* Moves the mark; `ticks` was the time on the buffer's clock at least WEFT__MARK_SLACK_NS ago.
 * 0 or WEFT_ERROR_MEMORY. */
int weft__follower_look(struct weft__follower *follower, uint64_t ticks);

/* Has the program stopped recording, while it goes on? Some thread may still be in the middle of an
 * event, as seen at the last look. */
bool weft__follower_is_stopped(const struct weft__follower *follower);
bool weft__follower_is_settled(const struct weft__follower *follower);

/* Nobody writes any more: all that is there can be given. Likewise. */
int weft__follower_finish(struct weft__follower *follower);

/* WEFT_OK and an event; WEFT_AGAIN: look again; WEFT_END: finished, and all was given; or
 * WEFT_ERROR_MEMORY. The event borrows until the next call. */
int weft__follower_next(struct weft__follower *follower, struct weft_event *ret_event);
/* The same, into an event that arrives zeroed. */
int weft__follower_take(struct weft__follower *follower, struct weft_event *event);

/* Is there something to be given? */
bool weft__follower_is_ready(const struct weft__follower *follower);

/* Nothing earlier comes any more; UINT64_MAX once finished. */
uint64_t weft__follower_mark_ns(const struct weft__follower *follower);

/* As it was checked at the beginning. */
const struct weft__buffer *weft__follower_buffer(const struct weft__follower *follower);

const struct weft_trace_description *weft__follower_describe(const struct weft__follower *f);
struct weft_diagnostics *weft__follower_diagnostics(struct weft__follower *follower);

#endif
