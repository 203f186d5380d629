/* SPDX-License-Identifier: ISC
 *
 * A ring is sent as a stream (include/weft/stream.h), and a file as it is. Each client has feeds of
 * its own, so that a slow client does not delay others: it loses events of a ring, counted, when
 * the ring has wrapped.
 */
#include "feed.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weft/source.h>
#include <weft/stream.h>
#include <weft/xentrace.h>

#include "serve.h"
#include "tail/xentrace.h"

/* Large enough for efficient packets, small enough for low latency. */
#define PIECE_BYTES ((size_t)64 << 10)

static const uint64_t OPEN_NS = 80000000;      /* as often as the page shows a picture */
static const uint64_t FILE_WAIT_NS = 50000000; /* between looks at a file */
static const uint64_t QUIET_NS = 3000000000;   /* the writer of a stream marks each second */

/* The headers of xentrace's windows: docs/formats.md. */
#define WINDOW_HEAD_BYTES 12u
#define WINDOW_HEAD       UINT32_C(0x2001f003)
#define NOTE_HEAD         UINT32_C(0x7001f003)

/* Where a window of xentrace's ends. */
struct windows {
	unsigned char head[WINDOW_HEAD_BYTES]; /* of the window whose header is being read */
	uint64_t head_bytes, rest;             /* bytes of that header; of the window behind it */
	bool is_damaged;                       /* it is not known where windows begin */
	unsigned char silence[WEFT_XENTRACE_NOTE_BYTES];
};

struct serve_feed {
	struct weft_stream *stream; /* NULL: it is a file */
	struct weft_source_growth *growth;
	char *path;
	bool is_xentrace, is_stopped;
	struct windows windows; /* of a file that xentrace writes */
	uint64_t grown_ns;      /* when a file had new bytes */
};

/* A chunk of a kind that readers skip: src/abi/stream_abi.h. */
static const unsigned char nothing[24] = {
	0xff, 0xea, 0x46, 0x89, 0x63, 0x68, 0x6e, 0x6b, 5, 0, 0, 0};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- Opening ---- */

static int open_stream(const char *path, pid_t pid, struct weft_stream **ret_stream)
{
	struct weft_ring_check check;
	if (!pid) /* a file that the user has named */
		return weft_stream_open(path, PIECE_BYTES, ret_stream);
	int fd = weft_source_open_ring(path, pid, WEFT_RING_WRITE, &check);
	if (fd < 0)
		return WEFT_ERROR_SYSTEM;
	int error = weft_stream_open_descriptor(fd, PIECE_BYTES, ret_stream);
	close(fd);
	return error;
}

static int open_file(struct serve_feed *feed)
{
	const struct weft_xentrace_note note = {0};
	weft_xentrace_write_note(&note, feed->windows.silence);
	feed->grown_ns = now_ns();
	return weft_source_growth_open(feed->path, &feed->growth);
}

struct serve_feed *serve_feed_open(const struct serve_trace *trace, enum serve_feed_files files)
{
	struct serve_feed *feed = calloc(1, sizeof(*feed));
	if (!feed)
		return NULL;
	feed->path = strdup(trace->path);
	feed->is_xentrace = !trace->pid && tail_xentrace_fits(trace->path);
	bool is_file = feed->is_xentrace || (!trace->pid && files == SERVE_FEED_ALL);
	int error = feed->path ? 0 : WEFT_ERROR_MEMORY;
	if (!error)
		error = is_file ? open_file(feed) : open_stream(trace->path, trace->pid, &feed->stream);
	if (error) {
		serve_feed_close(feed);
		return NULL;
	}
	if (feed->stream)
		weft_stream_take_open(feed->stream, OPEN_NS);
	return feed;
}

void serve_feed_close(struct serve_feed *feed)
{
	if (!feed)
		return;
	weft_stream_close(feed->stream);
	weft_source_growth_close(feed->growth);
	free(feed->path);
	free(feed);
}

/* ---- Windows of xentrace ---- */

static uint32_t load_u32(const unsigned char *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Reads the header of a window. */
static void enter_window(struct windows *w)
{
	uint32_t kind = load_u32(w->head);
	w->head_bytes = 0;
	w->rest = load_u32(w->head + 8);
	if (kind == NOTE_HEAD)
		w->rest += WEFT_XENTRACE_NOTE_BYTES - WINDOW_HEAD_BYTES;
	w->is_damaged |= kind != NOTE_HEAD && kind != WINDOW_HEAD;
}

/* Follows the windows in the bytes that are sent. */
static void follow_windows(struct windows *w, const char *bytes, size_t size)
{
	while (size && !w->is_damaged) {
		bool is_head = !w->rest;
		uint64_t wanted = is_head ? WINDOW_HEAD_BYTES - w->head_bytes : w->rest;
		size_t taken = size < wanted ? size : (size_t)wanted;
		if (is_head) {
			memcpy(w->head + w->head_bytes, bytes, taken);
			w->head_bytes += taken;
		} else
			w->rest -= taken;
		if (w->head_bytes == WINDOW_HEAD_BYTES)
			enter_window(w);
		bytes += taken;
		size -= taken;
	}
}

static bool is_between_windows(const struct windows *w)
{
	return !w->is_damaged && !w->rest && !w->head_bytes;
}

/* ---- Reading ---- */

static int read_growth(struct serve_feed *feed, const void **ret_bytes, size_t *ret_size)
{
	int status = weft_source_growth_next(feed->growth, ret_bytes, ret_size);
	if (status != WEFT_OK)
		return status;
	feed->grown_ns = now_ns();
	if (feed->is_xentrace)
		follow_windows(&feed->windows, *ret_bytes, *ret_size);
	return WEFT_OK;
}

static bool is_being_written(const struct serve_feed *feed)
{
	return feed->is_xentrace ? tail_xentrace_fits(feed->path)
							 : now_ns() - feed->grown_ns < QUIET_NS;
}

static int read_file(struct serve_feed *feed, const void **ret_bytes, size_t *ret_size)
{
	int status = feed->is_stopped ? WEFT_END : read_growth(feed, ret_bytes, ret_size);
	if (status != WEFT_AGAIN || is_being_written(feed))
		return status;
	/* The writer may have ended after its last bytes. */
	status = read_growth(feed, ret_bytes, ret_size);
	return status == WEFT_AGAIN ? WEFT_END : status;
}

int serve_feed_next(struct serve_feed *feed, const void **ret_bytes, size_t *ret_size)
{
	return feed->stream ? weft_stream_next(feed->stream, ret_bytes, ret_size)
						: read_file(feed, ret_bytes, ret_size);
}

void serve_feed_wait(struct serve_feed *feed, uint64_t ns)
{
	uint64_t pause_ns = ns < FILE_WAIT_NS ? ns : FILE_WAIT_NS;
	const struct timespec pause = {0, (long)pause_ns};
	if (feed->stream)
		weft_stream_wait(feed->stream, ns);
	else
		nanosleep(&pause, NULL);
}

void serve_feed_stop(struct serve_feed *feed)
{
	if (feed->stream && !feed->is_stopped)
		weft_stream_stop(feed->stream);
	feed->is_stopped = true;
}

size_t serve_feed_silence(const struct serve_feed *feed, const void **ret_bytes)
{
	*ret_bytes = feed->stream ? nothing : feed->windows.silence;
	if (feed->stream)
		return sizeof(nothing);
	return feed->is_xentrace && is_between_windows(&feed->windows) ? sizeof(feed->windows.silence)
																   : 0;
}
