/* SPDX-License-Identifier: ISC
 *
 * A file without a name, for bytes that may be more than memory: they are written, then the file is
 * mapped like any other. It is in $TMPDIR, or in /var/tmp, which is on a disk, and is gone when it
 * is closed.
 */
#ifndef WEFT_SOURCE_NAMELESS_H
#define WEFT_SOURCE_NAMELESS_H

#include <stddef.h>

/* A descriptor, or -1. */
int weft__source_nameless_open(void);

/* 0 or WEFT_ERROR_SYSTEM. */
int weft__source_nameless_write(int fd, const void *bytes, size_t size);

#endif
