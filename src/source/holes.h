/* SPDX-License-Identifier: ISC
 *
 * Holes of a mapped file: a saved ring is mostly holes.
 */
#ifndef WEFT_SOURCE_HOLES_H
#define WEFT_SOURCE_HOLES_H

#include <stddef.h>

/* Puts zeros over the holes of a file of tmpfs that was mapped from its start. There, reading a
 * hole through the mapping would allocate memory that stays in use as long as the file. */
void weft__source_holes_cover(void *bytes, size_t size, int fd);

#endif
