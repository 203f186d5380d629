/* SPDX-License-Identifier: ISC
 *
 * Follows a buffer: reads its events while a program records into it. Pure: the caller passes the
 * time, and waits.
 *
 *     create → look → next … next → (time passes) → look → next … → finish → next … → destroy
 *
 * A look moves the low-water mark: `next` gives the events before it in time order, and no earlier
 * event can come after them.
 */
#ifndef WEFT_FORMAT_WEFT_FOLLOWER_H
#define WEFT_FORMAT_WEFT_FOLLOWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/diagnostic.h>
#include <weft/event.h>
#include <weft/trace.h>

#include "abi/buffer_abi.h"
#include "format/format.h"

struct weft__follower;
struct weft__buffer;
struct weft__guest_facts;
struct weft__naming;
struct weft__fact;

/* The bytes are aligned to 8, stay where they are, and may be another program's mapping. */
int weft__format_follower_create(
	const uint8_t *bytes, size_t size, struct weft__follower **ret_follower);
/* The same of a guest's buffer, with what this host knows of it: see weft/guest_facts.h; NULL:
 * here. */
int weft__format_follower_create_at(const struct weft__guest_facts *facts, const uint8_t *bytes,
	size_t size, struct weft__follower **ret_follower);

/* weft/saved.c: reads what a buffer or a stream has now, though its bytes may change. The follower
 * is finished from the beginning on, and fills the input's description and diagnostics. */
int weft__format_follower_create_saved(
	const struct weft__input *input, struct weft__follower **ret_follower);
void weft__format_follower_destroy(struct weft__follower *follower);

/* The latest stamp in the buffer: a time that has passed, for a clock that only the program can
 * read. */
uint64_t weft__format_follower_latest(struct weft__follower *follower);

/* Moves the mark; `ticks` was the time on the buffer's clock at least WEFT__MARK_SLACK_NS ago.
 * 0 or WEFT_ERROR_MEMORY. */
int weft__format_follower_look(struct weft__follower *follower, uint64_t ticks);

/* is_stopped: the program has stopped recording, though it still runs; its threads may still be
 * inside an event. is_settled: none of them was at the last look. */
bool weft__format_follower_is_stopped(const struct weft__follower *follower);
bool weft__format_follower_is_settled(const struct weft__follower *follower);

/* The program has ended: `next` can give all remaining events. 0 or WEFT_ERROR_MEMORY. */
int weft__format_follower_finish(struct weft__follower *follower);

/* Loads into the description how the record ended, as weft__format_buffer_load_end does. */
void weft__format_follower_load_end(
	struct weft__follower *follower, enum weft_abi_ending ending, uint64_t ticks);

/* Returns WEFT_OK and an event; WEFT_AGAIN: look again; WEFT_END: finished, and all events were
 * given; or WEFT_ERROR_MEMORY. The event borrows until the next call. */
int weft__format_follower_next(struct weft__follower *follower, struct weft_event *ret_event);
/* The same, into an event that the caller has zeroed. */
int weft__format_follower_take(struct weft__follower *follower, struct weft_event *event);

/* weft/follow/plain.c: gives the next events as facts, up to `most` of them, as long as they are
 * plain and before `before_ns`; the next one is for `take`. 0 or WEFT_ERROR_MEMORY. */
int weft__format_follower_take_facts(struct weft__follower *follower,
	const struct weft__naming *naming, uint64_t before_ns, struct weft__fact *facts, uint32_t most,
	uint32_t *ret_count);

/* weft/follow/seek.c, for a saved buffer or a stream: see weft_decoder_seek(). */
int weft__format_follower_seek(
	struct weft__follower *follower, uint64_t time_ns, bool *ret_follows_given);

/* The same file, for the same: passes the packets to `take`, as struct weft__format says. */
int weft__format_follower_weigh(
	struct weft__follower *follower, weft__format_weigh *take, void *context);

/* True if an event may be ready to be given. */
bool weft__format_follower_is_ready(const struct weft__follower *follower);

/* The low-water mark: no earlier event can come any more. UINT64_MAX once finished. */
uint64_t weft__format_follower_mark_ns(const struct weft__follower *follower);

/* The buffer, as it was checked by create. */
const struct weft__buffer *weft__format_follower_buffer(const struct weft__follower *follower);

const struct weft_trace_description *weft__format_follower_describe(const struct weft__follower *f);
struct weft_diagnostics *weft__format_follower_diagnostics(struct weft__follower *follower);

#endif
