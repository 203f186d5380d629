/* SPDX-License-Identifier: ISC
 *
 * Internal to the decoder: shared by decoder.c, load.c and merge.c.
 */
#ifndef WEFT_FORMAT_DECODER_H
#define WEFT_FORMAT_DECODER_H

#include <stdbool.h>

#include <weft/decoder.h>

#include "format/format.h"
#include "format/weft/identity.h"
#include "model/load.h"

/* The argument of weft_decoder_lend(); NULL if it was not called. */
const struct weft_help *weft__format_decoder_help(const struct weft_decoder *decoder);

/* Adds to weft_decoder_events(). */
void weft__format_decoder_count(struct weft_decoder *decoder, uint32_t events);

/* Gives the next events as facts, up to `most` of them, as long as these are plain and before
 * `before_ns`; the next one is for weft_decoder_next(), and so is the first of all. If none can be
 * before that time, the event that was given last stays valid. 0 or an error. */
int weft__format_decoder_next_facts(struct weft_decoder *decoder, const struct weft__naming *naming,
	uint64_t before_ns, struct weft__fact *facts, uint32_t most, uint32_t *ret_count);

/* False if weft_decoder_seek() leaves nothing out, because all of the input is read. */
bool weft__format_decoder_seeks(const struct weft_decoder *decoder);
/* weft_decoder_seek(). `*ret_follows_given`: events are left out of the thread of the event that
 * was given last, so that nothing says for how long that is true. */
int weft__format_decoder_seek(
	struct weft_decoder *decoder, uint64_t time_ns, bool *ret_follows_given);

/* Passes the packets of a decoder that has given no event to `take`: see struct weft__format. 0,
 * WEFT_ERROR_UNSUPPORTED if the format has none, or an error. */
int weft__format_decoder_weigh(
	struct weft_decoder *decoder, weft__format_weigh *take, void *context);

/* ---- Parts of a merged decoder ---- */

/* WEFT_OK: weft__format_decoder_start() can be called; WEFT_AGAIN: not before more bytes or finish;
 * or an error. */
int weft__format_decoder_prepare(struct weft_decoder *decoder);
/* True if the decoder has a reader, and so a clock. */
bool weft__format_decoder_has_started(const struct weft_decoder *decoder);
/* Creates the reader if there is none. 0 or an error, which weft_decoder_next() will return. */
int weft__format_decoder_start(struct weft_decoder *decoder);
/* Reads the identity of a decoder that was not read from. False if its format has none. */
bool weft__format_decoder_identify(
	const struct weft_decoder *decoder, struct weft__identity *ret_identity);

/* The bytes that the decoder was fed so far. */
uint64_t weft__format_decoder_bytes(const struct weft_decoder *decoder);

#endif
