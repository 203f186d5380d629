/* SPDX-License-Identifier: ISC
 *
 * Follows traces that grow, which a server sends: bytes are fed as they come, each event is decoded
 * once, and models of the events so far are shown now and then. A trace may have parts, such as the
 * rings of several processes, whose events are merged.
 */
#include <stdlib.h>
#include <string.h>

#include <weft/growing.h>
#include <weft/refresh.h>

#include "page.h"

static struct {
	struct weft_growing *growing;
	struct weft_refresh *refresh;
	struct weft_model *model;
	uint8_t *room;
	uint64_t shown_events; /* in the last model that was shown */
} following;

/* ---- Beginning and end ---- */

void PAGE_EXPORT(page_follow_drop)(void)
{
	weft_refresh_destroy(following.refresh);
	weft_growing_close(following.growing);
	weft_model_destroy(following.model);
	free(following.room);
	memset(&following, 0, sizeof(following));
}

/* Adds a part, named by page_text(). `hz` is the rate of a trace's cycles; 0: its own.
 * `is_growing`: the server sends it as it grows. */
int PAGE_EXPORT(page_follow_add)(double hz, uint32_t is_growing, uint32_t is_program)
{
	const struct weft_growing_fed part = {page_text(), (uint64_t)hz, is_program, is_growing};
	int error = following.growing ? 0 : weft_growing_create(&following.growing);
	return error ? error : weft_growing_add(following.growing, &part);
}

/* Call it when all parts were added, before their bytes. `goes_on`: what is shown is opened again,
 * and not shown before it is as far as it was. */
int PAGE_EXPORT(page_follow_start)(uint32_t goes_on)
{
	int error = weft_growing_start(following.growing);
	if (goes_on)
		weft_growing_hold(following.growing, page_shown_ns);
	if (error)
		return error;
	const struct weft_refresh_source source = weft_growing_source(following.growing);
	return weft_refresh_create(&source, &following.refresh);
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
int PAGE_EXPORT(page_follow_more)(uint32_t part, uint32_t size, double now_ms)
{
	return weft_growing_feed(following.growing, part, following.room, size, now_ms);
}

/* Gives the bytes in the room, which are in frames, to the parts. */
int PAGE_EXPORT(page_follow_frames)(uint32_t size, double now_ms)
{
	return weft_growing_feed_frames(following.growing, following.room, size, now_ms);
}

/* Call when no more bytes of a part will come. */
int PAGE_EXPORT(page_follow_finish)(uint32_t part)
{
	return weft_growing_finish(following.growing, part);
}

static struct weft_growing_state state(void)
{
	struct weft_growing_state state;
	weft_growing_state(following.growing, &state);
	return state;
}

/* True if a part has grown that was taken for complete: all have to be opened again. */
int PAGE_EXPORT(page_follow_is_outdated)(void)
{
	return state().phase == WEFT_GROWING_OUTDATED;
}

/* The state in a sentence; "" if there is nothing to say. */
const char *PAGE_EXPORT(page_follow_sentence)(void)
{
	const struct weft_growing_state now = state();
	return weft_growing_sentence(&now);
}

/* ---- Events and models ---- */

/* See weft_refresh_read. */
int PAGE_EXPORT(page_follow_read)(uint32_t events)
{
	int error = weft_growing_give_up(following.growing);
	return error ? error : weft_refresh_read(following.refresh, events);
}

double PAGE_EXPORT(page_follow_events)(void)
{
	return (double)weft_refresh_events(following.refresh);
}

void PAGE_EXPORT(page_follow_pause)(uint32_t is_paused)
{
	if (following.growing)
		weft_growing_pause(following.growing, is_paused);
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
	uint64_t mark_ns = state().mark_ns;
	bool is_shown = weft_refresh_events(following.refresh) == following.shown_events;
	if (mark_ns && following.shown_events)
		weft_viewer_complete(page_viewer, mark_ns, now_ms, is_shown);
}

void PAGE_EXPORT(page_follow_shown)(double now_ms, double cost_ms)
{
	weft_refresh_shown(following.refresh, now_ms, cost_ms);
}
