/* SPDX-License-Identifier: ISC
 *
 * Child processes: what begins them, and waits for their end. A child's first task receives from
 * the task that began it, and a wait receives from the child that has ended.
 *
 * A child of vfork runs in the memory of its parent, whose thread is suspended: its exec is
 * recorded in the parent's buffer, by the task that called vfork. The function itself cannot have a
 * hook, because it returns twice.
 */
#include <alloca.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WEFT_CATEGORY thread
#include "hooks/hooks.h"

/* ---- Beginning ---- */

static void record_child(pid_t child)
{
	int saved = weft__hooks_begin();
	weft__hooks_thread_task();
	weft_send(weft__hooks_key(WEFT__HOOKS_BEGINS, (uint64_t)child));
	weft__hooks_end(saved);
}

HOOK pid_t fork(void)
{
	pid_t child = NEXT(fork)();
	if (child > 0 && HOOKS_RECORD)
		record_child(child);
	return child;
}

HOOK int posix_spawn(pid_t *restrict ret_child, const char *restrict path,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *restrict attributes,
	char *const arguments[restrict], char *const environment[restrict])
{
	pid_t child;
	int error = NEXT(posix_spawn)(&child, path, actions, attributes, arguments, environment);
	if (!error && HOOKS_RECORD)
		record_child(child);
	if (!error && ret_child)
		*ret_child = child;
	return error;
}

HOOK int posix_spawnp(pid_t *restrict ret_child, const char *restrict file,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *restrict attributes,
	char *const arguments[restrict], char *const environment[restrict])
{
	pid_t child;
	int error = NEXT(posix_spawnp)(&child, file, actions, attributes, arguments, environment);
	if (!error && HOOKS_RECORD)
		record_child(child);
	if (!error && ret_child)
		*ret_child = child;
	return error;
}

/* ---- Execution ---- */

/* A child that has recorded nothing leaves no trace of its own: its program's first task receives
 * from the parent. */
static void before_exec(void)
{
	if (!HOOKS_RECORD || weft__hooks_thread.epoch != weft__hooks_epoch() ||
		!weft__hooks_system_begin())
		return;
	int saved = weft__hooks_begin();
	weft_send(weft__hooks_key(WEFT__HOOKS_EXECS, (uint64_t)syscall(SYS_getpid)));
	weft__hooks_end(saved);
	weft__hooks_system_end();
}

HOOK int execve(const char *path, char *const arguments[], char *const environment[])
{
	before_exec();
	return NEXT(execve)(path, arguments, environment);
}

HOOK int execv(const char *path, char *const arguments[])
{
	before_exec();
	return NEXT(execv)(path, arguments);
}

HOOK int execvp(const char *file, char *const arguments[])
{
	before_exec();
	return NEXT(execvp)(file, arguments);
}

HOOK int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	before_exec();
	return NEXT(execvpe)(file, arguments, environment);
}

HOOK int fexecve(int fd, char *const arguments[], char *const environment[])
{
	before_exec();
	return NEXT(fexecve)(fd, arguments, environment);
}

/* Not inlined, because a NULL in `first`, which the kernel allows, is against its declaration. */
static __attribute__((noinline)) size_t count_arguments(const char *first, va_list list)
{
	size_t count = first ? 1 : 0;
	while (first && va_arg(list, char *))
		count++;
	return count;
}

/* clang-format off */
/* Copies the arguments of a call to the stack, since a child of vfork must not allocate; `rest` is
 * then at what follows them. */
#define COLLECT(first, rest)                                     \
	va_list rest;                                                \
	va_start(rest, first);                                       \
	size_t count = count_arguments(first, rest);                 \
	va_end(rest);                                                \
	char **arguments = alloca((count + 1) * sizeof(*arguments)); \
	va_start(rest, first);                                       \
	arguments[0] = (char *)(uintptr_t)first;                     \
	for (size_t i = 1; i <= count; i++)                          \
		arguments[i] = va_arg(rest, char *)
/* clang-format on */

HOOK int execl(const char *path, const char *first, ...)
{
	COLLECT(first, rest);
	va_end(rest);
	before_exec();
	return NEXT(execv)(path, arguments);
}

HOOK int execlp(const char *file, const char *first, ...)
{
	COLLECT(first, rest);
	va_end(rest);
	before_exec();
	return NEXT(execvp)(file, arguments);
}

HOOK int execle(const char *path, const char *first, ...)
{
	COLLECT(first, rest);
	char **environment = va_arg(rest, char **);
	va_end(rest);
	before_exec();
	return NEXT(execve)(path, arguments, environment);
}

/* ---- The end ---- */

static void before_exit(void)
{
	if (!HOOKS_RECORD || !weft__hooks_is_this_process())
		return;
	int saved = weft__hooks_begin();
	weft__hooks_process_ends();
	weft__hooks_end(saved);
}

HOOK void _exit(int status)
{
	before_exit();
	NEXT(_exit)(status);
	__builtin_unreachable();
}

HOOK void _Exit(int status)
{
	before_exit();
	NEXT(_exit)(status);
	__builtin_unreachable();
}

/* ---- Waiting ---- */

#define ANY "a child"
#define ONE "process "

/* "exit of process 17", or of any child: -1. */
static struct weft__hooks_wait begin_wait(const char *which, pid_t child)
{
	struct weft__hooks_text label = {0};
	int saved = weft__hooks_begin();
	weft__hooks_append(&label, "exit of ");
	weft__hooks_append(&label, which);
	if (child > 0)
		weft__hooks_append_number(&label, child);
	struct weft__hooks_wait wait = weft__hooks_wait_outside(&label, weft_kind("call"));
	weft__hooks_end(saved);
	return wait;
}

/* `child`: the one that has ended or changed, if any. */
static void end_wait(const struct weft__hooks_wait *wait, pid_t child)
{
	int saved = weft__hooks_begin();
	if (child > 0 && wait->source != WEFT_TASK_NONE)
		weft_receive_as(wait->source, weft__hooks_key(WEFT__HOOKS_EXITS, (uint64_t)child));
	if (child >= 0)
		weft__hooks_wait_got(wait);
	else
		weft__hooks_wait_ended(wait);
	weft__hooks_end(saved);
}

/* A call that does not block, and has found that a child has ended. In a library's loop, where no
 * task runs, the adapter of that library may know which task waits for the child. */
static pid_t polled(pid_t child)
{
	if (child <= 0 || !HOOKS_RECORD || weft_current() == WEFT_TASK_NONE)
		return child;
	int saved = weft__hooks_begin();
	weft_receive(weft__hooks_key(WEFT__HOOKS_EXITS, (uint64_t)child));
	weft__hooks_end(saved);
	return child;
}

HOOK pid_t waitpid(pid_t child, int *status, int options)
{
	if (!HOOKS_RECORD || options & WNOHANG)
		return polled(NEXT(waitpid)(child, status, options));
	struct weft__hooks_wait wait = begin_wait(child > 0 ? ONE : ANY, child);
	pid_t result = NEXT(waitpid)(child, status, options);
	end_wait(&wait, result);
	return result;
}

HOOK pid_t wait4(pid_t child, int *status, int options, struct rusage *usage)
{
	if (!HOOKS_RECORD || options & WNOHANG)
		return polled(NEXT(wait4)(child, status, options, usage));
	struct weft__hooks_wait wait = begin_wait(child > 0 ? ONE : ANY, child);
	pid_t result = NEXT(wait4)(child, status, options, usage);
	end_wait(&wait, result);
	return result;
}

HOOK pid_t wait3(int *status, int options, struct rusage *usage)
{
	if (!HOOKS_RECORD || options & WNOHANG)
		return polled(NEXT(wait3)(status, options, usage));
	struct weft__hooks_wait wait = begin_wait(ANY, -1);
	pid_t result = NEXT(wait3)(status, options, usage);
	end_wait(&wait, result);
	return result;
}

HOOK pid_t wait(int *status)
{
	if (!HOOKS_RECORD)
		return NEXT(wait)(status);
	struct weft__hooks_wait waiting = begin_wait(ANY, -1);
	pid_t result = NEXT(wait)(status);
	end_wait(&waiting, result);
	return result;
}

HOOK int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	if (!HOOKS_RECORD || options & WNOHANG)
		return NEXT(waitid)(type, id, info, options);
	struct weft__hooks_wait wait =
		begin_wait(type == P_PID ? ONE : ANY, type == P_PID ? (pid_t)id : -1);
	int result = NEXT(waitid)(type, id, info, options);
	end_wait(&wait, result < 0 ? -1 : info ? info->si_pid : 0);
	return result;
}
