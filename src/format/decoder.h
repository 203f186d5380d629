/* SPDX-License-Identifier: ISC
 *
 * Internal to the decoder: shared by decoder.c and load.c.
 */
#ifndef WEFT_FORMAT_DECODER_H
#define WEFT_FORMAT_DECODER_H

#include <weft/decoder.h>

/* The argument of weft_decoder_lend(); NULL if it was not called. */
const struct weft_help *weft__decoder_help(const struct weft_decoder *decoder);

/* Adds to weft_decoder_events(). */
void weft__decoder_count(struct weft_decoder *decoder, uint32_t events);

/* The bytes that the decoder was fed so far. */
uint64_t weft__decoder_bytes(const struct weft_decoder *decoder);

#endif
