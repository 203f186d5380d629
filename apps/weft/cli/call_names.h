/* SPDX-License-Identifier: ISC
 *
 * The names of system calls.
 */
#ifndef WEFT_APPS_CLI_CALL_NAMES_H
#define WEFT_APPS_CLI_CALL_NAMES_H

#include <stdint.h>

/* "read" and so on; NULL for a number that this machine's programs do not have. */
const char *cli_call_name(uint64_t number);

#endif
