/* SPDX-License-Identifier: ISC
 *
 * Child processes: hooks of the functions that begin them, and of those that wait for their end. A
 * child's first task receives a message from the task that began it, and a task that has waited
 * receives one from the child that has ended.
 *
 * A child of vfork runs in the memory of its parent, whose thread is suspended: its exec is
 * recorded in the parent's buffer, by the task that called vfork. vfork itself cannot have a hook,
 * because it returns twice.
 */
#include <alloca.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <stdlib.h>
#include <unistd.h>

#define WEFT_CATEGORY thread
#include "hooks/asked.h"
#include "kernel/call.h"
#include "thread/children.h"

#define PIDFD 3 /* P_PIDFD, which older headers lack */

/* ---- Beginning ---- */

void weft__thread_child_begins(pid_t child)
{
	int saved = weft__hooks_begin();
	weft__hooks_thread_task();
	weft__hooks_forked();
	weft_send(weft__hooks_key(WEFT__HOOKS_BEGINS, (uint64_t)child));
	weft__hooks_child_begins();
	weft__hooks_end(saved);
}

HOOK(fork)
pid_t fork(void)
{
	pid_t child = NEXT(fork)();
	if (child > 0 && HOOKS_RECORD)
		weft__thread_child_begins(child);
	return child;
}

HOOK(posix_spawn)
int posix_spawn(pid_t *restrict ret_child, const char *restrict path,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *restrict attributes,
	char *const arguments[restrict], char *const environment[restrict])
{
	pid_t child;
	int error = NEXT(posix_spawn)(&child, path, actions, attributes, arguments, environment);
	if (!error && HOOKS_RECORD)
		weft__thread_child_begins(child);
	if (!error && ret_child)
		*ret_child = child;
	return error;
}

HOOK(posix_spawnp)
int posix_spawnp(pid_t *restrict ret_child, const char *restrict file,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *restrict attributes,
	char *const arguments[restrict], char *const environment[restrict])
{
	pid_t child;
	int error = NEXT(posix_spawnp)(&child, file, actions, attributes, arguments, environment);
	if (!error && HOOKS_RECORD)
		weft__thread_child_begins(child);
	if (!error && ret_child)
		*ret_child = child;
	return error;
}

/* ---- Execution ---- */

/* Stops the task that calls exec, because a successful exec does not return. In a child of vfork
 * the parent's task is not stopped. Returns the task that goes on if exec fails; or
 * WEFT_TASK_NONE. */
static uint64_t stop_running(void)
{
	uint64_t task = weft__hooks_is_this_process() ? weft_current() : WEFT_TASK_NONE;
	if (task != WEFT_TASK_NONE)
		weft_switch(WEFT_TASK_NONE);
	return task;
}

/* Records an exec, and returns the task to pass to after_exec(). A child that has recorded nothing
 * yet does not record its exec, so the new program's first task receives from the parent. */
static uint64_t before_exec(void)
{
	if (!HOOKS_RECORD)
		return WEFT_TASK_NONE;
	uint64_t task = WEFT_TASK_NONE;
	int saved = weft__hooks_begin();
	if (!weft__hooks_is_this_process())
		weft__hooks_forked(); /* vfork itself has no hook */
	if (weft__hooks_thread.epoch == weft__hooks_epoch() && weft__hooks_system_begin()) {
		weft_send(weft__hooks_key(WEFT__HOOKS_EXECS, (uint64_t)weft__kernel_process()));
		task = stop_running();
		weft__hooks_system_end();
	}
	weft__hooks_end(saved);
	return task;
}

/* Exec has returned, so it has failed: the task goes on. */
static int after_exec(uint64_t task, int result)
{
	int saved = weft__hooks_begin();
	if (task != WEFT_TASK_NONE)
		weft_switch(task);
	weft__hooks_end(saved);
	return result;
}

/* A macro, because the task stops before `call` is evaluated. */
#define EXEC(call)                     \
	__extension__({                    \
		uint64_t task = before_exec(); \
		after_exec(task, (call));      \
	})

HOOK(execve)
int execve(const char *path, char *const arguments[], char *const environment[])
{
	return EXEC(NEXT(execve)(path, arguments, environment));
}

HOOK(execv)
int execv(const char *path, char *const arguments[])
{
	return EXEC(NEXT(execv)(path, arguments));
}

HOOK(execvp)
int execvp(const char *file, char *const arguments[])
{
	return EXEC(NEXT(execvp)(file, arguments));
}

HOOK(execvpe)
int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	return EXEC(NEXT(execvpe)(file, arguments, environment));
}

HOOK(fexecve)
int fexecve(int fd, char *const arguments[], char *const environment[])
{
	return EXEC(NEXT(fexecve)(fd, arguments, environment));
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

HOOK(execl)
int execl(const char *path, const char *first, ...)
{
	COLLECT(first, rest);
	va_end(rest);
	return EXEC(NEXT(execv)(path, arguments));
}

HOOK(execlp)
int execlp(const char *file, const char *first, ...)
{
	COLLECT(first, rest);
	va_end(rest);
	return EXEC(NEXT(execvp)(file, arguments));
}

HOOK(execle)
int execle(const char *path, const char *first, ...)
{
	COLLECT(first, rest);
	char **environment = va_arg(rest, char **);
	va_end(rest);
	return EXEC(NEXT(execve)(path, arguments, environment));
}

/* ---- The end ---- */

static void before_exit(void)
{
	if (!HOOKS_RECORD || !weft__hooks_is_this_process())
		return;
	int saved = weft__hooks_begin();
	weft__hooks_children_at_end();
	weft__hooks_process_ends();
	weft__hooks_end(saved);
}

HOOK(_exit)
void _exit(int status)
{
	before_exit();
	NEXT(_exit)(status);
	__builtin_unreachable();
}

HOOK(_Exit)
void _Exit(int status)
{
	before_exit();
	NEXT(_exit)(status);
	__builtin_unreachable();
}

/* ---- Waiting ---- */

/* "exit of process 17" */
static WEFT__OWN_FRAME uint64_t make_exit(pid_t child)
{
	struct weft__hooks_text label = {0};
	weft__hooks_append(&label, child > 0 ? "exit of process " : "exit of a child");
	if (child > 0)
		weft__hooks_append_number(&label, child);
	uint64_t task = weft__hooks_call_task(&label, weft_kind("call"));
	if (child > 0)
		weft__hooks_mark_exit(task, child);
	else
		weft__hooks_mark_exits(task, child == -1);
	return task;
}

struct weft__hooks_wait weft__thread_child_wait(pid_t child)
{
	struct weft__hooks_wait wait;
	int saved = weft__hooks_begin();
	if (child <= 0)
		weft__hooks_leave_loop();
	weft__hooks_wait_begin(&wait, make_exit(child), true, "wait");
	weft__hooks_end(saved);
	return wait;
}

/* The task receives from a child that has ended or has been stopped. */
static void receive_end(uint64_t task, pid_t child, int status)
{
	if (WIFSIGNALED(status))
		weft__hooks_killed(task, child, WTERMSIG(status));
	else
		weft_receive_as(task, weft__hooks_key(WEFT__HOOKS_EXITS, (uint64_t)child));
}

void weft__thread_child_ended(
	const struct weft__hooks_wait *wait, pid_t child, int status, bool is_left)
{
	int saved = weft__hooks_begin();
	if (child > 0 && wait->source != WEFT_TASK_NONE)
		receive_end(wait->source, child, status);
	if (child > 0 && !is_left)
		weft__hooks_child_reaped();
	if (child >= 0)
		weft__hooks_wait_got(wait);
	else
		weft__hooks_wait_ended(wait);
	weft__hooks_end(saved);
}

/* Records the result of a call that does not block: a child has ended, if `child` is above 0.
 * Without a current task, as in a library's loop, this is left to the adapter of that library,
 * which may know the task that waits for the child. */
static pid_t polled(pid_t child, int status)
{
	if (child <= 0 || !HOOKS_RECORD)
		return child;
	int saved = weft__hooks_begin();
	if (weft_current() != WEFT_TASK_NONE)
		receive_end(WEFT_TASK_CURRENT, child, status);
	weft__hooks_child_reaped();
	weft__hooks_end(saved);
	return child;
}

/* The status that the kernel has stored there, if a child has ended. */
static int stored_status(pid_t ended, const int *status)
{
	int copy = 0;
	if (ended > 0 && HOOKS_RECORD)
		weft__hooks_copy(&copy, status, sizeof(copy));
	return copy;
}

/* Makes and records a call, which blocks unless `polls`. The hook needs the status even if the
 * program passes NULL. */
#define WAIT(child, polls, call)                                                            \
	__extension__({                                                                         \
		int own_status = 0;                                                                 \
		pid_t ended;                                                                        \
		status = status ? status : &own_status;                                             \
		if (!HOOKS_RECORD || (polls)) {                                                     \
			ended = (call);                                                                 \
			polled(ended, stored_status(ended, status));                                    \
		} else {                                                                            \
			struct weft__hooks_wait waiting = weft__thread_child_wait(child);               \
			ended = (call);                                                                 \
			weft__thread_child_ended(&waiting, ended, stored_status(ended, status), false); \
		}                                                                                   \
		ended;                                                                              \
	})

HOOK(waitpid)
pid_t waitpid(pid_t child, int *status, int options)
{
	return WAIT(child, options & WNOHANG, NEXT(waitpid)(child, status, options));
}

HOOK(wait4)
pid_t wait4(pid_t child, int *status, int options, struct rusage *usage)
{
	return WAIT(child, options & WNOHANG, NEXT(wait4)(child, status, options, usage));
}

/* Where the program passes no status, it is not known whether a signal has ended the child. */
HOOKS_ASKED(SYS_wait4, ask_wait4)
{
	int *status = weft__hooks_pointer(it, 1);
	return WAIT((pid_t)it->argument[0], it->argument[2] & WNOHANG, (pid_t)weft__hooks_ask(it));
}

HOOK(wait3)
pid_t wait3(int *status, int options, struct rusage *usage)
{
	return WAIT(-1, options & WNOHANG, NEXT(wait3)(status, options, usage));
}

HOOK(wait)
pid_t wait(int *status)
{
	return WAIT(-1, false, NEXT(wait)(status));
}

static int status_of(const siginfo_t *info)
{
	return info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED ? info->si_status : 0;
}

/* The child that the call has found; 0: it is unknown. */
static WEFT__OWN_FRAME pid_t read_ended(const siginfo_t *info, int *ret_status)
{
	siginfo_t copy;
	if (!weft__hooks_copy(&copy, info, sizeof(copy)))
		return 0;
	*ret_status = status_of(&copy);
	return copy.si_pid;
}

/* As the argument of waitpid; 0: one of some children. */
static pid_t awaited(idtype_t type, id_t id)
{
	if (type == P_ALL || type == P_PID)
		return type == P_PID ? (pid_t)id : -1;
	if ((int)type != PIDFD)
		return 0;
	int saved = weft__hooks_begin();
	pid_t child = weft__hooks_process_of((int)id);
	weft__hooks_end(saved);
	return child > 0 ? child : 0;
}

#define WAIT_ID(type, id, info, options, call)                                     \
	__extension__({                                                                \
		struct weft__hooks_wait wait = weft__thread_child_wait(awaited(type, id)); \
		int result = (int)(call);                                                  \
		int status = 0;                                                            \
		pid_t ended = result == 0 && info ? read_ended(info, &status) : result;    \
		weft__thread_child_ended(&wait, ended, status, (options)&WNOWAIT);         \
		result;                                                                    \
	})

HOOK(waitid)
int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	if (!HOOKS_RECORD || options & WNOHANG)
		return NEXT(waitid)(type, id, info, options);
	return WAIT_ID(type, id, info, options, NEXT(waitid)(type, id, info, options));
}

HOOKS_ASKED(SYS_waitid, ask_waitid)
{
	const long *argument = it->argument;
	const siginfo_t *info = weft__hooks_pointer(it, 2);
	if (!HOOKS_RECORD || argument[3] & WNOHANG)
		return weft__hooks_ask(it);
	return WAIT_ID(
		(idtype_t)argument[0], (id_t)argument[1], info, argument[3], weft__hooks_ask(it));
}
