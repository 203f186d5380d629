/* SPDX-License-Identifier: ISC
 *
 * A file that grows, and the decoder that is fed with it.
 */
#ifndef WEFT_GTK_FEED_H
#define WEFT_GTK_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/decoder.h>
#include <weft/source.h>

struct feed {
	const char *path;                  /* borrowed */
	struct weft_source_growth *source; /* NULL: the file was taken for complete */
	struct weft_decoder *decoder;
	uint64_t size;    /* as far as it was read */
	int64_t grown_us; /* when it was found to have grown */
};

/* To be closed after an error, too. */
int feed_open(struct feed *feed, const char *path);
void feed_close(struct feed *feed);

/* Feeds the decoder with the next bytes. `is_kept`: it has given no event yet. WEFT_OK, WEFT_AGAIN
 * if the file has not grown, WEFT_END if it was replaced, or an error: WEFT_ERROR_LIMIT if a file
 * that is only decoded when it is complete is too large to be kept. */
int feed_read(struct feed *feed, bool is_kept);

/* Takes the file for complete, and returns the decoder's error. */
int feed_complete(struct feed *feed);

#endif
