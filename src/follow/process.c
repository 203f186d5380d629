/* SPDX-License-Identifier: ISC
 *
 * Finds out whether the program still exists. A pid alone is not enough: it may belong to another
 * process by now, or the process may have executed another program. But a recording program has the
 * file mapped, which is checked now and then; in between, the end of the process makes a descriptor
 * readable.
 */
#include "follow/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "source/process.h"

static const uint64_t INTERVAL_NS = 250000000;

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void weft__follow_process_open(struct weft__process *process, uint32_t pid, uint64_t inode)
{
	*process = (struct weft__process){.pid = (pid_t)pid, .fd = -1, .inode = inode};
	if (process->pid > 0)
		process->fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
	process->has_ended = process->pid <= 0 || (process->fd < 0 && errno == ESRCH);
}

void weft__follow_process_close(struct weft__process *process)
{
	if (process->fd >= 0)
		close(process->fd);
	process->fd = -1;
}

bool weft__follow_process_is_gone(const struct weft__process *process)
{
	struct pollfd descriptor = {.fd = process->fd, .events = POLLIN};
	if (process->fd < 0) /* an old kernel */
		return kill(process->pid, 0) != 0 && errno == ESRCH;
	return poll(&descriptor, 1, 0) > 0;
}

bool weft__follow_process_has_ended(struct weft__process *process)
{
	if (process->has_ended || weft__follow_process_is_gone(process)) {
		process->has_ended = true;
		return true;
	}
	uint64_t now = now_ns();
	if (now >= process->due_ns) {
		process->due_ns = now + INTERVAL_NS;
		process->has_ended = !weft__source_process_has_mapped(process->pid, process->inode);
	}
	return process->has_ended;
}

bool weft__follow_process_awaits_parent(const struct weft__process *process)
{
	return process->pid > 0 && weft__follow_process_is_gone(process) && kill(process->pid, 0) == 0;
}

bool weft__follow_process_sleep(const struct weft__process *process, uint64_t ns)
{
	struct pollfd descriptor = {.fd = process->fd, .events = POLLIN};
	const struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	return ppoll(&descriptor, 1, &time, NULL) >= 0;
}
