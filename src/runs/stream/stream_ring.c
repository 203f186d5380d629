/* SPDX-License-Identifier: ISC
 *
 * The stream of one ring: one file, or a series of files.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/source.h>

#include "abi/run_abi.h"
#include "runs/file.h"
#include "runs/message.h"
#include "runs/saving/samples.h"
#include "runs/stream/streaming.h"

/* Pieces written from one ring before the next ring's turn. */
#define PIECES_MAX 64

/* The error of the wall clock is noted as each file begins, at the end, and each minute. */
#define CLOCK_INTERVAL_NS UINT64_C(60000000000)

static void fail(struct weft__ring_stream *r, const char *what, const char *reason)
{
	weft__runs_report("%s: %s", weft__runs_shown(what), reason);
	r->has_failed = r->is_done = true;
}

/* Files left by another user's child must not decide the exit status. */
static void fail_to_open(struct weft__ring_stream *r, const char *reason)
{
	fail(r, r->path, reason);
	r->has_failed = r->ring.is_ours;
}

/* True if the ring is gone because its process could not complete it, and says so in a link. */
static bool was_given_up(const struct weft__ring_stream *r)
{
	char link[sizeof(r->path) + sizeof(WEFT_ABI_RUN_FAILED)];
	struct stat status;
	size_t stem = strlen(r->path) - strlen(WEFT_ABI_RUN_RING);
	snprintf(link, sizeof(link), "%.*s" WEFT_ABI_RUN_FAILED, (int)stem, r->path);
	return lstat(r->path, &status) != 0 && lstat(link, &status) == 0;
}

/* Unmaps a guest's buffer, so that nothing remains of a destroyed domain. */
static void let_go(struct weft__runs_stream *s, struct weft__ring_stream *r)
{
	if (r->guest)
		weft__runs_guests_release(s->guests, r->guest);
	r->guest = NULL;
}

/* A guest's buffer that cannot be read must not decide the exit status. */
static bool open_guest(struct weft__runs_stream *s, struct weft__ring_stream *r)
{
	int error = weft_stream_open_guest(r->guest, s->piece_bytes, &r->stream);
	if (!error)
		return true;
	fail(r, r->path, weft_error_text(error));
	r->has_failed = false;
	let_go(s, r);
	return false;
}

/* A ring without magic is still being made, or will never be complete; it is tried again. So is a
 * ring that was removed: its process makes the link after that. */
static bool open_ring(struct weft__runs_stream *s, struct weft__ring_stream *r, bool is_last)
{
	struct weft_ring_check check;
	if (r->guest)
		return open_guest(s, r);
	int fd = weft_source_open_ring(r->path, r->ring.pid, WEFT_RING_WRITE, &check);
	if (fd < 0) {
		bool is_gone = access(r->path, F_OK) != 0 && errno == ENOENT;
		if (!is_gone || (is_last && !was_given_up(r)))
			fail_to_open(r, check.reason);
		return false;
	}
	/* The stream has the tables that the ring has now, not those that are added later. */
	r->has_values = weft__runs_values_are_in(fd);
	const bool is_made =
		!s->options.sampling || weft__runs_samples_make_room(fd, s->options.sampling);
	int error =
		is_made ? weft_stream_open_descriptor(fd, s->piece_bytes, &r->stream) : WEFT_ERROR_EMPTY;
	int reason = errno;
	close(fd);
	errno = reason;
	if (error == 0)
		return true;
	r->waits = error == WEFT_ERROR_LIMIT;
	if (!r->waits && error != WEFT_ERROR_EMPTY && error != WEFT_ERROR_FORMAT)
		fail_to_open(r, error == WEFT_ERROR_SYSTEM ? strerror(errno) : weft_error_text(error));
	return false;
}

static bool begin_file(struct weft__runs_stream *s, struct weft__ring_stream *r)
{
	bool is_first = r->file.count == 0;
	if (is_first && !s->options.rotate_bytes && strcmp(r->file.name, "-") != 0 &&
		!weft__runs_file_is_free(r->file.name)) {
		r->has_failed = r->is_done = true;
		return false;
	}
	if (!weft__runs_stream_file_begin(&r->file)) {
		r->is_stuck = true;
		return false;
	}
	weft_stream_begin(r->stream);
	r->clock_notes = r->clock_due_ns = 0;
	r->begins_file = true;
	return true;
}

/* Makes a note pending. False if the error is unknown, or memory is short. */
static bool note_clock(struct weft__ring_stream *r)
{
	r->clock_due_ns = weft__runs_stream_now_ns() + CLOCK_INTERVAL_NS;
	return weft__runs_wall_clock_note(r->clock_notes, &r->clock_note) && ++r->clock_notes &&
		   weft__runs_stream_file_put(&r->file, &r->clock_note, sizeof(r->clock_note));
}

/* The first piece of a file begins with the header. */
static bool put_piece(struct weft__ring_stream *r, const void *bytes, size_t size)
{
	if (r->begins_file && size >= sizeof(struct weft_abi_buffer))
		r->clock_due_ns = weft__runs_wall_clock_fits(bytes) ? 1 : 0; /* at once, or never */
	r->begins_file = false;
	return weft__runs_stream_file_put(&r->file, bytes, size);
}

/* Counts the piece that was written, and begins the next file if it is due. */
static bool go_on(struct weft__runs_stream *s, struct weft__ring_stream *r)
{
	atomic_store(&s->progress_ns, weft__runs_stream_now_ns());
	r->written = weft_stream_describe(r->stream)->events;
	r->whole_bytes = r->file.bytes;
	if (r->has_ended && (r->ends_file || !s->options.compress)) {
		r->is_done = true;
		return false;
	}
	bool is_due = r->has_ended ||
				  (r->written > r->before &&
					  weft__runs_stream_file_is_full(&r->file, weft__runs_stream_most_bytes(s)));
	if (s->options.compress && is_due && !r->ends_file && r->file.count) {
		r->ends_file = true;
		return weft__runs_stream_file_end(&r->file);
	}
	if (r->file.count == 0 || is_due) {
		if (!begin_file(s, r))
			return false;
		r->ends_file = false;
		r->before = r->written;
		r->whole_bytes = 0;
	}
	return true;
}

/* Writes one piece. False if there is none now, or if it cannot be written. */
static bool step(struct weft__runs_stream *s, struct weft__ring_stream *r)
{
	const void *bytes;
	size_t size;
	r->is_stuck = !weft__runs_stream_file_flush(&r->file);
	if (r->is_stuck && weft__runs_stream_file_is_broken(&r->file))
		fail(r, r->file.path, strerror(r->file.error));
	if (r->is_stuck || !go_on(s, r))
		return false;
	if (r->ends_file)
		return true;
	if (!r->result.is_cut && !r->has_ended && weft__runs_stream_is_full(s, r)) {
		weft_stream_cut(r->stream);
		r->result.is_cut = true;
	}
	const bool is_clock_due = r->clock_due_ns && weft__runs_stream_now_ns() >= r->clock_due_ns;
	if (is_clock_due && !r->result.is_cut && note_clock(r))
		return true;
	int status = weft_stream_next(r->stream, &bytes, &size);
	if (status == WEFT_END && weft__runs_stream_values_take(r))
		return weft__runs_stream_file_put(&r->file, r->value_chunks.bytes, r->value_chunks.size);
	if (status == WEFT_OK && put_piece(r, bytes, size))
		return true;
	r->has_ended = status == WEFT_END;
	if (r->has_ended && r->clock_due_ns && !r->result.is_cut)
		note_clock(r);
	if (status != WEFT_END && status != WEFT_AGAIN)
		fail(r, r->file.name, weft_error_text(WEFT_ERROR_MEMORY));
	return status == WEFT_END;
}

static void close_ring(struct weft__runs_stream *s, struct weft__ring_stream *r)
{
	r->result.summary = *weft_stream_describe(r->stream);
	weft_stream_close(r->stream);
	weft__runs_stream_values_finish(r);
	r->stream = NULL;
	let_go(s, r);
}

/* Writes the pages of a guest as they are. */
static bool write_pages(struct weft__ring_stream *r)
{
	const void *bytes;
	size_t size;
	weft_guest_bytes(r->guest, &bytes, &size);
	return weft__runs_stream_file_begin(&r->file) &&
		   weft__runs_stream_file_put(&r->file, bytes, size) &&
		   weft__runs_stream_file_flush(&r->file) &&
		   (!r->file.compressor ||
			   (weft__runs_stream_file_end(&r->file) && weft__runs_stream_file_flush(&r->file))) &&
		   weft__runs_stream_file_sync(&r->file);
}

/* The CTF of mirage-profile cannot be streamed: its pages are saved when the guest's record ends.
 */
static bool serve_pages(struct weft__runs_stream *s, struct weft__ring_stream *r, bool is_last)
{
	if (!is_last && weft_guest_look(r->guest) == WEFT_GUEST_OPEN)
		return false;
	if (!weft__runs_file_is_free(r->file.name))
		r->has_failed = true;
	else if (!write_pages(r))
		fail(r, r->file.name, strerror(r->file.error));
	r->is_done = true;
	weft__runs_stream_file_close(&r->file);
	let_go(s, r);
	return true;
}

/* True if there was something to do. */
bool weft__runs_ring_stream_serve(
	struct weft__runs_stream *s, struct weft__ring_stream *r, bool is_last)
{
	bool busy = false;
	if (r->has_pages && !r->is_done)
		return serve_pages(s, r, is_last);
	if (s->is_full && !r->stream)
		r->is_done = r->result.is_cut = true;
	if (r->is_done || (!r->stream && !open_ring(s, r, is_last))) {
		/* After the program's end no ring is completed any more. */
		r->is_done = r->is_done || (is_last && !r->waits);
		return false;
	}
	weft__runs_stream_values_look(r, is_last);
	if (is_last)
		weft_stream_stop(r->stream);
	for (int i = 0; i < PIECES_MAX && step(s, r); i++)
		busy = true;
	if (r->is_done) {
		if (!r->has_failed && !weft__runs_stream_file_sync(&r->file))
			fail(r, r->file.path, strerror(r->file.error));
		/* A run may have any number of rings: those that are done keep no descriptor. */
		weft__runs_stream_file_close(&r->file);
		close_ring(s, r);
	}
	return busy || r->is_done;
}

/* ---- The end of a file that cannot be written ---- */

/* Takes the remaining events from the stream, which counts them, without writing them. */
static void pass_over(struct weft__ring_stream *r)
{
	const void *bytes;
	size_t size;
	while (r->stream && weft_stream_next(r->stream, &bytes, &size) == WEFT_OK)
		continue;
}

/* Records in the file how many events are missing at its end. This overwrites the last bytes,
 * because the disk has no room for more. */
static void store_unwritten(struct weft__ring_stream *r)
{
	uint64_t given = weft_stream_describe(r->stream)->events;
	if (weft__runs_stream_file_is_rewritable(&r->file) &&
		weft_stream_abandon(r->stream, r->file.fd, r->whole_bytes, given - r->written) == 0)
		r->file.bytes = r->whole_bytes;
	else
		weft__runs_report("cannot note in %s that its end is missing",
			weft__runs_shown(r->file.path ? r->file.path : r->file.name));
	weft__runs_stream_file_sync(&r->file);
}

/* Events that were not written stay in the ring as long as it holds them. */
void weft__runs_ring_stream_give_up(struct weft__runs_stream *s, struct weft__ring_stream *r)
{
	fail(r, r->file.path ? r->file.path : r->file.name,
		r->file.error ? strerror(r->file.error) : "not written");
	pass_over(r);
	if (r->stream)
		store_unwritten(r);
	weft__runs_stream_file_close(&r->file);
	if (r->stream)
		close_ring(s, r);
	else
		let_go(s, r);
}
