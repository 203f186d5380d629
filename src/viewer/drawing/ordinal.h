/* SPDX-License-Identifier: ISC
 *
 * Numbers of rows, counters, problems and bookmarks in commands and links.
 */
#ifndef WEFT_VIEWER_ORDINAL_H
#define WEFT_VIEWER_ORDINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <weft/parse.h>

/* The number from 1 on that the text is; 0 if it is anything else, also a number beyond 32 bits. */
static inline uint32_t weft__viewer_parse_ordinal(const char *text)
{
	uint64_t number;
	bool is_number = weft_parse_number(text, strlen(text), &number) == WEFT_PARSE_OK;
	return is_number && number < UINT32_MAX ? (uint32_t)number : 0;
}

#endif
