/* SPDX-License-Identifier: ISC
 *
 * FILE|PID operands of commands that look at a running program. A process that does not record is
 * made to record as long as the command runs.
 */
#ifndef WEFT_APPS_CLI_ATTACH_H
#define WEFT_APPS_CLI_ATTACH_H

#include "runs/directory/find.h"

struct cli_attached {
	char directory[PATH_MAX]; /* the run directory that the process has made for us; "": none */
};

/* The path for an operand, as weft__runs_path. If it is a process that does not record but could,
 * attaches to it, and installs handlers: then SIGINT, SIGTERM and SIGHUP set a flag the first time.
 * NULL after a message. Call cli_detach in any case. */
char *cli_attach_path(
	char *operand, struct weft__runs_found *found, struct cli_attached *ret_attached);

/* Makes the linked process record into a run directory of its own; `size_bytes` 0: depends on the
 * free room. False after a message; then call cli_detach, too. */
bool cli_attach(pid_t pid, uint64_t size_bytes, struct weft__runs_found *ret_found,
	struct cli_attached *ret_attached);

/* Makes the process stop, and removes what it recorded. */
void cli_detach(const struct cli_attached *attached);

/* Installs those handlers. */
void cli_catch_interrupts(void);
bool cli_is_interrupted(void);

#endif
