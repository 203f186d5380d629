/* SPDX-License-Identifier: ISC
 *
 * weft record --recover: saves the rings that another `weft record` left when it was killed, as
 * that would have saved them, and removes its run directory.
 *
 * A run whose `weft record` still runs is left alone. So is a run in which a process still records:
 * its ring can be followed, and recovered when the process has ended.
 */
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "runs/directory/directory.h"
#include "runs/directory/rings.h"
#include "runs/message.h"
#include "runs/saving/name.h"

/* A run directory without a `weft record`, whose processes have all ended and left at least one
 * ring. */
struct orphan {
	const char *directory;
	pid_t program; /* its first process */
};

static bool is_recording(const char *directory, const struct weft__runs_rings *rings)
{
	for (size_t i = 0; i < rings->count; i++) {
		if (weft__runs_ring_is_running(directory, &rings->list[i])) {
			cli_error(
				"process %d still records; its run stays where it is", (int)rings->list[i].pid);
			return true;
		}
	}
	return false;
}

/* Locks the directory, so that no other `weft record` takes it. True if it is an orphan; false also
 * if it cannot be locked. */
static bool is_orphan(const char *directory, struct orphan *ret_orphan)
{
	struct weft__runs_rings rings;
	if (!weft__runs_directory_is_ours(directory) || !weft__runs_directory_attend(directory))
		return false;
	if (!weft__runs_rings_find(directory, 1, &rings))
		return false;
	/* In an empty directory a program may be about to start. */
	bool good = rings.count > 0 && !is_recording(directory, &rings);
	if (good)
		*ret_orphan = (struct orphan){directory, rings.list[0].pid};
	weft__runs_rings_finish(&rings);
	return good;
}

static int save_all(const struct orphan *orphans, size_t count, const char *output)
{
	int status = CLI_DONE;
	if (count == 0)
		fputs("weft: there is nothing to recover\n", stderr);
	if (count > 1 && !weft__runs_is_directory(output))
		return cli_usage_error("record",
			"-o %s: there are %zu runs to recover; name a directory for them",
			weft__runs_shown(output), count);
	for (size_t i = 0; i < count; i++) {
		const struct record_end end = {
			.directory = orphans[i].directory,
			.output = output,
			.program = orphans[i].program,
			.keep_all = true,
		};
		if (!record_save_run(&end))
			status = RECORD_FAILED;
	}
	return status;
}

/* The directory of a run by its path, with a slash at its end. */
static bool find_run(const char *run, char ret_directory[PATH_MAX])
{
	struct stat status;
	char full[PATH_MAX];
	if (!realpath(run, full) || stat(full, &status) != 0) {
		cli_error("%s: %s", weft__runs_shown(run), strerror(errno));
		return false;
	}
	char *end = S_ISDIR(status.st_mode) ? full + strlen(full) : strrchr(full, '/');
	return snprintf(ret_directory, PATH_MAX, "%.*s/", (int)(end - full), full) < PATH_MAX;
}

static int recover_at(const char *run, const char *output)
{
	char directory[PATH_MAX];
	struct orphan orphan;
	if (!find_run(run, directory))
		return RECORD_FAILED;
	/* In another directory, files that look like rings must not be removed. */
	if (strstr(directory, "/record-") && is_orphan(directory, &orphan))
		return save_all(&orphan, 1, output);
	cli_error("%s is not the directory of an orphaned run of yours; `weft ls` lists them",
		weft__runs_shown(directory));
	return RECORD_FAILED;
}

static bool has_name(
	const char *directory, const struct weft__runs_ring *ring, const char *pid_or_program)
{
	char path[PATH_MAX], pid[16];
	struct weft_buffer_summary summary;
	size_t size;
	snprintf(pid, sizeof(pid), "%d", (int)ring->pid);
	if (strcmp(pid, pid_or_program) == 0)
		return true;
	return snprintf(path, sizeof(path), "%s%s", directory, ring->name) < (int)sizeof(path) &&
		   weft__runs_ring_summarize(path, ring->pid, &summary, &size) &&
		   strcmp(summary.program, pid_or_program) == 0;
}

/* True if one of the run's processes has that PID or program; NULL: any. */
static bool is_wanted(const char *directory, const char *pid_or_program)
{
	struct weft__runs_rings rings;
	bool found = !pid_or_program;
	if (found || !weft__runs_rings_find(directory, 1, &rings))
		return found;
	for (size_t i = 0; i < rings.count && !found; i++)
		found = has_name(directory, &rings.list[i], pid_or_program);
	weft__runs_rings_finish(&rings);
	return found;
}

static int recover_in(const struct weft__runs_directories *directories, const char *pid_or_program,
	const char *output)
{
	struct orphan *orphans = calloc(directories->count + 1, sizeof(*orphans));
	size_t count = 0;
	int status = RECORD_FAILED;
	if (!orphans) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return status;
	}
	for (size_t i = 0; i < directories->count; i++)
		count += is_wanted(directories->list[i], pid_or_program) &&
				 is_orphan(directories->list[i], &orphans[count]);
	if (count > 0 || !pid_or_program)
		status = save_all(orphans, count, output);
	else
		cli_error("no orphaned run is called %s, by PID, program or path; `weft ls` lists them",
			weft__runs_shown(pid_or_program));
	free(orphans);
	return status;
}

int record_recover(const char *run, const char *output)
{
	struct weft__runs_directories directories;
	if (run && (strchr(run, '/') || access(run, F_OK) == 0))
		return recover_at(run, output);
	if (!weft__runs_directories_find(&directories))
		return RECORD_FAILED;
	int status = recover_in(&directories, run, output);
	weft__runs_directories_finish(&directories);
	return status;
}
