/* SPDX-License-Identifier: ISC
 *
 * Formats durations for people. The function is pure: any thread may call it.
 */
#ifndef WEFT_DURATION_H
#define WEFT_DURATION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes "1.84 ms", and from ten minutes on "12 min 5 s" or "1 d 3 h 47 min": a duration with about
 * `digits` significant digits. At most 31 bytes and a NUL. */
void weft_format_duration(uint64_t ns, unsigned digits, char text[32]);

#ifdef __cplusplus
}
#endif
#endif
