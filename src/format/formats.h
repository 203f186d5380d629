/* SPDX-License-Identifier: ISC
 *
 * The formats of the table in decoder.c. Each is defined in a file of its own.
 */
#ifndef WEFT_FORMAT_FORMATS_H
#define WEFT_FORMAT_FORMATS_H

#include "format/format.h"

extern const struct weft__format weft__format_weft;
extern const struct weft__format weft__format_mirage_ctf;
extern const struct weft__format weft__format_sexp;

#endif
