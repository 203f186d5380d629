/* SPDX-License-Identifier: ISC
 *
 * See watched.h. The watcher outlives the process, since its trace is still shown then: it ends
 * when the socket between us is closed, also by our death, and removes the trace.
 */
#include "watched.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/cli.h"
#include "outside/outside.h"
#include "runs/attach/page.h"
#include "runs/directory/directory.h"
#include "cli/attach.h"
#include "runs/directory/find.h"
#include "watch.h"

bool watched_is_wanted(const char *operand)
{
	struct weft__runs_found found;
	const pid_t pid = weft__runs_parse_pid(operand);
	return pid && !weft__runs_has_page(pid) && weft__runs_is_program(pid) &&
		   !weft__runs_look_for(pid, &found) && !weft__runs_find_mapped(pid, &found);
}

static void remove_directory(const char *directory)
{
	const struct weft__runs_rings none = {0};
	weft__runs_directory_remove(directory, &none, true);
}

/* Returns the exit status of the watcher. */
static int watch(pid_t pid, const struct watched_process *watched, int caller)
{
	struct pollfd end = {.fd = caller, .events = POLLIN};
	/* These of the terminal are for the caller, which ends us. */
	static const int ignored[] = {SIGINT, SIGHUP, SIGQUIT};
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	const int status = why_watch_live(pid, watched->path, caller);
	while (status == CLI_DONE && poll(&end, 1, -1) < 0 && errno == EINTR)
		continue;
	remove_directory(watched->directory);
	return status;
}

/* "redis-server-1234 (from outside)" */
static void name_trace(pid_t pid, struct watched_process *watched)
{
	char name[32];
	weft__outside_name(pid, name);
	for (char *at = name; *at; at++)
		*at = *at == '/' ? '_' : *at;
	snprintf(watched->path, sizeof(watched->path), "%s%s-%d (from outside)", watched->directory,
		name, (int)pid);
}

static bool is_ready(int watcher)
{
	char byte;
	ssize_t size;
	do
		size = read(watcher, &byte, 1);
	while (size < 0 && errno == EINTR && !cli_is_interrupted());
	return size == 1;
}

static bool start_watcher(pid_t pid, struct watched_process *watched)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	const pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		_exit(watch(pid, watched, ends[1]));
	}
	close(ends[1]);
	watched->watcher = ends[0];
	return child > 0;
}

bool watched_start(const char *operand, struct watched_process *ret_watched)
{
	const pid_t pid = weft__runs_parse_pid(operand);
	struct watched_process watched = {.watcher = -1};
	if (!weft__runs_directory_make(0, watched.directory))
		return false;
	name_trace(pid, &watched);
	if (!start_watcher(pid, &watched)) {
		cli_error("%s", strerror(errno));
		remove_directory(watched.directory);
	}
	*ret_watched = watched;
	if (watched.watcher >= 0 && is_ready(watched.watcher))
		return true;
	watched_stop(&watched);
	return false;
}

void watched_stop(const struct watched_process *watched)
{
	char byte;
	if (watched->watcher < 0)
		return;
	shutdown(watched->watcher, SHUT_WR);
	while (read(watched->watcher, &byte, 1) > 0 || errno == EINTR)
		errno = 0;
	close(watched->watcher);
}
