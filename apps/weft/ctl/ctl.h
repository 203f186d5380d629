/* SPDX-License-Identifier: ISC
 *
 * Shared by the verbs of `weft ctl`: the program that they control.
 */
#ifndef WEFT_APPS_CTL_H
#define WEFT_APPS_CTL_H

#include <weft/follow.h>

#include "cli/cli.h"

struct ctl {
	char *operand; /* FILE, PID or xen:GUEST, as typed */
	int fd;        /* the file that it records into */
	pid_t pid;     /* 0: the operand is a file */
	bool is_guest; /* there is no file */
	struct weft_control *control;
	bool json;
	const char *output;  /* for snapshot: -o; NULL: the default */
	bool hold;           /* for snapshot: --hold */
	const char *when;    /* for snapshot: --when, a rule to wait for; NULL: now */
	uint64_t size_bytes; /* for start: --size; 0: the default */
};

/* The verbs. Their arguments are those after the verb on the command line. Each returns an exit
 * status. */
int ctl_set(struct ctl *ctl, int count, char **arguments);
int ctl_status(struct ctl *ctl, int count, char **arguments);
int ctl_snapshot(struct ctl *ctl, int count, char **arguments);
int ctl_rundown(struct ctl *ctl, int count, char **arguments);
/* These two are called without an open file. */
int ctl_start(struct ctl *ctl, int count, char **arguments);
int ctl_stop(struct ctl *ctl, int count, char **arguments);

/* Checks the arguments before the program is searched for. CLI_DONE, or CLI_USAGE after a message.
 */
int ctl_set_check(const struct ctl *ctl, int count, char **arguments);
int ctl_snapshot_check(const struct ctl *ctl, int count, char **arguments);

/* Prints a message for an error of weft_control_…; returns the exit status. */
int ctl_fail(const struct ctl *ctl, int error);

#endif
