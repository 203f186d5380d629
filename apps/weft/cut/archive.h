/* SPDX-License-Identifier: ISC
 *
 * Writes a tar archive, which src/input/archive.c reads.
 */
#ifndef WEFT_APPS_CUT_ARCHIVE_H
#define WEFT_APPS_CUT_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/output.h"

#define ARCHIVE_NAME_MAX 100
#define ARCHIVE_SIZE_MAX 077777777777u /* of a file: eleven octal digits */

/* False with errno; or if cli_is_interrupted(). */
bool archive_add(struct cli_output *output, const char *name, const void *bytes, size_t size);
bool archive_end(struct cli_output *output);

#endif
