/* SPDX-License-Identifier: ISC
 *
 * What the decoder's own files share.
 */
#ifndef WEFT_FORMAT_DECODER_H
#define WEFT_FORMAT_DECODER_H

#include <weft/decoder.h>

/* What weft_decoder_lend() was given; NULL: nothing. */
const struct weft_help *weft__decoder_help(const struct weft_decoder *decoder);

#endif
