/* SPDX-License-Identifier: ISC
 *
 * Each client has a stream of its own (include/weft/stream.h), so that a slow client does not delay
 * others: it loses events, counted, when the ring has wrapped. While nothing is recorded, an empty
 * chunk is sent now and then, so that both ends notice a broken connection.
 *
 * A file that xentrace writes is sent as it is, and in its silence an empty note.
 */
#include "live.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weft/source.h>
#include <weft/stream.h>
#include <weft/xentrace.h>

#include "tail/xentrace.h"

/* Large enough for efficient packets, small enough for low latency. */
#define PIECE_BYTES ((size_t)64 << 10)

static const uint64_t LOOK_NS = 100000000;
static const uint64_t OPEN_NS = 80000000; /* as often as the page shows a picture */
static const time_t SILENCE_S = 5;

/* The headers of xentrace's windows: docs/formats.md. */
#define WINDOW_HEAD_BYTES 12u
#define WINDOW_HEAD       UINT32_C(0x2001f003)
#define NOTE_HEAD         UINT32_C(0x7001f003)

/* A file that xentrace writes. */
struct xentrace_file {
	struct weft_source_growth *growth;
	char *path;
	unsigned char head[WINDOW_HEAD_BYTES]; /* of the window whose header is being read */
	uint64_t head_bytes, rest;             /* bytes of that header; of the window behind it */
	bool is_damaged;                       /* it is not known where windows begin */
	unsigned char silence[WEFT_XENTRACE_NOTE_BYTES];
};

struct serve_live {
	struct weft_stream *stream; /* NULL: it is `file` */
	struct xentrace_file file;
	const atomic_bool *stopping;
	const char *bytes; /* the stream's current piece */
	size_t left;
	time_t spoke;
};

/* A chunk of a kind that readers skip: src/abi/stream_abi.h. */
static const unsigned char nothing[24] = {
	0xff, 0xea, 0x46, 0x89, 0x63, 0x68, 0x6e, 0x6b, 5, 0, 0, 0};

static time_t now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

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

/* ---- A file that xentrace writes ---- */

static int open_file(const char *path, struct xentrace_file *file)
{
	const struct weft_xentrace_note note = {0};
	weft_xentrace_write_note(&note, file->silence);
	file->path = strdup(path);
	return file->path ? weft_source_growth_open(path, &file->growth) : WEFT_ERROR_MEMORY;
}

static uint32_t load_u32(const unsigned char *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Reads the header of a window. */
static void enter_window(struct xentrace_file *file)
{
	uint32_t kind = load_u32(file->head);
	file->head_bytes = 0;
	file->rest = load_u32(file->head + 8);
	if (kind == NOTE_HEAD)
		file->rest += WEFT_XENTRACE_NOTE_BYTES - WINDOW_HEAD_BYTES;
	file->is_damaged |= kind != NOTE_HEAD && kind != WINDOW_HEAD;
}

/* Follows the windows in the bytes that are sent. */
static void follow_windows(struct xentrace_file *file, const char *bytes, size_t size)
{
	while (size && !file->is_damaged) {
		bool is_head = !file->rest;
		uint64_t wanted = is_head ? WINDOW_HEAD_BYTES - file->head_bytes : file->rest;
		size_t taken = size < wanted ? size : (size_t)wanted;
		if (is_head) {
			memcpy(file->head + file->head_bytes, bytes, taken);
			file->head_bytes += taken;
		} else
			file->rest -= taken;
		if (file->head_bytes == WINDOW_HEAD_BYTES)
			enter_window(file);
		bytes += taken;
		size -= taken;
	}
}

static bool is_between_windows(const struct xentrace_file *file)
{
	return !file->is_damaged && !file->rest && !file->head_bytes;
}

static int read_piece(struct serve_live *live)
{
	const void *bytes;
	int status = weft_source_growth_next(live->file.growth, &bytes, &live->left);
	if (status != WEFT_OK)
		return status;
	live->bytes = bytes;
	follow_windows(&live->file, live->bytes, live->left);
	return WEFT_OK;
}

/* Gets the next bytes. WEFT_OK, WEFT_AGAIN, WEFT_END or an error. */
static int read_file(struct serve_live *live)
{
	int status = *live->stopping ? WEFT_END : read_piece(live);
	if (status != WEFT_AGAIN || tail_xentrace_fits(live->file.path))
		return status;
	status = read_piece(live); /* the writer may have ended after its last bytes */
	return status == WEFT_AGAIN ? WEFT_END : status;
}

/* ---- Both ---- */

struct serve_live *serve_live_open(const char *path, pid_t pid, const atomic_bool *stopping)
{
	struct serve_live *live = calloc(1, sizeof(*live));
	if (!live)
		return NULL;
	live->stopping = stopping;
	live->spoke = now_s();
	bool is_file = !pid && tail_xentrace_fits(path);
	if (is_file ? open_file(path, &live->file) : open_stream(path, pid, &live->stream)) {
		serve_live_close(live);
		return NULL;
	}
	if (live->stream)
		weft_stream_take_open(live->stream, OPEN_NS);
	return live;
}

void serve_live_close(struct serve_live *live)
{
	if (!live)
		return;
	weft_stream_close(live->stream);
	weft_source_growth_close(live->file.growth);
	free(live->file.path);
	free(live);
}

static int read_stream(struct serve_live *live)
{
	const void *bytes;
	int status = weft_stream_next(live->stream, &bytes, &live->left);
	live->bytes = bytes;
	return status;
}

static void wait_a_while(struct serve_live *live)
{
	const struct timespec pause = {0, (long)(LOOK_NS / 2)};
	if (!live->stream)
		nanosleep(&pause, NULL);
	else if (*live->stopping)
		weft_stream_stop(live->stream);
	else
		weft_stream_wait(live->stream, LOOK_NS);
}

/* Says that there is nothing to say, in a form that the reader skips. */
static void break_silence(struct serve_live *live)
{
	if (now_s() - live->spoke < SILENCE_S)
		return;
	if (live->stream) {
		live->bytes = (const char *)nothing;
		live->left = sizeof(nothing);
	} else if (is_between_windows(&live->file)) {
		live->bytes = (const char *)live->file.silence;
		live->left = sizeof(live->file.silence);
	}
}

/* Waits for bytes: WEFT_OK if there are any, WEFT_END or an error. */
static int wait_for_bytes(struct serve_live *live)
{
	while (live->left == 0) {
		int status = live->stream ? read_stream(live) : read_file(live);
		if (status == WEFT_OK)
			continue;
		live->left = 0;
		if (status != WEFT_AGAIN)
			return status;
		wait_a_while(live);
		break_silence(live);
	}
	return WEFT_OK;
}

ssize_t serve_live_read(struct serve_live *live, char *bytes, size_t room)
{
	int status = wait_for_bytes(live);
	if (status != WEFT_OK)
		return status == WEFT_END ? 0 : -1;
	size_t size = live->left < room ? live->left : room;
	memcpy(bytes, live->bytes, size);
	live->bytes += size;
	live->left -= size;
	live->spoke = now_s();
	return (ssize_t)size;
}
