/* SPDX-License-Identifier: ISC
 *
 * Times and durations as texts.
 */
#ifndef WEFT_VIEWER_TIMES_H
#define WEFT_VIEWER_TIMES_H

#include <stdint.h>

/* times.c: reads "12.5ms" or "@123" as the command line does. An error message, or NULL. */
const char *weft__viewer_parse_time(const char *text, uint64_t trace_start, uint64_t *ret_time);
const char *weft__viewer_parse_duration(const char *text, uint64_t *ret_ns);
/* Writes a duration so that it is read back as the same: 12500 ns as "12.5us". */
void weft__viewer_write_duration(uint64_t ns, char text[32]);

#endif
