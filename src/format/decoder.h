/* SPDX-License-Identifier: ISC
 *
 * What a decoder was lent.
 */
#ifndef WEFT_FORMAT_DECODER_H
#define WEFT_FORMAT_DECODER_H

#include <weft/decoder.h>

const struct weft_help *weft__decoder_help(const struct weft_decoder *decoder);

#endif
