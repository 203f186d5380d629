/* SPDX-License-Identifier: ISC
 *
 * The reader of a merged decoder: the events of several decoders in the order of time.
 */
#ifndef WEFT_FORMAT_MERGE_H
#define WEFT_FORMAT_MERGE_H

#include "format/format.h"

/* Found by no content: it has no `probe` and no `open`. */
extern const struct weft__format weft__format_merge;

/* Fills the input's description and diagnostics; the input has no bytes. 0 or WEFT_ERROR_MEMORY. */
int weft__format_merge_create(const struct weft_decoder_part *parts, size_t count,
	const struct weft__input *input, struct weft__reader **ret_reader);

/* See weft_decoder_mark() and weft_decoder_is_pending(). */
uint64_t weft__format_merge_mark(const struct weft__reader *reader);
bool weft__format_merge_is_pending(const struct weft__reader *reader);

/* The share of all parts' bytes that was decoded. */
double weft__format_merge_part(const struct weft__reader *reader);

#endif
