/* SPDX-License-Identifier: ISC
 *
 * Processes of a run that could not record, or not everything: the reasons, and what to do. There
 * may be many such processes, so each piece of advice is printed once.
 */
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "abi/run_abi.h"
#include "cli/cli.h"
#include "runs/message.h"

/* Kinds of advice. */
enum advice {
	ADVICE_NONE,
	ADVICE_ROOM,   /* the file system is full */
	ADVICE_MEMORY, /* of the process is limited */
	ADVICE_LIMIT,  /* of the size of files */
	ADVICE_TOTAL,  /* --total */
	ADVICE_PATH,   /* the directory cannot be reached or written */
	ADVICES
};

struct missing {
	size_t processes;
	bool is_wanted[ADVICES];
};

static enum advice advice_for(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return ADVICE_ROOM;
	case ENOMEM:
		return ADVICE_MEMORY;
	case EFBIG:
		return ADVICE_LIMIT;
	case ENOENT:
	case EACCES:
	case EPERM:
	case EROFS:
		return ADVICE_PATH;
	default:
		return ADVICE_NONE;
	}
}

/* The same for a reason that libweft stored as text. */
static enum advice advice_for_text(const char *reason)
{
	static const int errors[] = {ENOSPC, EDQUOT, ENOMEM, EFBIG, ENOENT, EACCES, EPERM, EROFS};
	if (strncmp(reason, "--total: ", 9) == 0)
		return ADVICE_TOTAL;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strstr(reason, strerror(errors[i])))
			return advice_for(errors[i]);
	return ADVICE_NONE;
}

/* ---- Advice ---- */

/* The directory in which the processes make their buffers. */
static void find_directory(const struct record_end *end, char ret_directory[PATH_MAX])
{
	const char *path = end->in_place ? end->in_place : end->directory;
	const char *slash = strrchr(path, '/');
	snprintf(
		ret_directory, PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
}

static void advise_room(const char *size, const char *directory)
{
	struct statvfs disk;
	char room[32] = "too little";
	if (statvfs(directory, &disk) == 0)
		weft__runs_size_text((uint64_t)disk.f_bavail * disk.f_frsize, room);
	cli_error("each process needs %s in %s, which has %s left: use a smaller --size, free space "
			  "there, or record on a disk with --in-place -o DIRECTORY/",
		size, weft__runs_shown(directory), room);
}

static void advise(const struct record_end *end, const struct missing *missing)
{
	char directory[PATH_MAX], size[32];
	find_directory(end, directory);
	weft__runs_size_text(end->size_bytes ? end->size_bytes : WEFT_ABI_RUN_RING_BYTES, size);
	if (!end->size_bytes && !end->in_place) /* libweft makes smaller ones where room is short */
		strcpy(size, "64 KiB to 16 MiB");
	if (missing->is_wanted[ADVICE_ROOM])
		advise_room(size, directory);
	if (missing->is_wanted[ADVICE_MEMORY])
		cli_error("each process maps %s: use a smaller --size, or a higher `ulimit -v`", size);
	if (missing->is_wanted[ADVICE_LIMIT])
		cli_error(
			"each process needs a file of %s: use a smaller --size, or a higher `ulimit -f`", size);
	if (missing->is_wanted[ADVICE_TOTAL])
		cli_error(
			"each process takes %s of --total: use a larger --total or a smaller --size", size);
	if (missing->is_wanted[ADVICE_PATH])
		cli_error("each process makes its buffer in %s at its first event: it cannot do that after "
				  "a chroot, without the right to write there, or once the directory is removed; "
				  "let it record an event before, or see weft-record(1)",
			weft__runs_shown(directory));
	if (end->name && !end->require)
		cli_error("these processes ran unrecorded, and the exit status is the program's, %d; with "
				  "--require it would be %d",
			end->status, RECORD_FAILED);
}

/* ---- Reasons ---- */

/* True if the reason is about a setting: the process recorded in spite of it. */
static bool is_about_setting(const char *reason)
{
	return strncmp(reason, "WEFT_LEVEL: ", 12) == 0 ||
		   strncmp(reason, "WEFT_CATEGORIES: ", 17) == 0 ||
		   strncmp(reason, "WEFT_SYSCALLS: ", 15) == 0;
}

/* Reports children that could not record and told only their parent. */
static void report_refused(const char *path, pid_t pid, struct missing *missing)
{
	struct weft_buffer_summary summary;
	size_t size;
	if (!weft__runs_ring_summarize(path, pid, &summary, &size))
		return;
	const size_t shown = sizeof(summary.refused) / sizeof(summary.refused[0]);
	missing->processes += summary.refused_count;
	for (size_t i = 0; i < summary.refused_count && i < shown; i++) {
		missing->is_wanted[advice_for(summary.refused[i].reason)] = true;
		cli_error("process %u could not record: %s: %s", (unsigned)summary.refused[i].pid,
			summary.refused[i].step, strerror(summary.refused[i].reason));
	}
	if (summary.refused_count > shown)
		cli_error("%u more processes could not record", (unsigned)(summary.refused_count - shown));
}

/* The link may come from a hostile process: escape its text for the terminal. */
static void make_harmless(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
			*text = '?';
}

/* The reason that libweft has stored as the target of a link. */
static void read_reason(
	const char *directory, const struct weft__runs_ring *ring, char *ret_reason, size_t room)
{
	char path[PATH_MAX + NAME_MAX + 1];
	snprintf(path, sizeof(path), "%s%s", directory, ring->name);
	ssize_t size = readlink(path, ret_reason, room - 1);
	if (size > 0)
		ret_reason[size] = '\0';
	else
		snprintf(ret_reason, room, "%s", strerror(errno));
	make_harmless(ret_reason);
}

/* `has_ring`: the process recorded something nonetheless. */
static void report_failure(const struct weft__runs_ring *ring, const char *reason, bool has_ring)
{
	char name[NAME_MAX + 1];
	snprintf(name, sizeof(name), "%.*s", ring->stem_size, ring->name);
	const char *outcome = has_ring && is_about_setting(reason) ? "recorded, but ignored a setting"
						  : has_ring                           ? "did not record everything"
															   : "could not record";
	cli_error("%s %s: %s", weft__runs_shown(name), outcome, reason);
}

static bool has_ring(const struct weft__runs_rings *rings, pid_t pid)
{
	for (size_t i = 0; i < rings->count; i++)
		if (rings->list[i].pid == pid && !rings->list[i].is_failure)
			return true;
	return false;
}

static void report_failures(
	const char *directory, const struct weft__runs_rings *rings, struct missing *missing)
{
	const size_t shown = 8; /* there may be many */
	size_t failures = 0;
	char reason[512];
	for (size_t i = 0; i < rings->count; i++) {
		const struct weft__runs_ring *ring = &rings->list[i];
		if (!ring->is_failure)
			continue;
		bool has = has_ring(rings, ring->pid);
		read_reason(directory, ring, reason, sizeof(reason));
		if (!has || !is_about_setting(reason)) {
			missing->processes++;
			missing->is_wanted[advice_for_text(reason)] = true;
		}
		if (++failures <= shown)
			report_failure(ring, reason, has);
	}
	if (failures > shown)
		cli_error("%zu more such messages are left out", failures - shown);
}

size_t record_report_missing(const struct record_end *end, const struct weft__runs_rings *rings)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct missing missing = {0};
	report_failures(end->directory, rings, &missing);
	weft__runs_rings_report_refused(end->directory, rings);
	for (size_t i = 0; i < rings->count; i++) {
		snprintf(path, sizeof(path), "%s%s", end->directory, rings->list[i].name);
		if (!rings->list[i].is_failure)
			report_refused(path, rings->list[i].pid, &missing);
	}
	if (missing.processes)
		advise(end, &missing);
	return missing.processes;
}
