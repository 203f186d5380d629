/* SPDX-License-Identifier: ISC
 *
 * What the verbs of `weft ctl` share: the program that they speak to.
 */
#ifndef WEFT_APPS_CTL_H
#define WEFT_APPS_CTL_H

#include <weft/follow.h>

#include "cli.h"

struct ctl {
	char *operand; /* FILE or PID, as typed */
	int fd;        /* what it records into */
	struct weft_control *control;
	bool json;
	const char *output; /* of snapshot; NULL: as it sees fit */
	bool hold;          /* of snapshot */
	const char *when;   /* of snapshot: a rule to wait for; NULL: now */
};

/* A verb's arguments are what follows it on the command line. Each answers an exit status. */
int ctl_set(struct ctl *ctl, int count, char **arguments);
int ctl_status(struct ctl *ctl, int count, char **arguments);
int ctl_snapshot(struct ctl *ctl, int count, char **arguments);
int ctl_rundown(struct ctl *ctl, int count, char **arguments);

/* Before the program is looked for: is it right use? CLI_DONE, or CLI_USAGE after a message. */
int ctl_set_check(const struct ctl *ctl, int count, char **arguments);
int ctl_snapshot_check(const struct ctl *ctl, int count, char **arguments);

/* What an error of weft_control_… means to the user: a message, and the status. */
int ctl_fail(const struct ctl *ctl, int error);

#endif
