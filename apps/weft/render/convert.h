/* SPDX-License-Identifier: ISC
 *
 * Traces in formats that the page does not read.
 */
#ifndef WEFT_APPS_CONVERT_H
#define WEFT_APPS_CONVERT_H

#include <stdbool.h>

#include <weft/text.h>

#include "page.h"

/* True if the page reads traces of this format, as a description names it. */
bool page_reads(const char *format);

/* Appends the same trace in weft's format. 0 or an error; WEFT_ERROR_UNSUPPORTED if it has several
 * processes. */
int page_convert(const struct page_file *file, struct weft_text *text);

#endif
