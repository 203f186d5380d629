/* SPDX-License-Identifier: ISC
 *
 * A whole file, or none.
 */
#ifndef WEFT_APPS_OUTPUT_H
#define WEFT_APPS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the bytes to `path`, `-` being standard output. A file appears under its name only when
 * all of it is on disk; what was there before stays until then. False after a message. */
bool cli_save(const char *path, const char *bytes, size_t size);

/* All bytes to a descriptor; false with errno. */
bool cli_write_all(int fd, const char *bytes, size_t size);

#endif
