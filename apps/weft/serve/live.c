/* SPDX-License-Identifier: ISC
 *
 * The parts of a connection take turns. While nothing is recorded, bytes that the reader skips are
 * sent now and then, so that both ends notice a broken connection.
 */
#include "live.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/error.h>

#include "feed.h"
#include "serve.h"

#define FRAME_BYTES 8u

static const uint64_t LOOK_NS = 100000000;
static const long PARTS_LOOK_NS = 20000000; /* for those there is no common wait */
static const time_t SILENCE_S = 5;

struct serve_live {
	struct serve_feed **feeds; /* NULL: that part has ended */
	uint32_t count, turn;      /* turn: the part that is asked next */
	bool has_frames;
	const atomic_bool *stopping;
	unsigned char frame[FRAME_BYTES]; /* the head of the piece */
	size_t frame_left;
	const char *bytes; /* the piece */
	size_t left;
	time_t spoke;
};

static time_t now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* ---- Opening ---- */

static struct serve_live *open_feeds(const struct serve_trace *traces, size_t count,
	enum serve_feed_files files, const atomic_bool *stopping)
{
	struct serve_live *live = calloc(1, sizeof(*live));
	if (!live)
		return NULL;
	live->feeds = calloc(count + 1, sizeof(*live->feeds));
	live->count = live->feeds ? (uint32_t)count : 0;
	live->stopping = stopping;
	live->spoke = now_s();
	for (uint32_t i = 0; i < count; i++) {
		if (live->feeds)
			live->feeds[i] = serve_feed_open(&traces[i], files);
		if (!live->feeds || !live->feeds[i]) {
			serve_live_close(live);
			return NULL;
		}
	}
	return live;
}

struct serve_live *serve_live_open(const struct serve_trace *trace, const atomic_bool *stopping)
{
	return open_feeds(trace, 1, SERVE_FEED_LIVING, stopping);
}

struct serve_live *serve_live_open_parts(
	const struct serve_trace *traces, size_t count, const atomic_bool *stopping)
{
	struct serve_live *live = open_feeds(traces, count, SERVE_FEED_ALL, stopping);
	if (live)
		live->has_frames = true;
	return live;
}

void serve_live_close(struct serve_live *live)
{
	if (!live)
		return;
	for (uint32_t i = 0; i < live->count; i++)
		serve_feed_close(live->feeds[i]);
	free(live->feeds);
	free(live);
}

/* ---- Reading ---- */

static void store_u32(unsigned char *to, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

/* Makes a piece of the part's bytes. */
static void set_piece(struct serve_live *live, uint32_t part, const void *bytes, size_t size)
{
	live->bytes = bytes;
	live->left = size;
	if (!live->has_frames)
		return;
	store_u32(live->frame, part);
	store_u32(live->frame + 4, (uint32_t)size);
	live->frame_left = sizeof(live->frame);
}

/* Gets a piece of the part: WEFT_OK; WEFT_AGAIN; WEFT_END if there is none because the part has
 * ended; or an error. A part that cannot be read any further ends, if there are others. */
static int read_part(struct serve_live *live, uint32_t part)
{
	const void *bytes = NULL;
	size_t size = 0;
	if (!live->feeds[part])
		return WEFT_AGAIN;
	int status = serve_feed_next(live->feeds[part], &bytes, &size);
	if (status == WEFT_OK && size)
		set_piece(live, part, bytes, size);
	if (status == WEFT_OK || status == WEFT_AGAIN)
		return size ? status : WEFT_AGAIN;
	if (status < 0 && !live->has_frames)
		return status;
	serve_feed_close(live->feeds[part]);
	live->feeds[part] = NULL;
	set_piece(live, part, NULL, 0);
	return live->has_frames ? WEFT_OK : WEFT_END;
}

static bool has_ended(const struct serve_live *live)
{
	for (uint32_t i = 0; i < live->count; i++)
		if (live->feeds[i])
			return false;
	return true;
}

/* Asks each part once, beginning with the one after the part that had bytes last. */
static int read_parts(struct serve_live *live)
{
	int status = WEFT_AGAIN;
	for (uint32_t i = 0; i < live->count && status == WEFT_AGAIN; i++) {
		uint32_t part = live->turn;
		live->turn = (part + 1) % live->count;
		status = read_part(live, part);
	}
	return status == WEFT_AGAIN && has_ended(live) ? WEFT_END : status;
}

static void wait_a_while(struct serve_live *live)
{
	const struct timespec pause = {0, PARTS_LOOK_NS};
	if (*live->stopping)
		for (uint32_t i = 0; i < live->count; i++) {
			if (live->feeds[i])
				serve_feed_stop(live->feeds[i]);
		}
	else if (live->count == 1)
		serve_feed_wait(live->feeds[0], LOOK_NS);
	else
		nanosleep(&pause, NULL);
}

static void break_silence(struct serve_live *live)
{
	const void *bytes;
	size_t size = 0;
	uint32_t part = 0;
	if (now_s() - live->spoke < SILENCE_S)
		return;
	for (; part < live->count && !size; part++)
		size = live->feeds[part] ? serve_feed_silence(live->feeds[part], &bytes) : 0;
	if (size)
		set_piece(live, part - 1, bytes, size);
}

/* Waits for a piece: WEFT_OK, WEFT_END or an error. */
static int wait_for_piece(struct serve_live *live)
{
	while (live->frame_left + live->left == 0) {
		int status = read_parts(live);
		if (status == WEFT_OK)
			continue;
		if (status != WEFT_AGAIN)
			return status;
		wait_a_while(live);
		break_silence(live);
	}
	return WEFT_OK;
}

ssize_t serve_live_read(struct serve_live *live, char *bytes, size_t room)
{
	int status = wait_for_piece(live);
	if (status != WEFT_OK)
		return status == WEFT_END ? 0 : -1;
	size_t head = live->frame_left < room ? live->frame_left : room;
	memcpy(bytes, live->frame + sizeof(live->frame) - live->frame_left, head);
	live->frame_left -= head;
	size_t size = live->left < room - head ? live->left : room - head;
	if (size) {
		memcpy(bytes + head, live->bytes, size);
		live->bytes += size;
	}
	live->left -= size;
	live->spoke = now_s();
	return (ssize_t)(head + size);
}
