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
 * - The program may be hostile: a packet is given only if its sequence is new and was claimed. But
 *   a hostile program can claim as fast as an honest one can, some GB/s, so the caller has to bound
 *   what it keeps: see weft_stream_cut.
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
/* The same of an open file, which stays the caller's and may be closed then. */
int weft_stream_open_descriptor(int fd, size_t piece_bytes, struct weft_stream **ret_stream);
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

/* Ends the file `fd`, whose disk is full, after its first `bytes`, those of whole pieces: the rest
 * is cut off, and the last header in the file is overwritten by one whose losses are those of the
 * file. `unwritten` given events that are not in the file count as stalled. Allocates nothing on
 * the disk. The descriptor is for reading and writing; no piece is valid any more. 0, or an error:
 * WEFT_ERROR_FORMAT if there is no header in the file. */
int weft_stream_abandon(struct weft_stream *stream, int fd, uint64_t bytes, uint64_t unwritten);

/* There is no more room: what was not given is lost, and counted where its number is known. Then
 * come a last header of less than 8 KiB, and END, though the program goes on. */
void weft_stream_cut(struct weft_stream *stream);

/* Of what was given so far. */
const struct weft_buffer_summary *weft_stream_describe(const struct weft_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
