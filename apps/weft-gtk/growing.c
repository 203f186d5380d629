/* SPDX-License-Identifier: ISC
 *
 * See growing.h. Nothing says that a file will not grow any more. If it has not grown for a while,
 * although bytes at its end wait for others, its writer has probably gone: then the decoder gives
 * what it has, and the events end. Several files have rules of their own, in several.c.
 */
#include "growing.h"

#include <glib.h>

#include "feed.h"
#include "opening.h"
#include "several.h"

#define WAIT_US        50000
#define QUIET_FIRST_US 500000  /* before any event was given */
#define QUIET_US       2000000 /* a writer that lives writes a mark within a second */

/* If the file grows after its events have ended, all of it is read again. So the wait is this
 * multiple of the time that reading took. */
#define QUIET_SHARE 20

struct growing {
	char *path;
	struct feed feed;           /* of one file */
	struct several *several;    /* or several files; else NULL */
	int64_t opened_us, read_us; /* when, and how long it took to become current */
	bool is_current, has_events;
};

int growing_open(char **paths, struct growing **ret_growing)
{
	struct growing *g = g_new0(struct growing, 1);
	g->path = g_strdup(paths[0]);
	g->opened_us = g_get_monotonic_time();
	int error = paths[1] ? several_open(paths, &g->several) : feed_open(&g->feed, g->path);
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
	several_close(g->several);
	feed_close(&g->feed);
	g_free(g->path);
	g_free(g);
}

/* Feeds the decoder of the only file. WEFT_OK, WEFT_AGAIN if it has not grown, or an error. */
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
	if (g->several)
		return several_next(g->several, ret_event);
	while ((status = weft_decoder_next(g->feed.decoder, ret_event)) == WEFT_AGAIN) {
		status = feed(g);
		if (status != WEFT_OK)
			return status;
	}
	g->has_events |= status == WEFT_OK;
	return status;
}

static struct weft_decoder *decoder_of(const struct growing *g)
{
	return g->several ? several_decoder(g->several) : g->feed.decoder;
}

static const struct weft_trace_description *describe(void *context)
{
	return weft_decoder_describe(decoder_of(context));
}

static struct weft_diagnostics *diagnostics(void *context)
{
	return weft_decoder_diagnostics(decoder_of(context));
}

struct weft_refresh_source growing_source(struct growing *g)
{
	return (struct weft_refresh_source){next, describe, diagnostics, NULL, g};
}

static bool is_left(const struct growing *g)
{
	int64_t quiet_us = g->has_events ? QUIET_US : QUIET_FIRST_US;
	if (quiet_us < QUIET_SHARE * g->read_us)
		quiet_us = QUIET_SHARE * g->read_us;
	return weft_decoder_is_pending(g->feed.decoder) &&
		   g_get_monotonic_time() - g->feed.grown_us > quiet_us;
}

int growing_wait(struct growing *g)
{
	if (!g->several && is_left(g))
		return feed_complete(&g->feed);
	g_usleep(WAIT_US);
	return g->several ? several_look(g->several) : 0;
}

bool growing_is_current(const struct growing *g)
{
	return g->several ? several_is_current(g->several) : g->is_current;
}

uint64_t growing_mark(const struct growing *g)
{
	return weft_decoder_mark(decoder_of(g));
}

int64_t growing_size(const struct growing *g)
{
	return g->several ? several_size(g->several) : (int64_t)g->feed.size + 1;
}

char *growing_damage(const struct growing *g)
{
	GString *lines = g_string_new("");
	if (g->several)
		several_add_damage(g->several, lines);
	else
		opening_add_damage(lines, "", weft_decoder_diagnostics(g->feed.decoder));
	return g_string_free(lines, FALSE);
}
