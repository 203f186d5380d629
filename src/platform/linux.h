/* SPDX-License-Identifier: ISC
 *
 * What the files of the Linux platform tell each other.
 */
#ifndef WEFT_PLATFORM_LINUX_H
#define WEFT_PLATFORM_LINUX_H

#include <stddef.h>
#include <stdint.h>

/* As early as possible: which clock counts, and the first moment, from which its rate is known. */
void weft__linux_init(void);

/* The program's name as it is used for files: without directory, never empty. */
const char *weft__linux_program(void);

/* Creates the file, maps it and starts recording into it. 0, or an errno; `ret_step` names what
 * failed. Nothing remains after a failure. */
int weft__ring_create(const char *path, uint64_t bytes, const char **ret_step);

#endif
