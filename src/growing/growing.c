/* SPDX-License-Identifier: ISC
 *
 * See weft/growing.h. Each part has a decoder, and these are merged by time if there are several. A
 * part holds up the others as long as it may still have an earlier event, which its next mark rules
 * out.
 */
#include "growing/growing.h"

#include <stdlib.h>
#include <string.h>

#include "base/export.h"

/* ---- Opening and closing ---- */

WEFT__EXPORT int weft_growing_create(struct weft_growing **ret_growing)
{
	struct weft_growing *g = calloc(1, sizeof(*g));
	if (!g)
		return WEFT_ERROR_MEMORY;
	*ret_growing = g;
	return 0;
}

static void finish_part(struct weft__growing_part *part)
{
	weft_decoder_destroy(part->decoder);
	if (part->bytes.close)
		part->bytes.close(part->bytes.context);
	free(part->name);
}

WEFT__EXPORT void weft_growing_close(struct weft_growing *g)
{
	if (!g)
		return;
	if (g->count > 1)
		weft_decoder_destroy(g->decoder);
	for (uint32_t i = 0; i < g->count; i++)
		finish_part(&g->parts[i]);
	free(g->parts);
	if (g->events.close)
		g->events.close(g->events.source.context);
	if (g->system.close)
		g->system.close(g->system.context);
	free(g);
}

static char *copy_text(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);
	return copy ? memcpy(copy, text, size) : NULL;
}

WEFT__EXPORT int weft_growing_add(struct weft_growing *g, const struct weft_growing_fed *fed)
{
	struct weft__growing_part *larger = realloc(g->parts, (g->count + (size_t)1) * sizeof(*larger));
	if (!larger)
		return WEFT_ERROR_MEMORY;
	g->parts = larger;
	struct weft__growing_part *part = &larger[g->count];
	*part = (struct weft__growing_part){.name = copy_text(fed->name), .is_framed = fed->is_framed};
	int error = part->name ? weft_decoder_create(&part->decoder) : WEFT_ERROR_MEMORY;
	if (error) {
		free(part->name);
		return error;
	}
	weft_decoder_set_hz(part->decoder, fed->hz);
	g->is_program |= fed->is_program;
	g->count++;
	return 0;
}

struct weft__growing_part *weft__growing_last(struct weft_growing *g)
{
	return &g->parts[g->count - 1];
}

static int merge(struct weft_growing *g)
{
	struct weft_decoder_part *parts = calloc(g->count + (size_t)1, sizeof(*parts));
	if (!parts)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < g->count; i++)
		parts[i] = (struct weft_decoder_part){g->parts[i].decoder, g->parts[i].name};
	int error = weft_decoder_create_merged(parts, g->count, &g->decoder);
	free(parts);
	return error;
}

WEFT__EXPORT int weft_growing_start(struct weft_growing *g)
{
	if (g->system.now_ms)
		g->opened_ms = g->looked_ms = g->system.now_ms();
	if (g->count != 1)
		return merge(g);
	g->decoder = g->parts[0].decoder;
	return 0;
}

/* ---- Bytes that the caller feeds ---- */

int weft__growing_complete(struct weft_growing *g, struct weft__growing_part *part)
{
	if (part->is_complete)
		return 0;
	part->is_complete = true;
	part->error = weft_decoder_finish(part->decoder);
	/* If there are several parts, the others go on. */
	return g->count > 1 && part->error != WEFT_ERROR_MEMORY ? 0 : part->error;
}

WEFT__EXPORT int weft_growing_finish(struct weft_growing *g, uint32_t part)
{
	return weft__growing_complete(g, &g->parts[part]);
}

WEFT__EXPORT int weft_growing_feed(
	struct weft_growing *g, uint32_t number, const void *bytes, size_t size, double now_ms)
{
	struct weft__growing_part *part = &g->parts[number];
	part->fed_ms = now_ms;
	part->size += size;
	return part->is_complete ? 0 : weft_decoder_feed(part->decoder, bytes, size);
}

/* ---- Events ---- */

/* Remembers how the events ended. */
static int note(struct weft_growing *g, int status)
{
	g->has_ended |= status == WEFT_END;
	g->is_current |= status == WEFT_AGAIN && !g->system.now_ms;
	if (status == WEFT_ERROR_STATE)
		g->is_outdated = true;
	else if (status < 0)
		g->error = status;
	return status;
}

static bool is_of_boot(const struct weft_trace_buffer *buffer, const uint8_t boot_id[16])
{
	static const uint8_t unknown[16];
	return memcmp(buffer->boot_id, unknown, sizeof(unknown)) == 0 ||
		   memcmp(buffer->boot_id, boot_id, sizeof(unknown)) == 0;
}

/* True if two parts name different boots. */
static bool has_several_boots(const struct weft_growing *g)
{
	const struct weft_trace_description *about = weft_growing_describe(g);
	const uint8_t *boot_id = NULL;
	for (size_t i = 0; i < about->buffer_count; i++) {
		if (boot_id && !is_of_boot(&about->buffers[i], boot_id))
			return true;
		if (!boot_id && !is_of_boot(&about->buffers[i], (const uint8_t[16]){0}))
			boot_id = about->buffers[i].boot_id;
	}
	return false;
}

static int next_event(struct weft_growing *g, struct weft_event *ret_event)
{
	int status;
	if (!g->decoder)
		return g->events.source.next(g->events.source.context, ret_event);
	while ((status = weft_decoder_next(g->decoder, ret_event)) == WEFT_AGAIN) {
		status = weft__growing_pull(g);
		if (status != WEFT_OK)
			break;
	}
	return status;
}

WEFT__EXPORT int weft_growing_next(struct weft_growing *g, struct weft_event *ret_event)
{
	int status = next_event(g, ret_event);
	if (status == WEFT_OK && !g->has_events && has_several_boots(g))
		status = WEFT_ERROR_UNSUPPORTED;
	if (status != WEFT_OK)
		return note(g, status);
	g->has_events = true;
	g->given_ns = ret_event->time_ns;
	return status;
}

WEFT__EXPORT int weft_growing_wait(struct weft_growing *g, uint64_t timeout_ns)
{
	int error = g->decoder ? weft__growing_look(g) : 0;
	if (!error && g->system.wait)
		error = g->system.wait(g, timeout_ns);
	return error < 0 ? note(g, error) : 0;
}

WEFT__EXPORT const struct weft_trace_description *weft_growing_describe(
	const struct weft_growing *g)
{
	return g->decoder ? weft_decoder_describe(g->decoder)
					  : g->events.source.describe(g->events.source.context);
}

WEFT__EXPORT struct weft_diagnostics *weft_growing_diagnostics(struct weft_growing *g)
{
	return g->decoder ? weft_decoder_diagnostics(g->decoder)
					  : g->events.source.diagnostics(g->events.source.context);
}

/* ---- When models are due ---- */

static enum weft_growing_phase phase_of(const struct weft_growing *g)
{
	if (g->error)
		return WEFT_GROWING_FAILED;
	if (g->is_outdated)
		return WEFT_GROWING_OUTDATED;
	if (g->has_ended)
		return WEFT_GROWING_ENDED;
	return g->is_current ? WEFT_GROWING_CURRENT : WEFT_GROWING_READING;
}

static uint64_t mark_of(const struct weft_growing *g)
{
	uint64_t mark_ns =
		g->decoder ? weft_decoder_mark(g->decoder) : g->events.mark(g->events.source.context);
	return mark_ns == UINT64_MAX ? 0 : mark_ns; /* the end is no time */
}

WEFT__EXPORT void weft_growing_pause(struct weft_growing *g, bool is_paused)
{
	g->is_paused = is_paused;
}

WEFT__EXPORT void weft_growing_hold(struct weft_growing *g, uint64_t until_ns)
{
	g->held_until_ns = until_ns;
}

static bool source_is_wanted(const void *growing)
{
	const struct weft_growing *g = growing;
	return !g->is_paused && (g->is_program || phase_of(g) != WEFT_GROWING_READING) &&
		   (g->given_ns >= g->held_until_ns || mark_of(g) >= g->held_until_ns);
}

static int source_next(void *growing, struct weft_event *ret_event)
{
	return weft_growing_next(growing, ret_event);
}

static const struct weft_trace_description *source_describe(void *growing)
{
	return weft_growing_describe(growing);
}

static struct weft_diagnostics *source_diagnostics(void *growing)
{
	return weft_growing_diagnostics(growing);
}

/* The present of a follower is that of its program; that of files goes as far as their marks. */
static uint64_t source_now_ns(void *growing)
{
	const struct weft_growing *g = growing;
	return g->events.source.now_ns ? g->events.source.now_ns(g->events.source.context) : mark_of(g);
}

WEFT__EXPORT struct weft_refresh_source weft_growing_source(struct weft_growing *g)
{
	return (struct weft_refresh_source){
		source_next, source_describe, source_diagnostics, source_now_ns, source_is_wanted, g};
}

/* ---- State ---- */

WEFT__EXPORT void weft_growing_state(
	const struct weft_growing *g, struct weft_growing_state *ret_state)
{
	struct weft_growing_state state = {.phase = phase_of(g),
		.error = g->error,
		.is_program = g->is_program,
		.parts = g->decoder ? g->count : 1,
		.files = g->count,
		.left = !g->decoder && !g->has_ended,
		.mark_ns = mark_of(g),
		.is_paused = g->is_paused};
	for (uint32_t i = 0; i < g->count; i++) {
		state.bytes += g->parts[i].size;
		state.left += !g->parts[i].is_complete;
	}
	*ret_state = state;
}

WEFT__EXPORT struct weft_growing_part weft_growing_part(
	const struct weft_growing *g, uint32_t number)
{
	const struct weft__growing_part *part = &g->parts[number];
	return (struct weft_growing_part){
		part->name, part->decoder, part->size, part->is_complete, part->error};
}

WEFT__EXPORT const char *weft_growing_sentence(const struct weft_growing_state *state)
{
	switch (state->phase) {
	case WEFT_GROWING_READING:
	case WEFT_GROWING_CURRENT:
	case WEFT_GROWING_OUTDATED:
		break;
	case WEFT_GROWING_ENDED:
		if (state->is_program)
			return state->parts > 1
					   ? "The programs have ended, or record no more: this is all that they recorded."
					   : "The program has ended, or records no more: this is all that it recorded.";
		break;
	case WEFT_GROWING_FAILED:
		return weft_error_text(state->error);
	}
	return "";
}
