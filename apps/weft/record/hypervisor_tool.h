/* SPDX-License-Identifier: ISC
 *
 * Xen's own tool xentrace. It turns Xen's trace on, and at SIGINT off, and writes the rest.
 */
#ifndef WEFT_APPS_RECORD_HYPERVISOR_TOOL_H
#define WEFT_APPS_RECORD_HYPERVISOR_TOOL_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HYPERVISOR_MESSAGE_BYTES 512
#define HYPERVISOR_PIPE_BYTES    (16 << 20) /* at most */

struct hypervisor_tool {
	char path[PATH_MAX];
	int pipe, messages; /* what it writes, and what it prints; -1: none */
	pid_t pid;
	int status;     /* of its end */
	bool has_ended; /* and was waited for */
};

/* False if it is not installed. */
bool hypervisor_tool_find(struct hypervisor_tool *tool);

/* Starts it with Xen's mask of events and this mask of blocked signals. False with errno. */
bool hypervisor_tool_start(struct hypervisor_tool *tool, uint32_t events, const sigset_t *blocked);

/* The last line that it printed. */
const char *hypervisor_tool_message(
	const struct hypervisor_tool *tool, char text[HYPERVISOR_MESSAGE_BYTES]);

/* Closes the descriptors. */
void hypervisor_tool_finish(struct hypervisor_tool *tool);

#endif
