/* SPDX-License-Identifier: ISC
 *
 * The model of a running program.
 */
#ifndef WEFT_APPS_CLI_LIVE_H
#define WEFT_APPS_CLI_LIVE_H

#include "cli.h"

/* Makes a model of what the program of an operand PID has recorded so far. CLI_DONE, or
 * CLI_UNREADABLE after a message. */
int cli_live_model(char *operand, struct weft_model **ret_model);

#endif
