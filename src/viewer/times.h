/* SPDX-License-Identifier: ISC
 *
 * Times and durations as texts.
 */
#ifndef WEFT_VIEWER_TIMES_H
#define WEFT_VIEWER_TIMES_H

#include <stdint.h>

struct weft_viewer;

/* times.c: as the command line has them: "12.5ms", "@123". What is wrong, or NULL. */
const char *weft__parse_time(const char *text, uint64_t trace_start, uint64_t *ret_time);
const char *weft__parse_duration(const char *text, uint64_t *ret_ns);
/* So that it is read back as the same: "12500ns" as "12.5us". */
void weft__write_duration(uint64_t ns, char text[32]);

#endif
