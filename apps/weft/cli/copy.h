/* SPDX-License-Identifier: ISC
 *
 * FILE operands that are no files: xen:DOMAIN, a guest of Xen, a PID, and core:FILE and mem:PID, a
 * ring in memory. A copy is read of what they have recorded so far.
 */
#ifndef WEFT_APPS_CLI_COPY_H
#define WEFT_APPS_CLI_COPY_H

#include <stdbool.h>

/* True if the operand is one of these. A number is a PID unless a file has that name. */
bool cli_copy_is_wanted(const char *operand);

/* A descriptor of the copy, which only its owner may read; -1 after a message. */
int cli_copy_open(const char *operand);

#endif
