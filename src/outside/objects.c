/* SPDX-License-Identifier: ISC
 *
 * Calls that wait for no descriptor's peer: for signals, messages and semaphores of System V, a
 * file's name; and descriptors of which the kernel says more in fdinfo: timers, signals, processes.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/parse.h>

#include "base/field.h"
#include "parts.h"
#include "source/process.h"

enum {
	SHOWN = 3,
	SIGNALS = 64,
	PATH_SHOWN = 128,
	LINE_BYTES = 256,
};

/* ---- Signals ---- */

static const char *name_of(int number)
{
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 32)
	return sigabbrev_np(number);
#endif
#endif
	(void)number;
	return NULL;
}

static void add_signal(struct weft__outside_thread *thread, int number)
{
	const char *name = name_of(number);
	if (name)
		weft__outside_add(thread, "SIG%s", name);
	else
		weft__outside_add(thread, "signal %d", number);
}

static void add_signals(struct weft__outside_thread *thread, uint64_t set)
{
	unsigned count = 0;
	for (int number = 1; number <= SIGNALS; number++) {
		if (!(set >> (number - 1) & 1))
			continue;
		if (count < SHOWN) {
			weft__outside_add(thread, count ? ", " : "");
			add_signal(thread, number);
		}
		count++;
	}
	if (count > SHOWN)
		weft__outside_add(thread, " and %u more", count - SHOWN);
	else if (!count)
		weft__outside_add(thread, "no signal");
}

void weft__outside_resolve_stop(
	const struct weft__outside_process *process, struct weft__outside_thread *thread)
{
	const pid_t debugger = weft__outside_status(thread->tid, "TracerPid:");
	char name[32];
	thread->kind = WEFT__OUTSIDE_STOPPED;
	weft__outside_add(thread, "is stopped");
	if (thread->kernel.state == 't') {
		weft__outside_add(thread, " by a debugger");
		if (!debugger)
			return;
		weft__outside_name(debugger, name);
		weft__outside_add(thread, ", %s %d", name, (int)debugger);
		weft__outside_add_other(thread, debugger, debugger);
		return;
	}
	const int number = weft__source_process_stop_signal(process->pid);
	if (!number)
		return;
	weft__outside_add(thread, " by ");
	add_signal(thread, number);
	if (number == SIGTTIN)
		weft__outside_add(thread, " (a read from its terminal in the background)");
	else if (number == SIGTTOU)
		weft__outside_add(thread, " (a write to its terminal in the background)");
}

static void resolve_signals(
	const struct weft__outside_process *process, struct weft__outside_thread *thread)
{
	uint64_t set;
	thread->has_timeout = thread->kernel.arguments[2] != 0;
	weft__outside_add(thread, "sleeps in rt_sigtimedwait");
	if (!weft__outside_read(process->alive, thread->kernel.arguments[0], &set, sizeof(set)))
		return;
	weft__outside_add(thread, " for ");
	add_signals(thread, set);
}

/* ---- System V ---- */

/* The numbers of such objects are those of one namespace. */
static bool is_of_ours(pid_t pid)
{
	struct stat own, other;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/ns/ipc", (int)pid);
	return stat("/proc/self/ns/ipc", &own) == 0 && stat(path, &other) == 0 &&
		   own.st_ino == other.st_ino;
}

static void add_last(struct weft__outside_thread *thread, const char *words, int pid)
{
	char name[32];
	if (pid <= 0)
		return;
	weft__outside_name((pid_t)pid, name);
	weft__outside_add(thread, name[0] ? "%s %d '%s'" : "%s %d, which has ended", words, pid, name);
}

static void resolve_semaphore(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, const char *name)
{
	struct sembuf operation;
	const uint64_t *arguments = thread->kernel.arguments;
	const int set = (int)arguments[0];
	thread->kind = WEFT__OUTSIDE_SEMAPHORE;
	thread->has_timeout = strcmp(name, "semtimedop") == 0 && arguments[3] != 0;
	weft__outside_add(thread, "sleeps in %s of set %d", name, set);
	/* Which of several operations cannot be done is not known. */
	if (arguments[2] != 1 ||
		!weft__outside_read(process->alive, arguments[1], &operation, sizeof(operation)))
		return;
	weft__outside_add(thread, ", for %s semaphore %u", operation.sem_op ? "tokens of" : "a zero of",
		(unsigned)operation.sem_num);
	if (is_of_ours(process->alive))
		add_last(thread, ", last changed by process", semctl(set, operation.sem_num, GETPID));
}

static void resolve_queue(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, const char *name)
{
	struct msqid_ds about;
	const int queue = (int)thread->kernel.arguments[0];
	const bool sends = strcmp(name, "msgsnd") == 0;
	weft__outside_add(thread, "sleeps in %s of queue %d", name, queue);
	if (!is_of_ours(process->alive) || msgctl(queue, IPC_STAT, &about) != 0)
		return;
	const pid_t other = sends ? about.msg_lrpid : about.msg_lspid;
	if (other)
		add_last(thread, sends ? ", last read by process" : ", last written by process", other);
	else
		weft__outside_add(thread, sends ? ", which nobody has read" : ", which nobody has written");
}

/* ---- Files by name ---- */

/* The argument that is a path; -1: none. */
static int path_argument(const char *name)
{
	static const struct {
		const char *name;
		int argument;
	} calls[] = {{"open", 0}, {"openat", 1}, {"openat2", 1}, {"stat", 0}, {"lstat", 0},
		{"newfstatat", 1}, {"statx", 1}, {"statfs", 0}, {"access", 0}, {"faccessat", 1},
		{"faccessat2", 1}, {"readlink", 0}, {"readlinkat", 1}, {"mkdir", 0}, {"mkdirat", 1},
		{"unlink", 0}, {"unlinkat", 1}, {"rename", 0}, {"renameat", 1}, {"renameat2", 1},
		{"chdir", 0}, {"truncate", 0}, {"execve", 0}, {"mount", 1}, {"umount2", 0}};
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].argument;
	return -1;
}

static void resolve_path(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, const char *name, int argument)
{
	unsigned char path[PATH_SHOWN + 1];
	const size_t size =
		weft__outside_read_up(process->alive, thread->kernel.arguments[argument], path, PATH_SHOWN);
	path[size] = '\0';
	weft__outside_add(thread, "sleeps in %s", name);
	if (path[0])
		weft__outside_add(
			thread, " of %s%s", (const char *)path, memchr(path, '\0', size) ? "" : "…");
	/* The kernel's function for a FIFO. */
	if (strcmp(thread->kernel.function, "wait_for_partner") == 0)
		snprintf(thread->outcome, sizeof(thread->outcome),
			"no process has opened the other end of this FIFO");
}

bool weft__outside_resolve_object(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, const char *name)
{
	const int argument = path_argument(name);
	if (argument >= 0)
		resolve_path(process, thread, name, argument);
	else if (strcmp(name, "rt_sigtimedwait") == 0)
		resolve_signals(process, thread);
	else if (strcmp(name, "semop") == 0 || strcmp(name, "semtimedop") == 0)
		resolve_semaphore(process, thread, name);
	else if (strcmp(name, "msgrcv") == 0 || strcmp(name, "msgsnd") == 0)
		resolve_queue(process, thread, name);
	else
		return false;
	return true;
}

/* ---- Descriptors ---- */

/* "it_value: (699, 123456789)": until the timer fires. */
static void add_timer(struct weft__outside_thread *thread, const char *line)
{
	const char *seconds = strchr(line, '('), *comma = seconds ? strchr(seconds, ',') : NULL;
	const char *end = comma ? strchr(comma, ')') : NULL;
	uint64_t whole, part;
	if (!end || comma[1] != ' ' ||
		weft_parse_number(seconds + 1, (size_t)(comma - seconds - 1), &whole) != WEFT_PARSE_OK ||
		weft_parse_number(comma + 2, (size_t)(end - comma - 2), &part) != WEFT_PARSE_OK)
		weft__outside_add(thread, " (timerfd)");
	else if (!whole && !part)
		weft__outside_add(thread, " (timerfd, which is not set)");
	else
		weft__outside_add(
			thread, " (timerfd, in %" PRIu64 ".%03u s)", whole, (unsigned)(part / 1000000));
}

static void add_process(struct weft__outside_thread *thread, pid_t pid)
{
	char name[32];
	weft__outside_name(pid, name);
	weft__outside_add(thread, " (pidfd of %s %d)", name, (int)pid);
	weft__outside_add_other(thread, pid, 0);
	thread->kind = WEFT__OUTSIDE_PEER;
}

/* The line of a descriptor's fdinfo that begins so. */
static bool read_line(pid_t pid, int fd, const char *key, char ret_line[static LINE_BYTES])
{
	char name[32];
	bool is_found = false;
	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	FILE *file = weft__outside_open(pid, 0, name);
	while (file && !is_found && fgets(ret_line, LINE_BYTES, file))
		is_found = strncmp(ret_line, key, strlen(key)) == 0;
	if (file)
		fclose(file);
	return is_found;
}

pid_t weft__outside_process_of(pid_t pid, int fd)
{
	char line[LINE_BYTES];
	uint64_t number = 0;
	if (read_line(pid, fd, "Pid:", line))
		(void)weft__field_number(line, 1, INT32_MAX, &number);
	return (pid_t)number;
}

bool weft__outside_resolve_special(
	const struct weft__outside_process *process, struct weft__outside_thread *thread, int fd)
{
	char line[LINE_BYTES];
	size_t size;
	uint64_t set;
	const pid_t other = weft__outside_process_of(process->alive, fd);
	if (other) {
		add_process(thread, other);
		return true;
	}
	if (read_line(process->alive, fd, "it_value:", line)) {
		add_timer(thread, line);
		return true;
	}
	if (!read_line(process->alive, fd, "sigmask:", line))
		return false;
	const char *field = weft__field(line, 1, &size);
	if (weft_parse_hexadecimal(field, size, &set) != WEFT_PARSE_OK)
		return false;
	weft__outside_add(thread, " (signalfd of ");
	add_signals(thread, set);
	weft__outside_add(thread, ")");
	return true;
}
