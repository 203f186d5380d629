/* SPDX-License-Identifier: ISC
 *
 * Parts whose bytes come over one connection, in frames: apps/weft/serve/live.h. A part whose bytes
 * stop, while those of others come, has a program that was stopped within an event.
 */
#include "growing/growing.h"

#include <string.h>

#include "base/export.h"

/* The others wait for a silent part no longer than this, and for some feeds, because the caller
 * itself may be slow. */
static const double SILENT_MS = 3000;
#define SILENT_FEEDS 8

static uint32_t load_u32(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* The framed part of that number; `count` if there is none. */
static uint32_t find_framed(const struct weft_growing *g, uint32_t number)
{
	uint32_t part = 0;
	while (part < g->count && (!g->parts[part].is_framed || number--))
		part++;
	return part;
}

/* Reads the head of a frame. One of no bytes says that its part has ended. */
static int begin_frame(struct weft_growing *g, double now_ms)
{
	g->head_bytes = 0;
	g->frame_part = find_framed(g, load_u32(g->frame));
	g->frame_left = load_u32(g->frame + 4);
	if (g->frame_part >= g->count)
		return WEFT_ERROR_FORMAT;
	struct weft__growing_part *part = &g->parts[g->frame_part];
	part->fed_ms = now_ms;
	part->feeds = 0;
	g->is_outdated |= part->is_complete && g->frame_left;
	return g->frame_left ? 0 : weft_growing_finish(g, g->frame_part);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Takes some of the bytes, and says how many. */
static int take(
	struct weft_growing *g, const uint8_t *bytes, size_t size, double now_ms, size_t *ret_taken)
{
	if (g->frame_left) {
		*ret_taken = least(size, g->frame_left);
		g->frame_left -= (uint32_t)*ret_taken;
		return weft_growing_feed(g, g->frame_part, bytes, *ret_taken, now_ms);
	}
	*ret_taken = least(size, WEFT__GROWING_FRAME_BYTES - g->head_bytes);
	memcpy(g->frame + g->head_bytes, bytes, *ret_taken);
	g->head_bytes += (uint32_t)*ret_taken;
	return g->head_bytes == WEFT__GROWING_FRAME_BYTES ? begin_frame(g, now_ms) : 0;
}

WEFT__EXPORT int weft_growing_feed_frames(
	struct weft_growing *g, const void *bytes, size_t size, double now_ms)
{
	const uint8_t *at = bytes, *end = at + size;
	size_t taken;
	int error = 0;
	if (g->opened_ms <= 0)
		g->opened_ms = now_ms;
	for (uint32_t i = 0; i < g->count; i++)
		g->parts[i].feeds++;
	for (; at < end && !error; at += taken)
		error = take(g, at, (size_t)(end - at), now_ms, &taken);
	return error;
}

static bool is_silent(
	const struct weft_growing *g, const struct weft__growing_part *part, double latest_ms)
{
	double fed_ms = part->fed_ms > 0 ? part->fed_ms : g->opened_ms;
	return part->is_framed && part->feeds >= SILENT_FEEDS && latest_ms - fed_ms > SILENT_MS;
}

WEFT__EXPORT int weft_growing_give_up(struct weft_growing *g)
{
	double latest_ms = 0;
	int error = 0;
	for (uint32_t i = 0; i < g->count; i++)
		if (g->parts[i].fed_ms > latest_ms)
			latest_ms = g->parts[i].fed_ms;
	for (uint32_t i = 0; i < g->count && !error; i++)
		if (is_silent(g, &g->parts[i], latest_ms))
			error = weft_growing_finish(g, i);
	return error;
}
