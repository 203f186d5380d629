/* SPDX-License-Identifier: ISC
 *
 * The program that the tests of `weft record` run: it records a known number of notes and ends in a
 * known way.
 *
 *     record-subject NOTES exit STATUS    records NOTES notes, ends
 *                          raise SIGNAL   … by a signal
 *                          wait           says "ready", then prints the signals that it gets until
 *                                         SIGUSR2 comes
 *                          fork NOTES     a child records NOTES notes, too
 *                          crowd COUNT    COUNT children, one after the other, record 3 notes each
 *                          exec NOTES     becomes a program that does
 *                          orphan NOTES   a child records NOTES notes, prints "ready" and lives
 * until standard input ends
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

static void record(int notes)
{
	for (int i = 0; i < notes; i++)
		weft_notef("note %d", i);
}

static void block_signals(sigset_t *ret_blocked)
{
	sigfillset(ret_blocked);
	sigdelset(ret_blocked, SIGTSTP);
	sigprocmask(SIG_BLOCK, ret_blocked, NULL);
}

static int print_signals(const sigset_t *blocked)
{
	puts("ready");
	for (;;) {
		siginfo_t signal;
		fflush(stdout);
		if (sigwaitinfo(blocked, &signal) == SIGUSR2)
			return 0;
		printf("%d\n", signal.si_signo);
	}
}

static int fork_one(int notes)
{
	pid_t child = fork();
	if (child == 0) {
		record(notes);
		_exit(0);
	}
	return child < 0 || waitpid(child, NULL, 0) != child;
}

static int fork_many(int count)
{
	int failures = 0;
	for (int i = 0; i < count; i++)
		failures += fork_one(3);
	return failures != 0;
}

static int leave_one(int notes)
{
	char byte;
	pid_t child = fork();
	if (child == 0) {
		record(notes);
		puts("ready");
		fflush(stdout);
		_exit(read(STDIN_FILENO, &byte, 1) != 0);
	}
	return child < 0;
}

int main(int argc, char **argv)
{
	sigset_t blocked;
	const char *what = argc > 2 ? argv[2] : "";
	int number = argc > 3 ? atoi(argv[3]) : 0;
	if (strcmp(what, "wait") == 0)
		block_signals(&blocked);
	record(argc > 1 ? atoi(argv[1]) : 0);
	if (strcmp(what, "exit") == 0)
		return number;
	if (strcmp(what, "raise") == 0) {
		signal(number, SIG_DFL); /* the sanitizers catch some */
		return raise(number);
	}
	if (strcmp(what, "wait") == 0)
		return print_signals(&blocked);
	if (strcmp(what, "fork") == 0)
		return fork_one(number);
	if (strcmp(what, "crowd") == 0)
		return fork_many(number);
	if (strcmp(what, "orphan") == 0)
		return leave_one(number);
	if (strcmp(what, "exec") == 0 && argc > 3)
		return execl("/proc/self/exe", "become", argv[3], "exit", "0", (char *)NULL);
	return 1;
}
