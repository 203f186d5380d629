/* SPDX-License-Identifier: ISC
 *
 * The events of an xentrace file that is still being written.
 */
#ifndef WEFT_FORMAT_XENTRACE_INCOMING_H
#define WEFT_FORMAT_XENTRACE_INCOMING_H

#include "format/format.h"

extern const struct weft__incoming weft__xentrace_incoming;

#endif
