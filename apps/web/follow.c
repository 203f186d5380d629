/* SPDX-License-Identifier: ISC
 *
 * Follows traces that grow, which a server sends: bytes are fed as they come, each event is decoded
 * once, and models of the events so far are shown now and then. A trace may have parts, such as the
 * rings of several processes, whose events are merged.
 */
#include <stdlib.h>
#include <string.h>

#include <weft/decoder.h>
#include <weft/refresh.h>

#include "page.h"

/* The server puts the bytes of several parts into frames: apps/weft/serve/live.h. */
#define FRAME_BYTES 8u

/* A ring whose bytes stop, while those of others come, has a program that was stopped within an
 * event. The others wait for it no longer than this, and for some batches of bytes, because the
 * page itself may be slow. */
#define SILENT_MS      3000
#define SILENT_BATCHES 8

struct part {
	struct weft_decoder *decoder;
	char *name;
	bool is_growing, is_finished;
	double fed_ms;    /* when bytes came last; 0: never */
	uint32_t batches; /* that have come since then */
};

static struct {
	struct part *parts;
	uint32_t part_count;
	struct weft_decoder *decoder; /* of all parts */
	struct weft_refresh *refresh;
	struct weft_model *model;
	uint8_t *room;
	uint8_t frame[FRAME_BYTES]; /* the head of the frame that is arriving */
	uint32_t frame_part, frame_left, head_bytes;
	uint64_t shown_events; /* in the last model that was shown */
	double begun_ms;       /* when the first frames came; 0: not yet */
	bool is_outdated;      /* a part has grown that was taken for complete */
} following;

static int next(void *context, struct weft_event *ret_event)
{
	return weft_decoder_next(context, ret_event);
}

static const struct weft_trace_description *describe(void *context)
{
	return weft_decoder_describe(context);
}

static struct weft_diagnostics *diagnostics(void *context)
{
	return weft_decoder_diagnostics(context);
}

/* ---- Beginning and end ---- */

void PAGE_EXPORT(page_follow_drop)(void)
{
	weft_refresh_destroy(following.refresh);
	if (following.part_count > 1)
		weft_decoder_destroy(following.decoder);
	for (uint32_t i = 0; i < following.part_count; i++) {
		weft_decoder_destroy(following.parts[i].decoder);
		free(following.parts[i].name);
	}
	free(following.parts);
	weft_model_destroy(following.model);
	free(following.room);
	memset(&following, 0, sizeof(following));
}

/* Adds a part, named by page_text(). `hz` is the rate of a trace's cycles; 0: its own.
 * `is_growing`: the server sends it as it grows. */
int PAGE_EXPORT(page_follow_add)(double hz, uint32_t is_growing)
{
	struct part *larger =
		realloc(following.parts, (following.part_count + (size_t)1) * sizeof(*larger));
	if (!larger)
		return WEFT_ERROR_MEMORY;
	following.parts = larger;
	struct part *part = &larger[following.part_count];
	*part = (struct part){.name = strdup(page_text()), .is_growing = is_growing};
	int error = part->name ? weft_decoder_create(&part->decoder) : WEFT_ERROR_MEMORY;
	if (error) {
		free(part->name);
		return error;
	}
	weft_decoder_set_hz(part->decoder, (uint64_t)hz);
	following.part_count++;
	return 0;
}

static int merge(void)
{
	struct weft_decoder_part *parts = calloc(following.part_count, sizeof(*parts));
	if (!parts)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < following.part_count; i++)
		parts[i] = (struct weft_decoder_part){following.parts[i].decoder, following.parts[i].name};
	int error = weft_decoder_create_merged(parts, following.part_count, &following.decoder);
	free(parts);
	return error;
}

/* Call it when all parts were added, before their bytes. */
int PAGE_EXPORT(page_follow_start)(void)
{
	following.decoder = following.part_count == 1 ? following.parts[0].decoder : NULL;
	int error = following.decoder ? 0 : merge();
	const struct weft_refresh_source source = {
		next, describe, diagnostics, NULL, following.decoder};
	return error ? error : weft_refresh_create(&source, &following.refresh);
}

/* ---- Bytes ---- */

/* The address for the next `size` bytes; NULL if memory ran out. */
uint8_t *PAGE_EXPORT(page_follow_room)(uint32_t size)
{
	uint8_t *larger = realloc(following.room, size ? size : 1);
	if (larger)
		following.room = larger;
	return larger;
}

/* Gives the bytes in the room to a part. */
int PAGE_EXPORT(page_follow_more)(uint32_t part, uint32_t size)
{
	return weft_decoder_feed(following.parts[part].decoder, following.room, size);
}

/* Call when no more bytes of a part will come. */
int PAGE_EXPORT(page_follow_finish)(uint32_t part)
{
	if (following.parts[part].is_finished)
		return 0;
	following.parts[part].is_finished = true;
	int error = weft_decoder_finish(following.parts[part].decoder);
	/* If there are several parts, the others go on. */
	return following.part_count > 1 && error != WEFT_ERROR_MEMORY ? 0 : error;
}

static uint32_t load_u32(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* The growing part of that number, as frames count them; `part_count` if there is none. */
static uint32_t find_growing(uint32_t number)
{
	uint32_t part = 0;
	while (part < following.part_count && (!following.parts[part].is_growing || number--))
		part++;
	return part;
}

/* Reads the head of a frame. One of no bytes says that its part has ended. */
static int begin_frame(double now_ms)
{
	following.head_bytes = 0;
	following.frame_part = find_growing(load_u32(following.frame));
	following.frame_left = load_u32(following.frame + 4);
	if (following.frame_part >= following.part_count)
		return WEFT_ERROR_FORMAT;
	struct part *part = &following.parts[following.frame_part];
	part->fed_ms = now_ms;
	part->batches = 0;
	following.is_outdated |= part->is_finished && following.frame_left;
	return following.frame_left ? 0 : page_follow_finish(following.frame_part);
}

static int feed_frame(const uint8_t *bytes, uint32_t size)
{
	const struct part *part = &following.parts[following.frame_part];
	following.frame_left -= size;
	return part->is_finished ? 0 : weft_decoder_feed(part->decoder, bytes, size);
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Gives the bytes in the room, which are in frames, to the parts. */
int PAGE_EXPORT(page_follow_frames)(uint32_t size, double now_ms)
{
	const uint8_t *at = following.room, *end = at + size;
	int error = 0;
	if (following.begun_ms <= 0)
		following.begun_ms = now_ms;
	for (uint32_t i = 0; i < following.part_count; i++)
		following.parts[i].batches++;
	while (at < end && !error) {
		uint32_t left = (uint32_t)(end - at), taken;
		if (following.frame_left) {
			taken = least(left, following.frame_left);
			error = feed_frame(at, taken);
		} else {
			taken = least(left, FRAME_BYTES - following.head_bytes);
			memcpy(following.frame + following.head_bytes, at, taken);
			following.head_bytes += taken;
			if (following.head_bytes == FRAME_BYTES)
				error = begin_frame(now_ms);
		}
		at += taken;
	}
	return error;
}

static bool is_silent(const struct part *part, double latest_ms)
{
	double fed_ms = part->fed_ms > 0 ? part->fed_ms : following.begun_ms;
	return part->is_growing && part->batches >= SILENT_BATCHES && latest_ms - fed_ms > SILENT_MS;
}

/* Takes growing parts for complete of which nothing has come for long, though others have. */
int PAGE_EXPORT(page_follow_give_up)(void)
{
	double latest_ms = 0;
	int error = 0;
	for (uint32_t i = 0; i < following.part_count; i++)
		if (following.parts[i].fed_ms > latest_ms)
			latest_ms = following.parts[i].fed_ms;
	for (uint32_t i = 0; i < following.part_count && !error; i++)
		if (is_silent(&following.parts[i], latest_ms))
			error = page_follow_finish(i);
	return error;
}

/* True if a part has grown that was taken for complete: all have to be opened again. */
int PAGE_EXPORT(page_follow_is_outdated)(void)
{
	return following.is_outdated;
}

/* ---- Events and models ---- */

/* See weft_refresh_read. */
int PAGE_EXPORT(page_follow_read)(uint32_t events)
{
	return weft_refresh_read(following.refresh, events);
}

double PAGE_EXPORT(page_follow_events)(void)
{
	return (double)weft_refresh_events(following.refresh);
}

/* See weft_refresh_wait_ms. */
double PAGE_EXPORT(page_follow_wait)(double now_ms)
{
	return weft_refresh_wait_ms(following.refresh, now_ms);
}

/* Makes a model of the events so far, which page_follow_show() shows. */
int PAGE_EXPORT(page_follow_model)(void)
{
	weft_model_destroy(following.model);
	following.model = NULL;
	return weft_refresh_model(following.refresh, &following.model);
}

int PAGE_EXPORT(page_follow_show)(uint32_t is_live)
{
	uint64_t events = following.model->summary.events, last_ns = following.model->summary.last;
	int error = weft_viewer_show(page_viewer, following.model, is_live);
	if (error)
		return error;
	following.model = NULL; /* the viewer owns it now */
	following.shown_events = events;
	page_shown_ns = last_ns;
	return 0;
}

/* Tells the viewer up to which time the events are complete; call when all that came are read. */
void PAGE_EXPORT(page_follow_complete)(double now_ms)
{
	uint64_t mark_ns = weft_decoder_mark(following.decoder);
	bool is_shown = weft_refresh_events(following.refresh) == following.shown_events;
	if (mark_ns && following.shown_events)
		weft_viewer_complete(page_viewer, mark_ns, now_ms, is_shown);
}

void PAGE_EXPORT(page_follow_shown)(double now_ms, double cost_ms)
{
	weft_refresh_shown(following.refresh, now_ms, cost_ms);
}

/* True if the events do not yet go as far as those of the model that was shown before. */
int PAGE_EXPORT(page_follow_is_behind)(void)
{
	return !following.shown_events && weft_decoder_mark(following.decoder) < page_shown_ns;
}
