/* SPDX-License-Identifier: ISC
 *
 * Reads /proc/PID/stat and /proc/PID/status. The first is PID (NAME) STATE and numbers, where NAME
 * may hold anything, also spaces and parentheses.
 */
#include "source/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/field.h"

#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD, as the kernel calls it */
#define SIGNAL_MAX    64

/* Fields of stat after the name, counted from the state. */
enum {
	FLAGS = 6,
	THREADS = 17,
	STARTED = 19,
	EXIT_CODE = 49
};

/* The first bytes of a file of the process; empty if there is none. */
static void read_file(pid_t pid, const char *name, char *ret_text, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, ret_text, size - 1) : 0;
	if (fd >= 0)
		close(fd);
	ret_text[got > 0 ? got : 0] = '\0';
}

/* The text of stat after the name; NULL if there is none. */
static const char *read_stat(pid_t pid, char text[static 1024])
{
	read_file(pid, "stat", text, 1024);
	const char *name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' && name_end[2] ? name_end + 2 : NULL;
}

static bool is_dead(char state)
{
	return state == 'Z' || state == 'X' || state == 'x';
}

static enum weft__source_process state_of(const char *stat)
{
	uint64_t threads;
	if (!stat)
		return WEFT__SOURCE_PROCESS_NONE;
	if (is_dead(*stat) && (!weft__field_number(stat, THREADS, INT_MAX, &threads) || threads < 2))
		return WEFT__SOURCE_PROCESS_ENDED;
	return *stat == 'T' || *stat == 't' ? WEFT__SOURCE_PROCESS_STOPPED : WEFT__SOURCE_PROCESS_RUNS;
}

enum weft__source_process weft__source_process_state(pid_t pid)
{
	char text[1024];
	return state_of(read_stat(pid, text));
}

enum weft__source_process weft__source_process_look(pid_t pid, uint64_t *ret_started)
{
	char text[1024];
	uint64_t ticks;
	const char *stat = read_stat(pid, text);
	*ret_started = stat && weft__field_number(stat, STARTED, UINT64_MAX, &ticks) ? ticks : 0;
	return state_of(stat);
}

bool weft__source_process_is_kernel(pid_t pid)
{
	char text[1024];
	uint64_t flags;
	const char *stat = read_stat(pid, text);
	return stat && weft__field_number(stat, FLAGS, UINT64_MAX, &flags) && (flags & KERNEL_THREAD);
}

/* proc(5) names the field after the status of a process that ends. Linux fills it with the signal
 * while the process is stopped (do_task_stat() in its source). */
int weft__source_process_stop_signal(pid_t pid)
{
	char text[1024];
	uint64_t signal;
	const char *stat = read_stat(pid, text);
	return stat && *stat == 'T' && weft__field_number(stat, EXIT_CODE, SIGNAL_MAX, &signal)
			   ? (int)signal
			   : 0;
}

static bool is_living_thread(pid_t thread)
{
	char text[1024];
	const char *stat = read_stat(thread, text);
	return stat && !is_dead(*stat);
}

pid_t weft__source_process_thread(pid_t pid)
{
	char path[64];
	pid_t found = pid;
	if (is_living_thread(pid))
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *threads = opendir(path);
	for (struct dirent *entry; found == pid && threads && (entry = readdir(threads));) {
		uint64_t thread;
		if (weft_parse_number(entry->d_name, strlen(entry->d_name), &thread) == WEFT_PARSE_OK &&
			is_living_thread((pid_t)thread))
			found = (pid_t)thread;
	}
	if (threads)
		closedir(threads);
	return found;
}

/* ---- status ---- */

/* A line of status that begins with `name`; NULL if there is none. */
static const char *read_status(pid_t pid, const char *name, char text[static 4096])
{
	read_file(pid, "status", text, 4096);
	const char *line = strstr(text, name);
	return line ? line + 1 : NULL;
}

bool weft__source_process_users(pid_t pid, uint64_t ret_users[4])
{
	char text[4096];
	const char *line = read_status(pid, "\nUid:", text);
	bool good = line;
	for (unsigned i = 0; i < 4 && good; i++)
		good = weft__field_number(line, i + 1, UINT32_MAX, &ret_users[i]);
	return good;
}

pid_t weft__source_process_own_pid(pid_t pid)
{
	char text[4096];
	const char *line = read_status(pid, "\nNSpid:", text);
	uint64_t number = (uint64_t)pid;
	for (unsigned i = 1; line && weft__field_number(line, i, INT32_MAX, &number); i++)
		continue;
	return (pid_t)number;
}

pid_t weft__source_process_of(pid_t thread)
{
	char text[4096];
	const char *line = read_status(thread, "\nTgid:", text);
	uint64_t process = (uint64_t)thread;
	if (line)
		weft__field_number(line, 1, INT32_MAX, &process);
	return (pid_t)process;
}

/* True if a line of /proc/PID/maps (range, rights, offset, device, inode, path) has that inode. The
 * device is not compared, since some file systems show another one there. */
static bool names_inode(const char *line, uint64_t inode)
{
	uint64_t found;
	return weft__field_number(line, 4, UINT64_MAX, &found) && found == inode;
}

bool weft__source_process_has_mapped(pid_t pid, uint64_t inode)
{
	char path[64], *line = NULL;
	size_t capacity = 0;
	bool found = false;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)weft__source_process_thread(pid));
	FILE *file = fopen(path, "re");
	if (!file)
		return errno != ENOENT;
	while (!found && getline(&line, &capacity, file) > 0)
		found = names_inode(line, inode);
	found = found || ferror(file);
	free(line);
	fclose(file);
	return found;
}

bool weft__source_process_has_memory(pid_t pid)
{
	char path[64], target[1];
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)weft__source_process_thread(pid));
	return readlink(path, target, sizeof(target)) >= 0;
}
