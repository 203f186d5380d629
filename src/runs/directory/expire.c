/* SPDX-License-Identifier: ISC
 *
 * If `weft record` is killed, its run directory takes memory until it is recovered, or for 7 days.
 *
 * The time at which its processes ended is not known. So the first weft command that finds it
 * orphaned leaves a mark, and the first one that finds the mark older than 7 days removes the run:
 * every run that is removed has been listed by `weft ls` for a week.
 */
#include "runs/directory/directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "abi/run_abi.h"
#include "runs/message.h"

static const time_t KEPT_S = (time_t)7 * 24 * 3600;

static bool is_running(const char *directory, const struct weft__runs_rings *rings)
{
	for (size_t i = 0; i < rings->count; i++)
		if (weft__runs_ring_is_running(directory, &rings->list[i]))
			return true;
	return false;
}

/* True if the mark is old enough. Makes the mark if there is none. A mark that belongs to another
 * user is replaced: a child process without root's privileges could set its time back to have
 * traces removed. */
static bool has_expired(const char *mark)
{
	struct stat status;
	if (lstat(mark, &status) == 0) {
		if (S_ISREG(status.st_mode) && status.st_uid == geteuid())
			return time(NULL) - status.st_mtime > KEPT_S;
		unlink(mark);
	}
	int fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return false;
}

static void look_at_run(const char *directory)
{
	char mark[PATH_MAX + sizeof(WEFT_ABI_RUN_ORPHANED)];
	struct weft__runs_rings rings;
	snprintf(mark, sizeof(mark), "%s" WEFT_ABI_RUN_ORPHANED, directory);
	if (!weft__runs_directory_is_ours(directory) || weft__runs_directory_is_attended(directory) ||
		!weft__runs_rings_find(directory, 1, &rings))
		return;
	/* In an empty directory a program may be about to start. */
	bool is_empty = rings.count + rings.refused_count == 0;
	if (!is_empty && is_running(directory, &rings)) {
		unlink(mark);
	} else if (!is_empty && has_expired(mark)) {
		weft__runs_report(
			"removing %s: it was found orphaned 7 days ago", weft__runs_shown(directory));
		weft__runs_directory_remove(directory, &rings, true);
	}
	weft__runs_rings_finish(&rings);
}

void weft__runs_expire(void)
{
	struct weft__runs_directories directories;
	if (!weft__runs_directories_find(&directories))
		return;
	for (size_t i = 0; i < directories.count; i++)
		look_at_run(directories.list[i]);
	weft__runs_directories_finish(&directories);
}
