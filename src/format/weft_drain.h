/* SPDX-License-Identifier: ISC
 *
 * From a buffer that a program is recording into to a stream: what is new, as bytes to be appended.
 * Pure: the caller waits, and writes. Nothing is decoded that is not needed to cut a packet in two.
 *
 *     create → look → next … next → AGAIN → (time passes) → look → … → finish → next … → END
 */
#ifndef WEFT_FORMAT_WEFT_DRAIN_H
#define WEFT_FORMAT_WEFT_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/buffer.h>

struct weft__drain;

/* As for a follower. `piece_bytes` bounds what `next` gives at once, but for a packet and names. */
int weft__drain_create(
	const uint8_t *bytes, size_t size, size_t piece_bytes, struct weft__drain **ret_drain);
void weft__drain_destroy(struct weft__drain *drain);

/* What next gives begins a file of its own. So it is at first. */
void weft__drain_begin(struct weft__drain *drain);

/* From now on next gives what there is now; with_open: of the packets that are open too. A mark
 * follows them if `ticks` is not 0: then it was the time on the buffer's clock at least
 * WEFT__MARK_SLACK_NS ago. */
void weft__drain_look(struct weft__drain *drain, bool with_open, uint64_t ticks);

/* As weft__follower_latest. */
uint64_t weft__drain_latest(const struct weft__drain *drain);

/* The last look. Nobody writes any more; or somebody does (is_written), but the stream ends here.
 */
void weft__drain_finish(struct weft__drain *drain, bool is_written);

/* There is no more room for the stream: what was not given yet is lost, and counted where the
 * number is known. After this next gives a last header, and WEFT_END. */
void weft__drain_cut(struct weft__drain *drain);

/* WEFT_OK and bytes that stay until the next call; WEFT_AGAIN: look again; WEFT_END; or
 * WEFT_ERROR_MEMORY. */
int weft__drain_next(struct weft__drain *drain, const void **ret_bytes, size_t *ret_size);

/* Packets of the ring, as it was checked at the beginning. */
uint32_t weft__drain_packet_count(const struct weft__drain *drain);

/* A header (struct weft_abi_buffer) for the file that next gave, if `unwritten` of its events are
 * not in it: they count as stalled there. */
void weft__drain_abandon(struct weft__drain *drain, uint64_t unwritten, void *ret_header);

/* The events of what was given, and the losses. */
const struct weft_buffer_summary *weft__drain_summary(const struct weft__drain *drain);

#endif
