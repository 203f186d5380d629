/* SPDX-License-Identifier: ISC
 *
 * The answer about a process that records nothing: a look at it from outside, and at the processes
 * for which it waits; or at all processes.
 */
#include "outside.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/parse.h>

#include "cli/call_names.h"
#include "cli/cli.h"
#include "outside_words.h"
#include "stacks.h"

enum {
	PROCESSES = 12,      /* that are looked at from one */
	PROCESSES_MAX = 8192 /* of a host */
};

static void find_frames(struct weft__outside_process *process)
{
#if WHY_HAS_STACKS
	if (process->is_kernel || process->has_ended || process->is_foreign ||
		process->denied == process->count)
		return;
	struct stack_files *files = stack_files_read(process->alive);
	process->no_frames = why_stacks_find(process, files);
	free(files);
	weft__outside_read_python(process, process->python_runtime, process->python_version, true);
#else
	process->no_frames = WHY_NO_STACKS;
#endif
}

static bool look(struct outside_answer *a, pid_t pid)
{
	struct weft__outside_process *process = weft__outside_look(&a->host, pid, true);
	if (!process)
		return false;
	find_frames(process);
	weft__outside_resolve(&a->host, process, cli_call_name);
	return true;
}

/* Looks at the processes for which those wait that were looked at. */
static void look_at_others(struct outside_answer *a)
{
	for (uint32_t i = 0; i < a->host.count; i++)
		for (uint32_t k = 0; k < a->host.processes[i].count; k++)
			for (uint32_t n = 0; n < a->host.processes[i].threads[k].other_count; n++) {
				const pid_t pid = a->host.processes[i].threads[k].others[n].pid;
				if (a->host.count < PROCESSES && pid != getpid() &&
					!weft__outside_find(&a->host, pid))
					(void)look(a, pid);
			}
}

static void add_circles(struct outside_answer *a)
{
	weft__outside_find_stuck(&a->host);
	for (uint32_t i = 0; i < a->host.count; i++)
		for (uint32_t k = 0; k < a->host.processes[i].count; k++)
			if (a->host.processes[i].threads[k].is_stuck)
				outside_add_circle(a, &a->host.processes[i].threads[k]);
}

static int finish(struct outside_answer *a)
{
	const bool is_written = cli_write(&a->text);
	weft_text_finish(&a->text);
	weft__outside_finish(&a->host);
	return is_written && a->has_wait ? CLI_DONE : CLI_NO;
}

int why_outside(pid_t pid, bool json)
{
	struct outside_answer a = {.json = json};
	if (!look(&a, pid)) {
		weft__outside_finish(&a.host);
		return CLI_UNREADABLE;
	}
	look_at_others(&a);
	add_circles(&a);
	for (uint32_t i = 0; i < a.host.count; i++)
		outside_add_process(&a, &a.host.processes[i]);
	return finish(&a);
}

/* ---- One thread ---- */

void why_outside_add_frames(
	struct weft__outside_host *host, pid_t pid, pid_t tid, struct weft_text *text)
{
	struct weft__outside_process *process = weft__outside_find(host, pid);
	if (!process && (process = weft__outside_look(host, pid, false)))
		find_frames(process);
	for (uint32_t i = 0; process && i < process->count; i++)
		if (process->threads[i].tid == tid)
			outside_add_own_frames(text, &process->threads[i]);
}

/* ---- All processes ---- */

/* Root sees all, others their own. */
static bool is_ours(const struct dirent *entry, int folder)
{
	struct stat status;
	return geteuid() == 0 ||
		   (fstatat(folder, entry->d_name, &status, 0) == 0 && status.st_uid == geteuid());
}

static void look_at_all(struct outside_answer *a)
{
	uint64_t pid;
	DIR *folder = opendir("/proc");
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (a->host.count < PROCESSES_MAX &&
			weft_parse_number(entry->d_name, strlen(entry->d_name), &pid) == WEFT_PARSE_OK &&
			(pid_t)pid != getpid() && is_ours(entry, dirfd(folder)))
			(void)weft__outside_look(&a->host, (pid_t)pid, false);
	if (folder)
		closedir(folder);
	for (uint32_t i = 0; i < a->host.count; i++)
		weft__outside_resolve(&a->host, &a->host.processes[i], cli_call_name);
}

static bool waits(const struct weft__outside_process *process)
{
	bool is_waiting = false;
	for (uint32_t i = 0; i < process->count; i++)
		is_waiting = is_waiting || process->threads[i].other_count;
	return is_waiting;
}

static bool is_stuck(const struct weft__outside_process *process)
{
	bool has_stuck = false;
	for (uint32_t i = 0; i < process->count; i++)
		has_stuck = has_stuck || process->threads[i].is_stuck;
	return has_stuck;
}

int why_all(bool json)
{
	struct outside_answer a = {.json = json, .waits_only = true};
	look_at_all(&a);
	add_circles(&a);
	for (uint32_t i = 0; i < a.host.count; i++) {
		/* Unwinding all would take seconds. */
		if (is_stuck(&a.host.processes[i]))
			find_frames(&a.host.processes[i]);
		if (waits(&a.host.processes[i]))
			outside_add_process(&a, &a.host.processes[i]);
	}
	return finish(&a);
}
