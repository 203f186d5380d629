/* SPDX-License-Identifier: ISC
 *
 * Runs a program as if it had been started directly: it gets the signals that we get, and we end as
 * it ends.
 *
 * Signals are blocked and read one by one, so no handler runs anywhere, and none comes between fork
 * and exec, or while the trace is being saved. Signals that stop and continue a job (Ctrl-Z) are
 * not blocked, because they are meant for both processes.
 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/run_abi.h"
#include "cli/cli.h"
#include "runs/message.h"
#include "runs/saving/ending.h"

/* The settings of signals that the program inherits as we found them. */
struct signal_state {
	sigset_t mask;
	struct sigaction child;
};

/* Signals that are not blocked: those of our own faults, and of job control. */
static const int left_alone[] = {
	SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT};

static void block_signals(struct signal_state *ret_before)
{
	const struct sigaction normal = {.sa_handler = SIG_DFL};
	sigset_t blocked;
	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof(left_alone) / sizeof(left_alone[0]); i++)
		sigdelset(&blocked, left_alone[i]);
	sigprocmask(SIG_BLOCK, &blocked, &ret_before->mask);
	/* If SIGCHLD is ignored, the kernel drops the exit status of children. */
	sigaction(SIGCHLD, &normal, &ret_before->child);
}

static void restore_signals(const struct signal_state *before)
{
	sigaction(SIGCHLD, &before->child, NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/* False with errno. */
static bool set_environment(const struct record_program *program)
{
	char size[24];
	snprintf(size, sizeof(size), "%" PRIu64, program->size_bytes);
	if (program->size_bytes && setenv(WEFT_ABI_RUN_SIZE, size, 1) != 0)
		return false;
	if (program->size_bytes || program->in_place ? unsetenv(WEFT_ABI_RUN_FIT)
												 : setenv(WEFT_ABI_RUN_FIT, "1", 1))
		return false;
	if (setenv(WEFT_ABI_RUN_OUT, program->directory, 1) != 0)
		return false;
	if (program->in_place ? setenv(WEFT_ABI_RUN_IN_PLACE, program->in_place, 1)
						  : unsetenv(WEFT_ABI_RUN_IN_PLACE))
		return false;
	return record_adapters_apply(&program->adapters);
}

/* Runs in the child. Returns only after an error. */
static void become_program(const struct record_program *program, const struct signal_state *before)
{
	if (!set_environment(program))
		return;
	if (program->stdout_is_ours && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return;
	restore_signals(before);
	execvp(program->argv[0], program->argv);
}

/* Samples begin with the exec, for which the child waits. */
static void start_samples(const struct record_program *program, pid_t pid, int go)
{
	if (program->samples_hz)
		*program->ran = record_ran_start(pid, program->samples_hz, program->sampler);
	(void)!write(go, "", 1);
}

static bool may_go(int go)
{
	char byte;
	return read(go, &byte, 1) == 1;
}

/* Starts the program and returns its pid; or -1, with the reason in errno, which is 0 after a
 * message. */
static pid_t start(const struct record_program *program, const struct signal_state *before)
{
	int failure[2], go[2]; /* the first is closed by a successful exec */
	if (pipe2(failure, O_CLOEXEC) != 0)
		return -1;
	if (pipe2(go, O_CLOEXEC) != 0) {
		close(failure[0]);
		close(failure[1]);
		return -1;
	}
	pid_t pid = fork();
	if (pid == 0) {
		close(go[1]);
		int reason = 0;
		if (may_go(go[0])) {
			become_program(program, before);
			reason = errno;
		}
		ssize_t written = write(failure[1], &reason, sizeof(reason));
		_exit(written == sizeof(reason) ? RECORD_NOT_EXECUTABLE : RECORD_FAILED);
	}
	int reason = errno;
	close(failure[1]);
	close(go[0]);
	if (pid > 0)
		start_samples(program, pid, go[1]);
	close(go[1]);
	if (pid > 0 && read(failure[0], &reason, sizeof(reason)) == sizeof(reason)) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(failure[0]);
	errno = reason;
	return pid;
}

/* True if the program has got the signal itself, or sent it. The terminal sends signals to all
 * processes of the foreground job, so the program has got them too, unless it left our process
 * group. */
static bool has_reached_program(const siginfo_t *signal, pid_t program)
{
	bool is_keyboards = signal->si_signo == SIGINT || signal->si_signo == SIGQUIT ||
						signal->si_signo == SIGHUP || signal->si_signo == SIGWINCH;
	if (signal->si_code == SI_KERNEL && is_keyboards)
		return getpgid(program) == getpgrp();
	return signal->si_code <= 0 && signal->si_pid == program;
}

static void pass_on(const siginfo_t *signal, pid_t program)
{
	if (has_reached_program(signal, program))
		return;
	if (signal->si_code == SI_QUEUE)
		sigqueue(program, signal->si_signo, signal->si_value);
	else
		kill(program, signal->si_signo);
}

/* Looks at the rings, then waits for the next signal, but only until the next look is due. */
static int next_signal(const struct record_program *program, const sigset_t *awaited,
	struct weft__runs_snapshots *snapshots, siginfo_t *ret_signal)
{
	const struct timespec interval = {0, WEFT__RUNS_LOOK_NS};
	const struct record_watcher *watcher = program->watcher;
	if (snapshots)
		weft__runs_snapshots_look(snapshots);
	if (*program->ran && snapshots)
		record_ran_look(*program->ran, snapshots);
	if (watcher)
		watcher->look(watcher->context, program->directory);
	return sigtimedwait(awaited, ret_signal, &interval);
}

/* The program's wait status. */
static int wait_for(
	const struct record_program *program, pid_t pid, struct weft__runs_snapshots *snapshots)
{
	sigset_t awaited;
	sigfillset(&awaited);
	for (size_t i = 0; i < sizeof(left_alone) / sizeof(left_alone[0]); i++)
		sigdelset(&awaited, left_alone[i]);
	for (;;) {
		int status;
		siginfo_t signal;
		if (next_signal(program, &awaited, snapshots, &signal) < 0)
			continue; /* the wait timed out, or a stop and a continue interrupted it */
		if (signal.si_signo != SIGCHLD)
			pass_on(&signal, pid);
		else if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
	}
}

/* False if PATH is searched and has no file of that name. If PATH has a directory that we may not
 * enter, exec reports "permission denied" even for a program that exists nowhere. */
static bool is_anywhere(const char *name)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];
	if (strchr(name, '/') || !at)
		return true;
	for (size_t length;; at += length + 1) {
		length = strcspn(at, ":");
		snprintf(path, sizeof(path), "%.*s/%s", (int)length, at, name);
		if (length && access(path, F_OK) == 0)
			return true;
		if (!at[length])
			return false;
	}
}

static int fail_to_start(const char *name)
{
	int reason = errno;
	if (reason == ENOENT || (reason == EACCES && !is_anywhere(name))) {
		cli_error("%s: not found", weft__runs_shown(name));
		return RECORD_NOT_FOUND;
	}
	cli_error("%s: cannot be run: %s", weft__runs_shown(name), strerror(reason));
	return reason == EAGAIN || reason == ENOMEM || reason == EMFILE ? RECORD_FAILED
																	: RECORD_NOT_EXECUTABLE;
}

int record_run(const struct record_program *program, struct weft__runs_snapshot_options *options,
	pid_t *ret_pid)
{
	struct signal_state before;
	block_signals(&before);
	time_t since = time(NULL);
	pid_t pid = start(program, &before);
	*ret_pid = pid > 0 ? pid : 0;
	if (pid < 0)
		return errno ? fail_to_start(program->argv[0]) : RECORD_FAILED;
	options->program = pid;
	struct weft__runs_snapshots *snapshots = weft__runs_snapshots_create(options);
	int status = wait_for(program, pid, snapshots);
	weft__runs_note_end(program->directory, pid, status);
	record_report_refused(program->argv[0], pid, since, status);
	if (program->waits)
		record_await_others(program->directory, snapshots);
	if (*program->ran && snapshots)
		record_ran_end(*program->ran, snapshots);
	weft__runs_snapshots_destroy(snapshots);
	return WIFSIGNALED(status) ? RECORD_SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

int record_become(const struct record_program *program)
{
	if (set_environment(program))
		execvp(program->argv[0], program->argv);
	return fail_to_start(program->argv[0]);
}
