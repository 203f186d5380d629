/* SPDX-License-Identifier: ISC
 *
 * The formats of formats.def. Each is defined in a file of its own.
 */
#ifndef WEFT_FORMAT_FORMATS_H
#define WEFT_FORMAT_FORMATS_H

#include "format/format.h"

#define FORMAT(name) extern const struct weft__format weft__format_##name;
#include "format/formats.def"
#undef FORMAT

#endif
