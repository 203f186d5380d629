/* SPDX-License-Identifier: ISC
 *
 * The reader of streams that are still arriving: see struct weft__incoming.
 */
#ifndef WEFT_FORMAT_WEFT_INCOMING_H
#define WEFT_FORMAT_WEFT_INCOMING_H

#include "format/format.h"

extern const struct weft__incoming weft__incoming_weft;

#endif
