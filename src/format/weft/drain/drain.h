/* SPDX-License-Identifier: ISC
 *
 * Drains a buffer while a program records into it: gives the new content as bytes to append to a
 * stream. Pure: the caller waits and writes. Events are decoded only where a packet has to be cut
 * in two.
 *
 *     create → look → next … next → AGAIN → (time passes) → look → … → finish → next … → END
 */
#ifndef WEFT_FORMAT_WEFT_DRAIN_H
#define WEFT_FORMAT_WEFT_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/buffer.h>

#include "abi/buffer_abi.h"

struct weft__drain;
struct weft__guest_facts;

/* Takes the same bytes as weft__format_follower_create(). `piece_bytes` bounds the bytes that
 * `next` gives at once; only a single packet or the names may exceed it. */
int weft__format_drain_create(
	const uint8_t *bytes, size_t size, size_t piece_bytes, struct weft__drain **ret_drain);
void weft__format_drain_destroy(struct weft__drain *drain);

/* Sets where the buffer is: see weft/guest_facts.h. Call it before `next`; later calls may only add
 * comparisons of clocks, and lead to a header in the stream. */
void weft__format_drain_set_guest_facts(
	struct weft__drain *drain, const struct weft__guest_facts *facts);

/* Sets the number that all files of the stream have in common. Call it before `next`. */
void weft__format_drain_set_series(struct weft__drain *drain, uint64_t series);

/* Begins a new file with the next bytes that `next` gives. The first file needs no call. */
void weft__format_drain_begin(struct weft__drain *drain);

/* Starts a look: `next` then gives all new content, with_open also that of open packets. With
 * with_open and a `ticks` other than 0, a mark follows; `ticks` was the time on the buffer's clock
 * at least WEFT__MARK_SLACK_NS ago. */
void weft__format_drain_look(struct weft__drain *drain, bool with_open, uint64_t ticks);

/* The same as weft__format_follower_latest(). */
uint64_t weft__format_drain_latest(const struct weft__drain *drain);

/* True if samples of what the program ran are still to be added to its buffer. */
bool weft__format_drain_awaits_samples(const struct weft__drain *drain);

/* The last look: the program has ended; or it may still write (is_written), but the stream ends
 * here. */
void weft__format_drain_finish(struct weft__drain *drain, bool is_written);

/* Sets how and when the record ended, for the headers that follow, unless the program stores its
 * end itself. */
void weft__format_drain_set_end(struct weft__drain *drain, enum weft_abi_ending ending,
	const struct weft_abi_clock_reading *end);

/* Ends the stream for lack of space. Events that were not given yet are lost, and counted if their
 * number is known. Then `next` gives a last header and WEFT_END. */
void weft__format_drain_cut(struct weft__drain *drain);

/* Returns WEFT_OK and bytes that are valid until the next call; WEFT_AGAIN: look again; WEFT_END;
 * or WEFT_ERROR_MEMORY. */
int weft__format_drain_next(struct weft__drain *drain, const void **ret_bytes, size_t *ret_size);

/* The number of packets in the ring. */
uint32_t weft__format_drain_packet_count(const struct weft__drain *drain);

/* Writes a header (struct weft_abi_buffer) for the file that `next` gave, if `unwritten` of its
 * events did not get into the file: they count as stalled there. */
void weft__format_drain_abandon(struct weft__drain *drain, uint64_t unwritten, void *ret_header);

/* The number of events given so far, and the losses. */
const struct weft_buffer_summary *weft__format_drain_summary(const struct weft__drain *drain);

#endif
