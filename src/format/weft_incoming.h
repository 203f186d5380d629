/* SPDX-License-Identifier: ISC
 *
 * Streams that are read while they come: see struct weft__incoming.
 */
#ifndef WEFT_FORMAT_WEFT_INCOMING_H
#define WEFT_FORMAT_WEFT_INCOMING_H

#include "format/format.h"

extern const struct weft__incoming weft__incoming_weft;

#endif
