/* SPDX-License-Identifier: ISC
 *
 * Follows a running program, or a trace of Xen, whose events a server sends as a stream: bytes are
 * fed as they come, each event is decoded once, and models of the events so far are shown now and
 * then.
 */
#include <stdlib.h>
#include <string.h>

#include <weft/decoder.h>
#include <weft/refresh.h>

#include "page.h"

static struct {
	struct weft_decoder *decoder;
	struct weft_refresh *refresh;
	struct weft_model *model;
	uint8_t *room;
	uint64_t shown_events;
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

void PAGE_EXPORT(page_follow_drop)(void)
{
	weft_refresh_destroy(following.refresh);
	weft_decoder_destroy(following.decoder);
	weft_model_destroy(following.model);
	free(following.room);
	memset(&following, 0, sizeof(following));
}

/* `hz` is the rate of a trace's cycles; 0: its own. */
int PAGE_EXPORT(page_follow_start)(double hz)
{
	page_follow_drop();
	int error = weft_decoder_create(&following.decoder);
	if (!error)
		weft_decoder_set_hz(following.decoder, (uint64_t)hz);
	const struct weft_refresh_source source = {
		next, describe, diagnostics, NULL, following.decoder};
	return error ? error : weft_refresh_create(&source, &following.refresh);
}

/* The address for the next `size` bytes; NULL if memory ran out. */
uint8_t *PAGE_EXPORT(page_follow_room)(uint32_t size)
{
	uint8_t *larger = realloc(following.room, size ? size : 1);
	if (larger)
		following.room = larger;
	return larger;
}

int PAGE_EXPORT(page_follow_more)(uint32_t size)
{
	return weft_decoder_feed(following.decoder, following.room, size);
}

/* Call when no more bytes will come. */
int PAGE_EXPORT(page_follow_finish)(void)
{
	return weft_decoder_finish(following.decoder);
}

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
	uint64_t events = following.model->summary.events;
	int error = weft_viewer_show(page_viewer, following.model, is_live);
	if (error)
		return error;
	following.model = NULL; /* the viewer owns it now */
	following.shown_events = events;
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
