/* SPDX-License-Identifier: ISC
 *
 * See growing.h. Nothing says that a file will not grow any more. If it has not grown for a while,
 * although bytes at its end wait for others, its writer has probably gone: then the decoder gives
 * what it has, and the events end.
 */
#include "growing.h"

#include <glib.h>

#include "feed.h"

#define WAIT_US        50000
#define QUIET_FIRST_US 500000  /* before any event was given */
#define QUIET_US       2000000 /* a writer that lives writes a mark within a second */

/* If the file grows after its events have ended, all of it is read again. So the wait is this
 * multiple of the time that reading took. */
#define QUIET_SHARE 20

struct growing {
	char *path;
	struct feed feed;
	int64_t opened_us, read_us; /* when, and how long it took to become current */
	bool is_current, has_events;
};

int growing_open(const char *path, struct growing **ret_growing)
{
	struct growing *g = g_new0(struct growing, 1);
	g->path = g_strdup(path);
	g->opened_us = g_get_monotonic_time();
	int error = feed_open(&g->feed, g->path);
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
	feed_close(&g->feed);
	g_free(g->path);
	g_free(g);
}

/* Feeds the decoder. WEFT_OK, WEFT_AGAIN if the file has not grown, or an error. */
static int feed(struct growing *g)
{
	int status = feed_read(&g->feed, !g->has_events);
	if (status == WEFT_END)
		return feed_complete(&g->feed);
	if (status == WEFT_AGAIN && !g->is_current) {
		g->is_current = true;
		g->read_us = g_get_monotonic_time() - g->opened_us;
	}
	return status;
}

static int next(void *context, struct weft_event *ret_event)
{
	struct growing *g = context;
	int status;
	while ((status = weft_decoder_next(g->feed.decoder, ret_event)) == WEFT_AGAIN) {
		status = feed(g);
		if (status != WEFT_OK)
			return status;
	}
	g->has_events |= status == WEFT_OK;
	return status;
}

static const struct weft_trace_description *describe(void *context)
{
	return weft_decoder_describe(((struct growing *)context)->feed.decoder);
}

static struct weft_diagnostics *diagnostics(void *context)
{
	return weft_decoder_diagnostics(((struct growing *)context)->feed.decoder);
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
	if (weft_decoder_is_pending(g->feed.decoder) &&
		g_get_monotonic_time() - g->feed.grown_us > quiet_us)
		return feed_complete(&g->feed);
	g_usleep(WAIT_US);
	return 0;
}

bool growing_is_current(const struct growing *g)
{
	return g->is_current;
}

uint64_t growing_mark(const struct growing *g)
{
	return weft_decoder_mark(g->feed.decoder);
}

uint64_t growing_size(const struct growing *g)
{
	return g->feed.size;
}
