/* SPDX-License-Identifier: ISC
 *
 * Draining a running program: everything that it records, without end, as the bytes of a stream
 * file. Another process takes packets out of the buffer as they fill up, and writes them to a file
 * or a pipe. The same decoders read the result.
 *
 *     weft_stream_open → next … next → AGAIN → wait → next … → END → weft_stream_close
 *
 * Guarantees:
 * - The output is whole after each piece: a file that ends between two pieces has all events of the
 *   pieces before, and their names. A file that ends within a piece loses part of that piece.
 * - No event is missing silently: events that were overwritten before they were taken are counted
 *   exactly, as `stalled`, in the stream as well.
 * - The program never waits. If its buffer is a file that we may write, it is asked to wake
 *   us; nothing else in it is changed.
 * - Memory is bounded by the size of the buffer.
 * - The program may be hostile: a packet is returned only if its sequence is new and was claimed.
 *   A hostile program can still claim packets as fast as an honest one, some GB/s, so the caller
 *   has to limit what it keeps: see weft_stream_cut.
 *
 * A stream belongs to one thread at a time. It allocates, and reads files of /proc.
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
struct weft_guest;

/* Begins with the oldest packet that is still in the buffer. `path` as for weft_follow_open. `next`
 * returns at most `piece_bytes` at once, except for the table of names and for a larger packet. */
int weft_stream_open(const char *path, size_t piece_bytes, struct weft_stream **ret_stream);
/* The same of an open file, which stays the caller's and may be closed then. */
int weft_stream_open_descriptor(int fd, size_t piece_bytes, struct weft_stream **ret_stream);
/* The same of a guest of Xen (guest.h), which stays the caller's and must outlive the stream. The
 * stream says that it is of this machine: of its boot and, for a guest that stamps events with
 * Xen's system time, on its clock. */
int weft_stream_open_guest(
	struct weft_guest *guest, size_t piece_bytes, struct weft_stream **ret_stream);
void weft_stream_close(struct weft_stream *stream);

/* WEFT_OK and bytes that stay valid until the next call; WEFT_AGAIN: none now; WEFT_END: the
 * program has ended or stopped recording here, and all was returned; or an error. */
int weft_stream_next(struct weft_stream *stream, const void **ret_bytes, size_t *ret_size);

/* Sets how long an event may stay in a packet that does not fill up before it is returned; a second
 * by default. Each time costs a packet's header. */
void weft_stream_take_open(struct weft_stream *stream, uint64_t interval_ns);

/* Makes the next bytes begin a new file, which can be read without those before. */
void weft_stream_begin(struct weft_stream *stream);

/* Waits until there is much to be taken, for the timeout, or until a signal comes. 0 or an error.
 */
int weft_stream_wait(struct weft_stream *stream, uint64_t timeout_ns);

/* Stops: `next` returns what there is now, and then END, though the program goes on. */
void weft_stream_stop(struct weft_stream *stream);

/* Ends the file `fd`, whose disk is full, after its first `bytes`, which must be whole pieces: cuts
 * off the rest, and overwrites the last header in the file by one that says so, and whose losses
 * are those of the file. `unwritten` events that were returned but are not in the file count as
 * stalled. Allocates nothing on the disk. The descriptor must allow reading and writing; pieces are
 * no longer valid after this. 0, or an error: WEFT_ERROR_FORMAT if there is no header in the file.
 */
int weft_stream_abandon(struct weft_stream *stream, int fd, uint64_t bytes, uint64_t unwritten);

/* Ends the stream because there is no more room for it: what was not returned yet is lost, and
 * counted where its number is known. `next` then returns a last header of less than 8 KiB, and END,
 * though the program goes on. */
void weft_stream_cut(struct weft_stream *stream);

/* A summary of what was returned so far. */
const struct weft_buffer_summary *weft_stream_describe(const struct weft_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
