/* SPDX-License-Identifier: ISC
 *
 * weft ctl start and stop: makes a process that is linked with libweft record, without a command
 * that watches it meanwhile; and makes it stop.
 */
#include "ctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/attach.h"
#include "runs/attach/attach.h"
#include "runs/attach/page.h"
#include "runs/message.h"

/* The PID of the operand; 0 after a message. */
static pid_t find_pid(const struct ctl *ctl)
{
	pid_t pid = weft__runs_parse_pid(ctl->operand);
	if (!pid)
		cli_usage_error("ctl", "%s is not a PID: only processes are started and stopped",
			weft__runs_shown(ctl->operand));
	return pid;
}

int ctl_start(struct ctl *ctl, int count, char **arguments)
{
	struct weft__runs_found found;
	struct cli_attached attached;
	pid_t pid = find_pid(ctl);
	(void)count, (void)arguments;
	if (!pid)
		return CLI_USAGE;
	if (weft__runs_look_for(pid, &found) && found.ring.is_running) {
		cli_error("process %d records already", (int)pid);
		return CLI_NO;
	}
	if (!cli_attach(pid, ctl->size_bytes, &found, &attached)) {
		cli_detach(&attached);
		return CLI_NO;
	}
	char *real = realpath(found.path, NULL);
	cli_error("process %d records into %s, until `weft ctl %d stop`", (int)pid,
		weft__runs_shown(real ? real : found.path), (int)pid);
	free(real);
	return CLI_DONE;
}

int ctl_stop(struct ctl *ctl, int count, char **arguments)
{
	struct weft__runs_found found;
	char directory[PATH_MAX];
	pid_t pid = find_pid(ctl);
	(void)count, (void)arguments;
	if (!pid)
		return CLI_USAGE;
	if (!weft__runs_find_process(pid, &found))
		return CLI_UNREADABLE;
	if (found.is_attended || !found.ring.is_running) {
		cli_error(
			found.is_attended
				? "process %d is recorded by a `weft record`, another command or by itself (WEFT_OUT)"
				: "process %d does not record",
			(int)pid);
		return CLI_NO;
	}
	strrchr(found.path, '/')[1] = '\0'; /* the run directory: children stop, too */
	if (!weft__runs_reach(pid, found.path, directory))
		return CLI_NO;
	weft__runs_detached_finish(weft__runs_detach(directory), false);
	cli_error("process %d %s; `weft record --recover` saves its trace%s", (int)pid,
		weft__runs_ring_is_running(directory, &found.ring) ? "stops at its next recording call"
														   : "has stopped recording",
		found.ring.is_ours ? "" : ", if its user calls it");
	return CLI_DONE;
}
