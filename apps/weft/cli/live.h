/* SPDX-License-Identifier: ISC
 *
 * The model of a running program.
 */
#ifndef WEFT_APPS_CLI_LIVE_H
#define WEFT_APPS_CLI_LIVE_H

#include <sys/types.h>

#include "cli.h"

struct cli_live {
	struct weft_model *model;
	pid_t pid;
	uint64_t inode; /* of the ring */
};

/* Makes a model of what the program of an operand PID has recorded so far. CLI_DONE, or
 * CLI_UNREADABLE after a message. */
int cli_live_open(char *operand, struct cli_live *ret_live);

/* True if the process runs now, but not the program that recorded this: it has executed another
 * one. What is seen of the process before this returns false, is of the trace's program. */
bool cli_live_is_replaced(const struct cli_live *live);

#endif
