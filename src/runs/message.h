/* SPDX-License-Identifier: ISC
 *
 * Messages of this library for the user. The library does not print them but passes them to a
 * function that the program sets. Without that function they are dropped.
 */
#ifndef WEFT_RUNS_MESSAGE_H
#define WEFT_RUNS_MESSAGE_H

#include <stdint.h>

/* To be called before any other thread exists. `take` gets one message at a time, without a newline
 * at its end; it may be called from several threads. */
void weft__runs_set_report(void (*take)(const char *message));

void weft__runs_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A path in a message: as it is, or in quotes and escaped if it could be misread. The text is valid
 * until the same thread has called this function four more times. */
const char *weft__runs_shown(const char *path);

/* Bytes as "16 MiB" or "1.5 GiB". */
const char *weft__runs_size_text(uint64_t bytes, char text[32]);

#endif
