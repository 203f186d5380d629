/* SPDX-License-Identifier: ISC
 *
 * See growing.h. Nothing says that a file will not grow any more. If it has not grown for a while,
 * although bytes at its end wait for others, its writer has probably gone: then the decoder gives
 * what it has, and the events end.
 */
#include "growing.h"

#include <glib.h>

#include <weft/decoder.h>
#include <weft/source.h>

#include "opening.h"

#define WAIT_US        50000
#define QUIET_FIRST_US 500000  /* before any event was given */
#define QUIET_US       2000000 /* a writer that lives writes a mark within a second */

/* If the file grows after its events have ended, all of it is read again. So the wait is this
 * multiple of the time that reading took. */
#define QUIET_SHARE 20

/* A format that is only decoded when it is complete is kept in memory until then. */
#define KEPT_MAX_BYTES ((uint64_t)1 << 30)

struct growing {
	struct weft_source_growth *source;
	struct weft_decoder *decoder;
	int64_t opened_us, grown_us, read_us; /* times, and how long it took to become current */
	bool is_current, has_events;
};

int growing_open(const char *path, struct growing **ret_growing)
{
	struct growing *g = g_new0(struct growing, 1);
	int error = weft_source_growth_open(path, &g->source);
	if (!error)
		error = weft_decoder_create(&g->decoder);
	if (!error)
		weft_decoder_set_hz(g->decoder, opening_hz());
	g->opened_us = g->grown_us = g_get_monotonic_time();
	if (error)
		growing_close(g);
	else
		*ret_growing = g;
	return error;
}

void growing_close(struct growing *g)
{
	if (!g)
		return;
	weft_decoder_destroy(g->decoder);
	weft_source_growth_close(g->source);
	g_free(g);
}

/* Feeds the decoder. WEFT_OK, WEFT_AGAIN if the file has not grown, or an error. */
static int feed(struct growing *g)
{
	const void *bytes;
	size_t size;
	int status = weft_source_growth_next(g->source, &bytes, &size);
	if (status == WEFT_END)
		return weft_decoder_finish(g->decoder);
	if (status == WEFT_AGAIN && !g->is_current) {
		g->is_current = true;
		g->read_us = g_get_monotonic_time() - g->opened_us;
	}
	if (status != WEFT_OK)
		return status;
	if (!g->has_events && growing_size(g) > KEPT_MAX_BYTES)
		return WEFT_ERROR_LIMIT;
	g->grown_us = g_get_monotonic_time();
	return weft_decoder_feed(g->decoder, bytes, size);
}

static int next(void *context, struct weft_event *ret_event)
{
	struct growing *g = context;
	int status;
	while ((status = weft_decoder_next(g->decoder, ret_event)) == WEFT_AGAIN) {
		status = feed(g);
		if (status != WEFT_OK)
			return status;
	}
	g->has_events |= status == WEFT_OK;
	return status;
}

static const struct weft_trace_description *describe(void *context)
{
	return weft_decoder_describe(((struct growing *)context)->decoder);
}

static struct weft_diagnostics *diagnostics(void *context)
{
	return weft_decoder_diagnostics(((struct growing *)context)->decoder);
}

struct weft_refresh_source growing_source(struct growing *g)
{
	return (struct weft_refresh_source){next, describe, diagnostics, NULL, g};
}

int growing_wait(struct growing *g)
{
	int64_t quiet_us = g->has_events ? QUIET_US : QUIET_FIRST_US;
	if (quiet_us < QUIET_SHARE * g->read_us)
		quiet_us = QUIET_SHARE * g->read_us;
	if (weft_decoder_is_pending(g->decoder) && g_get_monotonic_time() - g->grown_us > quiet_us)
		return weft_decoder_finish(g->decoder);
	g_usleep(WAIT_US);
	return 0;
}

bool growing_is_current(const struct growing *g)
{
	return g->is_current;
}

uint64_t growing_mark(const struct growing *g)
{
	return weft_decoder_mark(g->decoder);
}

uint64_t growing_size(const struct growing *g)
{
	return weft_source_growth_size(g->source);
}
