/* SPDX-License-Identifier: ISC
 *
 * Finds out what each thread of a process waits for, by its system call.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "parts.h"

enum {
	SHOWN = 3, /* descriptors */
	LISTED = 64,
	SELECTED = 1024,   /* descriptors in a set of select(2) */
	KERNEL_FRAMES = 6, /* that are shown */
	ID_PROCESS = 1,    /* of waitid(2): P_PID */
	ID_DESCRIPTOR = 3, /* P_PIDFD */
};

/* ---- What the parts share ---- */

void weft__outside_add(struct weft__outside_thread *thread, const char *format, ...)
{
	const size_t used = strlen(thread->about);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(thread->about + used, sizeof(thread->about) - used, format, arguments);
	va_end(arguments);
}

void weft__outside_add_other(struct weft__outside_thread *thread, pid_t pid, pid_t tid)
{
	if (thread->other_count < WEFT__OUTSIDE_OTHERS)
		thread->others[thread->other_count] = (struct weft__outside_other){pid, tid};
	thread->other_count++;
}

bool weft__outside_is_in(const struct weft__outside_thread *thread, const char *text)
{
	for (uint32_t i = 0; i < thread->frame_count; i++)
		if (strstr(thread->frames[i].function, text))
			return true;
	return false;
}

static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(name, *list) == 0)
			return true;
	return false;
}

/* ---- Descriptors ---- */

static bool takes_descriptor(const char *name)
{
	static const char *const names[] = {"read", "write", "pread64", "pwrite64", "readv", "writev",
		"preadv", "pwritev", "recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg", "sendmmsg",
		"accept", "accept4", "connect", "ioctl", "fsync", "fdatasync", "ftruncate", "fallocate",
		"getdents64", "io_uring_enter", "splice", "tee", "vmsplice", "close", "mq_timedsend",
		"mq_timedreceive", NULL};
	return is_one_of(name, names);
}

static bool writes(const char *name)
{
	static const char *const names[] = {"write", "pwrite64", "writev", "pwritev", "sendto",
		"sendmsg", "sendmmsg", "vmsplice", "mq_timedsend", NULL};
	return is_one_of(name, names);
}

/* True if the call may wait for its second descriptor instead of its first. */
static bool takes_two(const char *name)
{
	return strcmp(name, "splice") == 0 || strcmp(name, "tee") == 0;
}

static void resolve_one(struct weft__outside_host *outside,
	const struct weft__outside_process *process, struct weft__outside_thread *thread,
	const char *name)
{
	char link[WEFT__RUNS_DESCRIPTOR_BYTES];
	const int fd = (int)thread->kernel.arguments[0];
	weft__outside_add(thread, "sleeps in %s of descriptor ", name);
	weft__outside_resolve_descriptor(outside, process, thread, fd, !writes(name));
	weft__runs_kernel_descriptor(process->alive, fd, link);
	thread->has_timeout = strcmp(link, "pipe") != 0; /* SO_RCVTIMEO */
	thread->is_complete = thread->kind == WEFT__OUTSIDE_PEER && !takes_two(name);
	thread->is_hidden = weft__outside_hidden(outside) > 0;
}

/* The descriptors of a loop, of which the first are described. */
static void resolve_list(struct weft__outside_host *outside,
	const struct weft__outside_process *process, struct weft__outside_thread *thread,
	const char *name, const struct pollfd *list, size_t count)
{
	weft__outside_add(thread, "sleeps in %s", name);
	if (count)
		weft__outside_add(thread, count == 1 ? " for descriptor " : " for descriptors ");
	for (size_t i = 0; i < count && i < SHOWN; i++) {
		weft__outside_add(thread, i ? ", " : "");
		weft__outside_resolve_descriptor(
			outside, process, thread, list[i].fd, list[i].events & POLLIN);
	}
	if (count > SHOWN)
		weft__outside_add(thread, " and %zu%s more", count - SHOWN, count == LISTED ? " or" : "");
}

static void resolve_poll(struct weft__outside_host *outside,
	const struct weft__outside_process *process, struct weft__outside_thread *thread,
	const char *name)
{
	struct pollfd list[LISTED];
	const uint64_t *arguments = thread->kernel.arguments;
	const size_t count = arguments[1] < LISTED ? (size_t)arguments[1] : LISTED;
	const bool is_read =
		weft__outside_read(process->alive, arguments[0], list, count * sizeof(*list));
	thread->has_timeout = strcmp(name, "poll") == 0 ? (int)arguments[2] >= 0 : arguments[2] != 0;
	resolve_list(outside, process, thread, name, list, is_read ? count : 0);
	thread->is_complete = is_read && count == 1 && thread->kind == WEFT__OUTSIDE_PEER;
	thread->is_hidden = weft__outside_hidden(outside) > 0;
}

/* Descriptors are bits of three sets. */
static void resolve_select(struct weft__outside_host *outside,
	const struct weft__outside_process *process, struct weft__outside_thread *thread,
	const char *name)
{
	uint64_t sets[3][SELECTED / 64] = {0};
	struct pollfd list[LISTED] = {{.fd = 0}};
	const uint64_t *arguments = thread->kernel.arguments;
	const unsigned most = arguments[0] < SELECTED ? (unsigned)arguments[0] : SELECTED;
	size_t count = 0;
	bool is_read = true;
	for (size_t i = 0; i < 3; i++)
		is_read &= !arguments[i + 1] || weft__outside_read(process->alive, arguments[i + 1],
											sets[i], (most + 63) / 64 * sizeof(uint64_t));
	for (unsigned fd = 0; is_read && fd < most && count < LISTED; fd++) {
		const uint64_t bit = UINT64_C(1) << fd % 64;
		const short events = (short)(((sets[0][fd / 64] | sets[2][fd / 64]) & bit ? POLLIN : 0) |
									 (sets[1][fd / 64] & bit ? POLLOUT : 0));
		if (events)
			list[count++] = (struct pollfd){.fd = (int)fd, .events = events};
	}
	thread->has_timeout = arguments[4] != 0;
	resolve_list(outside, process, thread, name, list, count);
	thread->is_complete =
		count == 1 && arguments[0] <= SELECTED && thread->kind == WEFT__OUTSIDE_PEER;
	thread->is_hidden = weft__outside_hidden(outside) > 0;
}

static void resolve_epoll(struct weft__outside_host *outside,
	const struct weft__outside_process *process, struct weft__outside_thread *thread,
	const char *name)
{
	int fds[LISTED];
	struct pollfd list[LISTED];
	const size_t count =
		weft__runs_kernel_watched(process->alive, (int)thread->kernel.arguments[0], fds, LISTED);
	for (size_t i = 0; i < count; i++)
		list[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	thread->has_timeout = (int)thread->kernel.arguments[3] >= 0;
	resolve_list(outside, process, thread, name, list, count);
}

/* ---- Time ---- */

/* Makes a time of a clock the time that is left until then. */
static bool take_absolute(clockid_t clock, struct timespec *time)
{
	struct timespec now;
	if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || clock_gettime(clock, &now) != 0 ||
		time->tv_sec <= now.tv_sec)
		return false;
	time->tv_sec -= now.tv_sec + (time->tv_nsec < now.tv_nsec);
	time->tv_nsec += (time->tv_nsec < now.tv_nsec ? 1000000000 : 0) - now.tv_nsec;
	return true;
}

static void resolve_sleep(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, const char *name)
{
	const bool is_clock = strcmp(name, "clock_nanosleep") == 0;
	const uint64_t *arguments = thread->kernel.arguments;
	struct timespec time;
	thread->kind = WEFT__OUTSIDE_SLEEP;
	thread->has_timeout = true;
	weft__outside_add(thread, "sleeps in %s", name);
	if (!weft__outside_read(process->alive, arguments[is_clock ? 2 : 0], &time, sizeof(time)) ||
		time.tv_nsec < 0 || time.tv_nsec > 999999999 || time.tv_sec < 0)
		return;
	if (is_clock && arguments[1] && !take_absolute((clockid_t)arguments[0], &time))
		return;
	if (time.tv_sec)
		weft__outside_add(
			thread, " for %" PRId64 ".%03ld s", (int64_t)time.tv_sec, time.tv_nsec / 1000000);
	else
		weft__outside_add(
			thread, " for %ld.%03ld ms", time.tv_nsec / 1000000, time.tv_nsec / 1000 % 1000);
}

/* ---- All calls ---- */

static void resolve_file_lock(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, const char *name)
{
	char file[WEFT__RUNS_DESCRIPTOR_BYTES];
	const int fd = (int)thread->kernel.arguments[0];
	weft__runs_kernel_descriptor(process->alive, fd, file);
	weft__outside_add(thread, "waits in %s of descriptor %d", name, fd);
	if (file[0])
		weft__outside_add(thread, " (%s)", file);
	weft__outside_resolve_file_lock(process, thread, strcmp(name, "flock") == 0);
}

static void resolve_call(struct weft__outside_host *outside,
	const struct weft__outside_process *process, struct weft__outside_thread *thread,
	const char *name)
{
	const uint64_t *arguments = thread->kernel.arguments;
	if (strcmp(name, "futex") == 0)
		weft__outside_resolve_futex(process, thread);
	else if (strcmp(name, "flock") == 0 || strcmp(name, "fcntl") == 0)
		resolve_file_lock(process, thread, name);
	else if (strcmp(name, "poll") == 0 || strcmp(name, "ppoll") == 0)
		resolve_poll(outside, process, thread, name);
	else if (strcmp(name, "select") == 0 || strcmp(name, "pselect6") == 0)
		resolve_select(outside, process, thread, name);
	else if (strncmp(name, "epoll_", 6) == 0 && strstr(name, "wait"))
		resolve_epoll(outside, process, thread, name);
	else if (strcmp(name, "nanosleep") == 0 || strcmp(name, "clock_nanosleep") == 0)
		resolve_sleep(process, thread, name);
	else if (strcmp(name, "wait4") == 0)
		weft__outside_resolve_child(
			process, thread, (int)arguments[0] > 0 ? (pid_t)arguments[0] : 0);
	else if (strcmp(name, "waitid") == 0 && arguments[0] == ID_DESCRIPTOR)
		weft__outside_resolve_child(process, thread,
			weft__outside_inner(weft__outside_process_of(process->alive, (int)arguments[1])));
	else if (strcmp(name, "waitid") == 0)
		weft__outside_resolve_child(
			process, thread, arguments[0] == ID_PROCESS ? (pid_t)arguments[1] : 0);
	else if (strcmp(name, "vfork") == 0)
		weft__outside_resolve_child(process, thread, 0);
	else if (takes_descriptor(name))
		resolve_one(outside, process, thread, name);
	else if (!weft__outside_resolve_object(process, thread, name))
		weft__outside_add(thread, "sleeps in %s", name);
}

/* The thread is in no call that we know. */
static void resolve_state(
	const struct weft__outside_process *process, struct weft__outside_thread *thread)
{
	switch (thread->kernel.state) {
	case 'R':
		thread->kind = WEFT__OUTSIDE_RUNS;
		weft__outside_add(thread, "runs");
		return;
	case 'T':
	case 't':
		weft__outside_resolve_stop(process, thread);
		return;
	case 'Z':
	case 'X':
		thread->kind = WEFT__OUTSIDE_ENDED;
		weft__outside_add(thread, "has ended");
		return;
	default:
		break;
	}
	weft__outside_add(
		thread, thread->kernel.state == 'D' ? "sleeps, and no signal wakes it" : "sleeps");
	if (thread->kernel.function[0])
		weft__outside_add(thread, " in the kernel's function %s", thread->kernel.function);
}

/* "[<0>] folio_wait_bit+0xd6/0x220": the kernel's function. False at the entry of the call, which
 * is known. */
static bool parse_kernel_frame(char *line, const char **ret_function)
{
	char *space = strchr(line, ' ');
	if (!space)
		return false;
	space[1 + strcspn(space + 1, "+.\n")] = '\0';
	*ret_function = space + 1;
	return space[1] && strncmp(space + 1, "__x64_sys_", 10) != 0 &&
		   strncmp(space + 1, "__arm64_sys_", 12) != 0 && strncmp(space + 1, "do_syscall", 10) != 0;
}

/* Adds the kernel's functions in which a thread is that no signal wakes. Only root may read them.
 */
static void add_kernel_stack(
	const struct weft__outside_process *process, struct weft__outside_thread *thread)
{
	FILE *file = weft__outside_open(process->alive, thread->tid, "stack");
	const size_t before = strlen(thread->about);
	char line[256];
	const char *function;
	unsigned count = 0;
	while (file && count < KERNEL_FRAMES && fgets(line, sizeof(line), file) &&
		   parse_kernel_frame(line, &function))
		weft__outside_add(thread, "%s%s", count++ ? " ← " : " (in the kernel: ", function);
	if (file)
		fclose(file);
	if (count)
		weft__outside_add(thread, ")");
	if (!weft__outside_has_stayed(process->alive, thread))
		thread->about[before] = '\0';
}

/* ---- Signals ---- */

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

/* Handlers that may end a wait of the program. Others are for faults, or glibc's own. */
static uint64_t handlers_of(const struct weft__outside_thread *thread)
{
	return thread->caught & ~(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) |
								BIT(SIGTRAP) | BIT(SIGABRT) | BIT(SIGSYS) | BIT(32) | BIT(33));
}

static bool waits_for_process(const struct weft__outside_thread *thread, pid_t pid)
{
	for (uint32_t i = 0; i < thread->other_count && i < WEFT__OUTSIDE_OTHERS; i++)
		if (thread->others[i].pid == pid && !thread->others[i].tid)
			return true;
	return false;
}

/* A handler may write to the pipe for which its own process waits, and is what one waits for whose
 * call has a mask of signals. */
static void add_signals(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, const char *name)
{
	const uint64_t handlers = handlers_of(thread);
	const uint64_t *arguments = thread->kernel.arguments;
	uint64_t mask = 0;
	const bool has_mask =
		strcmp(name, "ppoll") == 0 ? arguments[3] != 0
		: strcmp(name, "pselect6") == 0
			? weft__outside_read(process->alive, arguments[5], &mask, sizeof(mask)) && mask
			: strncmp(name, "epoll_pwait", 11) == 0 && arguments[4];
	if (!handlers)
		return;
	if (has_mask)
		weft__outside_add(thread, " or a signal");
	if (has_mask || waits_for_process(thread, process->pid))
		thread->is_complete = false;
	thread->has_timeout |= (handlers & BIT(SIGALRM)) != 0;
}

void weft__outside_resolve(struct weft__outside_host *outside,
	struct weft__outside_process *process, weft__outside_call_name *name_of)
{
	for (uint32_t i = 0; i < process->count; i++) {
		struct weft__outside_thread *thread = &process->threads[i];
		const struct weft__runs_kernel *kernel = &thread->kernel;
		const bool sleeps = kernel->state == 'S' || kernel->state == 'D';
		const char *name = kernel->has_call && sleeps ? name_of(kernel->number) : NULL;
		if (name)
			resolve_call(outside, process, thread, name);
		else
			resolve_state(process, thread);
		if (name && strcmp(name, "futex") != 0)
			add_signals(process, thread, name);
		if (name && !thread->outcome[0])
			weft__outside_name_lock(thread);
		if (kernel->state == 'D')
			add_kernel_stack(process, thread);
		if (thread->other_count > WEFT__OUTSIDE_OTHERS) {
			thread->other_count = WEFT__OUTSIDE_OTHERS;
			thread->is_complete = false;
		}
	}
}
