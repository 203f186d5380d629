/* SPDX-License-Identifier: ISC
 *
 * Says why a process has no ring in the directories that are searched: from its user and its
 * environment, as far as these can be read.
 */
#include "runs/directory/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/run_abi.h"
#include "runs/attach/page.h"
#include "runs/directory/directory.h"
#include "runs/message.h"
#include "source/process.h"

/* The value of WEFT_OUT with which the process was started: "" if it had none. NULL if its
 * environment cannot be read. The caller frees it. */
static char *read_out(pid_t pid)
{
	static const char name[] = WEFT_ABI_RUN_OUT "=";
	char path[64], *entry = NULL, *value = NULL;
	size_t room = 0;
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return NULL;
	while (!value && getdelim(&entry, &room, '\0', file) > 0)
		if (strncmp(entry, name, sizeof(name) - 1) == 0)
			value = strdup(entry + sizeof(name) - 1);
	free(entry);
	fclose(file);
	return value ? value : strdup("");
}

/* The process runs as our user. */
static void explain_ours(pid_t pid, const char *searched)
{
	char *out = read_out(pid);
	if (weft__runs_has_page(pid))
		weft__runs_report(
			"process %d does not record; `weft record -p %d` or `weft ctl %d start` makes "
			"it record",
			(int)pid, (int)pid, (int)pid);
	else if (!out)
		weft__runs_report("process %d has no ring in %s: it was not started by `weft record`, or "
						  "with another XDG_RUNTIME_DIR; `weft ls` lists the processes there",
			(int)pid, searched);
	else if (strncmp(out, searched, strlen(searched)) == 0)
		weft__runs_report("process %d has no ring in %s: it runs under `weft record`, but has "
						  "recorded nothing yet, or cannot; `weft record` says why when it ends",
			(int)pid, searched);
	else if (*out)
		weft__runs_report("process %d has no ring in %s: it was started with WEFT_OUT=%s; name its "
						  "file instead of the process",
			(int)pid, searched, weft__runs_shown(out));
	else
		weft__runs_report(
			"process %d has no ring in %s: it was started without `weft record` and "
			"without WEFT_OUT, so `weft why %d` and `weft view %d` see it only from outside; "
			"`weft record` starts a program that is recorded",
			(int)pid, searched, (int)pid, (int)pid);
	free(out);
}

bool weft__runs_is_program(pid_t pid)
{
	const enum weft__source_process state = weft__source_process_state(pid);
	return state != WEFT__SOURCE_PROCESS_NONE && state != WEFT__SOURCE_PROCESS_ENDED &&
		   !weft__source_process_is_kernel(pid) && pid != getpid() &&
		   weft__source_process_of(pid) == pid;
}

/* True after a report, if the number is not that of a program that could record. */
static bool explain_number(pid_t pid)
{
	pid_t process = weft__source_process_of(pid);
	if (weft__source_process_state(pid) == WEFT__SOURCE_PROCESS_ENDED)
		weft__runs_report("process %d has ended (it is a zombie: its parent has not waited for it "
						  "yet), and has left no ring",
			(int)pid);
	else if (weft__source_process_is_kernel(pid))
		weft__runs_report("%d is a thread of the kernel, not of a program", (int)pid);
	else if (pid == getpid())
		weft__runs_report("process %d is this weft itself", (int)pid);
	else if (process != pid)
		weft__runs_report(
			"%d is a thread of process %d; use the number of the process", (int)pid, (int)process);
	else
		return false;
	return true;
}

/* A second line, for those who mean the program that had the number before. */
static void name_earlier(pid_t pid)
{
	struct weft__runs_list rings;
	if (!weft__runs_find(&rings))
		return;
	for (size_t i = 0; i < rings.count; i++)
		if (rings.list[i].ring.pid == pid && rings.list[i].is_earlier)
			weft__runs_report("%s is the ring of an earlier process %d",
				weft__runs_shown(rings.list[i].path), (int)pid);
	weft__runs_list_finish(&rings);
}

static void explain(pid_t pid)
{
	char searched[PATH_MAX], path[64];
	struct stat status;
	if (explain_number(pid))
		return;
	weft__runs_directory_searched(searched);
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	const char *shown = weft__runs_shown(searched);
	if (stat(path, &status) != 0)
		weft__runs_report("there is no process %d, and no ring of it in %s; `weft ls` lists the "
						  "processes and rings there",
			(int)pid, shown);
	else if (status.st_uid != geteuid())
		weft__runs_report("process %d has no ring in %s: it runs as user %u; run weft as that user",
			(int)pid, shown, (unsigned)status.st_uid);
	else
		explain_ours(pid, shown);
}

void weft__runs_report_unfound(pid_t pid)
{
	explain(pid);
	name_earlier(pid);
}
