/* SPDX-License-Identifier: ISC
 *
 * Each client has a stream of its own (include/weft/stream.h), so that a slow client does not delay
 * others: it loses events, counted, when the ring has wrapped. While nothing is recorded, an empty
 * chunk is sent now and then, so that both ends notice a broken connection.
 */
#include "serve_live.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weft/source.h>
#include <weft/stream.h>

/* Large enough for efficient packets, small enough for low latency. */
#define PIECE_BYTES ((size_t)64 << 10)

static const uint64_t LOOK_NS = 100000000;
static const uint64_t OPEN_NS = 80000000; /* as often as the page shows a picture */
static const time_t SILENCE_S = 5;

struct serve_live {
	struct weft_stream *stream;
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

struct serve_live *serve_live_open(const char *path, pid_t pid, const atomic_bool *stopping)
{
	struct serve_live *live = calloc(1, sizeof(*live));
	if (!live)
		return NULL;
	live->stopping = stopping;
	live->spoke = now_s();
	if (open_stream(path, pid, &live->stream)) {
		free(live);
		return NULL;
	}
	weft_stream_take_open(live->stream, OPEN_NS);
	return live;
}

void serve_live_close(struct serve_live *live)
{
	if (live)
		weft_stream_close(live->stream);
	free(live);
}

/* Waits for bytes: WEFT_OK if there are any, WEFT_END or an error. */
static int wait_for_bytes(struct serve_live *live)
{
	while (live->left == 0) {
		const void *bytes;
		int status = weft_stream_next(live->stream, &bytes, &live->left);
		live->bytes = bytes;
		if (status == WEFT_OK)
			continue;
		live->left = 0;
		if (status != WEFT_AGAIN)
			return status;
		if (*live->stopping)
			weft_stream_stop(live->stream);
		else
			weft_stream_wait(live->stream, LOOK_NS);
		if (now_s() - live->spoke >= SILENCE_S) {
			live->bytes = (const char *)nothing;
			live->left = sizeof(nothing);
		}
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
