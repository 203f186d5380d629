/* SPDX-License-Identifier: ISC
 *
 * The system-dependent part of streaming: waiting, and the program's end. The rest is
 * format/weft/drain/drain.c.
 */
#include <weft/stream.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "abi/buffer_abi.h"
#include "abi/stream_abi.h"
#include "base/export.h"
#include "follow/live.h"
#include "format/weft/drain/drain.h"

/* The interval between looks while nothing comes and no wake-up arrives. */
static const uint64_t INTERVAL_MIN_NS = 1000000;
static const uint64_t INTERVAL_MAX_NS = 20000000;

/* The default interval at which open packets are taken. A crash of the machine or of this process
 * loses up to this much time from the file. */
static const uint64_t OPEN_INTERVAL_NS = 1000000000;

/* How long to wait, after recording has stopped, for threads that are inside an event. */
static const uint64_t STOPPED_HOLD_NS = 1000000000;

/* How long to wait, after the process has ended, until its parent asks how; and after that for a
 * note of its wait status in the ring. */
static const uint64_t PARENT_HOLD_NS = 2000000000;
static const uint64_t NOTE_HOLD_NS = 100000000;

/* How long to wait, after the process has ended, until its last samples are there. The
 * process that takes them may have been killed. */
static const uint64_t SAMPLES_HOLD_NS = 30000000000;

/* Asks to be woken when 1/16 of the ring has been claimed: early enough to copy it in time, but
 * rarely. */
enum {
	WAKE_PART = 16
};

struct weft_stream {
	struct weft__drain *drain;
	struct weft__live_ring live;
	uint64_t interval_ns; /* until the next look */
	uint64_t open_ns;     /* when open packets have to be taken */
	uint64_t open_interval_ns;
	uint64_t stopped_ns; /* when this side noticed that recording had stopped */
	uint64_t gone_ns;    /* when this side noticed that the process had ended */
	uint64_t asked_ns;   /* and that its parent knew, or would not ask */
	struct weft__guest_facts guest_facts;
	bool has_guest_facts;
	bool is_finished;
};

/* The clocks of a guest's host may drift apart: the headers that follow have a new comparison. */
static void compare_clocks(struct weft_stream *stream, bool at_once)
{
	if (stream->has_guest_facts &&
		weft__follow_live_compare(&stream->live, at_once, &stream->guest_facts))
		weft__format_drain_set_guest_facts(stream->drain, &stream->guest_facts);
}

static void set_end(struct weft_stream *stream, enum weft_abi_ending ending)
{
	compare_clocks(stream, true);
	const struct weft_abi_clock_reading now =
		weft__follow_live_take_clock(&stream->live, weft__format_drain_latest(stream->drain));
	weft__format_drain_set_end(stream->drain, ending, &now);
}

static void finish(struct weft_stream *stream, bool is_written)
{
	if (!stream->is_finished) {
		if (is_written)
			set_end(stream, WEFT_ABI_ENDING_RUNNING);
		else if (!stream->gone_ns)
			set_end(stream, weft__follow_live_ending(&stream->live));
		weft__format_drain_finish(stream->drain, is_written);
	}
	stream->is_finished = true;
}

/* True once recording has been stopped for STOPPED_HOLD_NS, which lets threads end the events that
 * they are inside. */
static bool has_stopped(struct weft_stream *stream, uint64_t now)
{
	const struct weft_abi_buffer *header = stream->live.bytes;
	if (!__atomic_load_n(&header->stopped, __ATOMIC_ACQUIRE))
		return false;
	if (!stream->stopped_ns)
		stream->stopped_ns = now;
	return now - stream->stopped_ns > STOPPED_HOLD_NS;
}

/* True once the process that started the program has stored the program's wait status in the ring,
 * or will not do so any more. */
static bool has_been_noted(struct weft_stream *stream, uint64_t now)
{
	const struct weft_abi_buffer *header = stream->live.bytes;
	if (!stream->gone_ns) {
		stream->gone_ns = now;
		set_end(stream, weft__follow_live_ending(&stream->live));
	}
	/* A busy machine may leave the parent without a processor for long. */
	if (!stream->asked_ns && (now - stream->gone_ns > PARENT_HOLD_NS ||
								 !weft__follow_process_awaits_parent(&stream->live.process)))
		stream->asked_ns = now;
	return __atomic_load_n(&header->wait_status, __ATOMIC_RELAXED) ||
		   (stream->asked_ns && now - stream->asked_ns > NOTE_HOLD_NS);
}

static bool awaits_samples(const struct weft_stream *stream, uint64_t now)
{
	return now - stream->gone_ns < SAMPLES_HOLD_NS &&
		   weft__format_drain_awaits_samples(stream->drain);
}

/* The latest stamp if only the program can read its clock. */
static uint64_t read_clock(const struct weft_stream *stream)
{
	uint64_t ticks;
	return weft__follow_live_read_clock(&stream->live, &ticks)
			   ? ticks
			   : weft__format_drain_latest(stream->drain);
}

/* Reads the buffer's clock, then waits for the slack. If only the program can read its clock, the
 * result is the latest stamp: readers of the stream get the events with that stamp when a later one
 * comes or the stream ends, because more events with the same stamp may come until then. */
static uint64_t clock_before(const struct weft_stream *stream)
{
	uint64_t ticks = read_clock(stream);
	weft__follow_live_wait_slack();
	return ticks;
}

/* The end is checked before the look: everything that the program recorded before its end is
 * visible afterwards. */
static void look(struct weft_stream *stream)
{
	if (stream->is_finished)
		return;
	uint64_t now = weft__follow_live_now_ns();
	if (weft__follow_live_has_ended(&stream->live)) {
		if (has_been_noted(stream, now) && !awaits_samples(stream, now))
			finish(stream, false);
		return;
	}
	if (has_stopped(stream, now)) {
		finish(stream, true);
		return;
	}
	bool with_open = now >= stream->open_ns;
	if (with_open) {
		stream->open_ns = now + stream->open_interval_ns;
		compare_clocks(stream, false);
	}
	weft__format_drain_look(stream->drain, with_open, with_open ? clock_before(stream) : 0);
}

WEFT__EXPORT int weft_stream_next(
	struct weft_stream *stream, const void **ret_bytes, size_t *ret_size)
{
	int status = weft__format_drain_next(stream->drain, ret_bytes, ret_size);
	if (status == WEFT_AGAIN) {
		look(stream);
		status = weft__format_drain_next(stream->drain, ret_bytes, ret_size);
	}
	if (status == WEFT_OK)
		stream->interval_ns = INTERVAL_MIN_NS;
	return status;
}

WEFT__EXPORT void weft_stream_take_open(struct weft_stream *stream, uint64_t interval_ns)
{
	stream->open_interval_ns = interval_ns;
	stream->open_ns = 0;
}

WEFT__EXPORT void weft_stream_begin(struct weft_stream *stream)
{
	weft__format_drain_begin(stream->drain);
}

WEFT__EXPORT void weft_stream_stop(struct weft_stream *stream)
{
	finish(stream, !weft__follow_live_has_ended(&stream->live));
}

WEFT__EXPORT void weft_stream_cut(struct weft_stream *stream)
{
	set_end(stream, WEFT_ABI_ENDING_CUT);
	weft__format_drain_cut(stream->drain);
	stream->is_finished = true;
}

WEFT__EXPORT int weft_stream_wait(struct weft_stream *stream, uint64_t timeout_ns)
{
	uint64_t ns = stream->live.page ? INTERVAL_MAX_NS : stream->interval_ns;
	if (stream->is_finished)
		return 0;
	stream->interval_ns = 2 * ns < INTERVAL_MAX_NS ? 2 * ns : INTERVAL_MAX_NS;
	weft__follow_live_wait(&stream->live,
		weft__format_drain_packet_count(stream->drain) / WAKE_PART,
		ns < timeout_ns ? ns : timeout_ns);
	return 0;
}

/* Finds the last header of a file that ends at `end`; 0: the first one. */
static off_t find_last_header(int fd, off_t end)
{
	struct weft_abi_chunk chunk;
	off_t found = 0, at = sizeof(struct weft_abi_buffer);
	while (at < end && pread(fd, &chunk, sizeof(chunk), at) == (ssize_t)sizeof(chunk) &&
		   chunk.magic == WEFT_ABI_CHUNK_MAGIC) {
		at += (off_t)sizeof(chunk);
		if (chunk.kind == WEFT_ABI_CHUNK_HEADER)
			found = at;
		at += chunk.bytes;
	}
	return found;
}

WEFT__EXPORT int weft_stream_abandon(
	struct weft_stream *stream, int fd, uint64_t bytes, uint64_t unwritten)
{
	struct weft_abi_buffer header;
	if (bytes < sizeof(header) || bytes > INT64_MAX)
		return WEFT_ERROR_FORMAT;
	if (ftruncate(fd, (off_t)bytes) != 0)
		return WEFT_ERROR_SYSTEM;
	set_end(stream, WEFT_ABI_ENDING_CUT);
	weft__format_drain_abandon(stream->drain, unwritten, &header);
	ssize_t written = pwrite(fd, &header, sizeof(header), find_last_header(fd, (off_t)bytes));
	return written == (ssize_t)sizeof(header) ? 0 : WEFT_ERROR_SYSTEM;
}

WEFT__EXPORT const struct weft_buffer_summary *weft_stream_describe(
	const struct weft_stream *stream)
{
	return weft__format_drain_summary(stream->drain);
}

static void start(struct weft_stream *stream)
{
	stream->interval_ns = INTERVAL_MIN_NS;
	stream->open_interval_ns = OPEN_INTERVAL_NS;
	weft__format_drain_set_series(stream->drain, read_clock(stream));
	stream->has_guest_facts = weft__follow_live_guest_facts(&stream->live, &stream->guest_facts);
	if (stream->has_guest_facts)
		weft__format_drain_set_guest_facts(stream->drain, &stream->guest_facts);
}

/* Takes over `live`, which was opened with `error`. */
static int create(const struct weft__live_ring *live, int error, size_t piece_bytes,
	struct weft_stream **ret_stream)
{
	struct weft_stream *stream = calloc(1, sizeof(*stream));
	struct weft__live_ring own = *live;
	int reason = errno;
	if (!error && !stream)
		error = WEFT_ERROR_MEMORY;
	if (!error)
		error = weft__format_drain_create(live->bytes, live->size, piece_bytes, &stream->drain);
	if (error) {
		weft__follow_live_close(&own);
		free(stream);
	} else {
		stream->live = own;
		start(stream);
		*ret_stream = stream;
	}
	errno = reason;
	return error;
}

WEFT__EXPORT int weft_stream_open(
	const char *path, size_t piece_bytes, struct weft_stream **ret_stream)
{
	struct weft__live_ring live;
	int error = weft__follow_live_open(&live, path);
	return create(&live, error, piece_bytes, ret_stream);
}

WEFT__EXPORT int weft_stream_open_descriptor(
	int fd, size_t piece_bytes, struct weft_stream **ret_stream)
{
	struct weft__live_ring live;
	int error = weft__follow_live_open_descriptor(&live, fd);
	return create(&live, error, piece_bytes, ret_stream);
}

WEFT__EXPORT int weft_stream_open_guest(
	struct weft_guest *guest, size_t piece_bytes, struct weft_stream **ret_stream)
{
	struct weft__live_ring live;
	int error = weft__follow_live_open_guest(&live, guest);
	return create(&live, error, piece_bytes, ret_stream);
}

WEFT__EXPORT void weft_stream_close(struct weft_stream *stream)
{
	if (!stream)
		return;
	weft__format_drain_destroy(stream->drain);
	weft__follow_live_close(&stream->live);
	free(stream);
}
