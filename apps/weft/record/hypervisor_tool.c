/* SPDX-License-Identifier: ISC
 *
 * Finds and starts xentrace. It would truncate a file, and with it our notes, so it writes into a
 * pipe.
 */
#include "hypervisor_tool.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "record.h"

#define SMALL_PIPE_BYTES (1 << 20) /* as much as a process without privileges may have */

/* Debian and others keep it beside the other tools of its version, outside of PATH. */
bool hypervisor_tool_find(struct hypervisor_tool *tool)
{
	glob_t found;
	const char *path = getenv("PATH");
	for (const char *at = path ? path : ""; *at; at += *at == ':') {
		size_t length = strcspn(at, ":");
		snprintf(tool->path, PATH_MAX, "%.*s/xentrace", (int)length, at);
		if (length && access(tool->path, X_OK) == 0)
			return true;
		at += length;
	}
	bool good = glob("/usr/*bin/xentrace", 0, NULL, &found) == 0 ||
				glob("/usr/lib*/xen*/bin/xentrace", 0, NULL, &found) == 0;
	if (good)
		snprintf(tool->path, PATH_MAX, "%s", found.gl_pathv[0]);
	globfree(&found);
	return good;
}

/* Runs in the child. Returns only after an error. The child leaves our process group, so that the
 * terminal's Ctrl-C does not interrupt it while it writes, which it would take for a failure. */
static void become_tool(const struct hypervisor_tool *tool, uint32_t events,
	const sigset_t *blocked, int output, pid_t parent)
{
	char name[] = "xentrace", discard[] = "-D", option[] = "-e", mask[16],
		 file[] = "/proc/self/fd/1";
	char *arguments[] = {name, discard, option, mask, file, NULL};
	snprintf(mask, sizeof(mask), "0x%08x", events);
	prctl(PR_SET_PDEATHSIG, SIGINT);
	if (getppid() != parent || setpgid(0, 0) != 0 || dup2(output, STDOUT_FILENO) < 0 ||
		dup2(tool->messages, STDERR_FILENO) < 0)
		return;
	sigprocmask(SIG_SETMASK, blocked, NULL);
	execv(tool->path, arguments);
	dprintf(STDERR_FILENO, "%s: %s\n", tool->path, strerror(errno));
}

/* A large pipe lets xentrace go on while the disk is busy. */
bool hypervisor_tool_start(struct hypervisor_tool *tool, uint32_t events, const sigset_t *blocked)
{
	int ends[2];
	pid_t parent = getpid();
	tool->messages = memfd_create("xentrace", MFD_CLOEXEC);
	if (tool->messages < 0 || pipe2(ends, O_CLOEXEC) != 0)
		return false;
	if (fcntl(ends[1], F_SETPIPE_SZ, HYPERVISOR_PIPE_BYTES) < 0)
		(void)fcntl(ends[1], F_SETPIPE_SZ, SMALL_PIPE_BYTES);
	tool->pid = fork();
	if (tool->pid == 0) {
		become_tool(tool, events, blocked, ends[1], parent);
		_exit(RECORD_NOT_EXECUTABLE);
	}
	int reason = errno;
	close(ends[1]);
	tool->pipe = ends[0];
	errno = reason;
	return tool->pid > 0;
}

const char *hypervisor_tool_message(
	const struct hypervisor_tool *tool, char text[HYPERVISOR_MESSAGE_BYTES])
{
	ssize_t size = pread(tool->messages, text, HYPERVISOR_MESSAGE_BYTES - 1, 0);
	size = size > 0 ? size : 0;
	while (size > 0 && text[size - 1] == '\n')
		size--;
	text[size] = '\0';
	const char *line = strrchr(text, '\n');
	return line ? line + 1 : text;
}

void hypervisor_tool_finish(struct hypervisor_tool *tool)
{
	if (tool->pipe >= 0)
		close(tool->pipe);
	if (tool->messages >= 0)
		close(tool->messages);
}
