/* SPDX-License-Identifier: ISC
 *
 * See feed.h.
 */
#include "feed.h"

#include <glib.h>

#include "opening.h"

/* A format that is only decoded when it is complete is kept in memory until then. */
#define KEPT_MAX_BYTES ((uint64_t)1 << 30)

int feed_open(struct feed *f, const char *path)
{
	*f = (struct feed){.path = path, .grown_us = g_get_monotonic_time()};
	int error = weft_source_growth_open(path, &f->source);
	if (!error)
		error = weft_decoder_create(&f->decoder);
	if (!error)
		weft_decoder_set_hz(f->decoder, opening_hz());
	return error;
}

void feed_close(struct feed *f)
{
	weft_decoder_destroy(f->decoder);
	weft_source_growth_close(f->source);
}

int feed_read(struct feed *f, bool is_kept)
{
	const void *bytes;
	size_t size;
	int status = weft_source_growth_next(f->source, &bytes, &size);
	if (status != WEFT_OK)
		return status;
	f->size = weft_source_growth_size(f->source);
	if (is_kept && f->size > KEPT_MAX_BYTES)
		return WEFT_ERROR_LIMIT;
	f->grown_us = g_get_monotonic_time();
	return weft_decoder_feed(f->decoder, bytes, size);
}

int feed_complete(struct feed *f)
{
	g_clear_pointer(&f->source, weft_source_growth_close);
	return weft_decoder_finish(f->decoder);
}
