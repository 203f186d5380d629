/* SPDX-License-Identifier: ISC
 *
 * Everything that a running program records, without end, as the bytes of a stream file: another
 * process takes the packets out of the buffer as they fill, and appends them to a file, a pipe or
 * whatever it likes. The same decoders read the result.
 *
 *     weft_stream_open → next … next → AGAIN → wait → next … → END → weft_stream_close
 *
 * Promised:
 * - What has been given is whole at each piece: a file that ends between two pieces has all events
 *   of the pieces before, and their names. One that ends within a piece loses some of that piece.
 * - Nothing is missing silently: what was overwritten before it was taken is counted, to the event,
 *   as `stalled`, in the stream too.
 * - The program does not wait for anybody. If its buffer is a file that we may write, it is asked
 *   to wake us; nothing else in it is changed.
 * - Memory is bounded, by the size of the buffer.
 *
 * A stream belongs to one thread at a time. It allocates, and it reads files of /proc.
 */
#ifndef WEFT_STREAM_H
#define WEFT_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include <weft/buffer.h>
#include <weft/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_stream;

/* Begins with the oldest packet that is still there. `path` as for weft_follow_open. `next` gives
 * no more than `piece_bytes` at once, but for the table of names, and a packet if that is larger.
 */
int weft_stream_open(const char *path, size_t piece_bytes, struct weft_stream **ret_stream);
void weft_stream_close(struct weft_stream *stream);

/* WEFT_OK and bytes, which stay until the next call; WEFT_AGAIN: none now; WEFT_END: the program
 * has ended or records here no more, and all was given; or an error. */
int weft_stream_next(struct weft_stream *stream, const void **ret_bytes, size_t *ret_size);

/* How long an event may stay in a packet that does not fill before it is given: a second unless
 * told. Each time costs a packet's header. */
void weft_stream_take_open(struct weft_stream *stream, uint64_t interval_ns);

/* The next bytes begin a new file, which can be read without those before. */
void weft_stream_begin(struct weft_stream *stream);

/* Until there is much to be taken, or for so many ns, or a signal came. 0 or an error. */
int weft_stream_wait(struct weft_stream *stream, uint64_t timeout_ns);

/* No more is wanted: what there is now is given, and then END, though the program goes on. */
void weft_stream_stop(struct weft_stream *stream);

/* Of what was given so far. */
const struct weft_buffer_summary *weft_stream_describe(const struct weft_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
