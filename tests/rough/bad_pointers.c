/* SPDX-License-Identifier: ISC
 *
 * Rule: the program's memory is not read before the kernel has accepted it. Garbage collectors and
 * unwinders probe memory by calls that fail with EFAULT where there is none.
 *
 * Each call is made with pointers to no memory, to memory without rights, to the last byte of a
 * page, and to memory that cannot be written. Each has a process of its own: libc reads some of it
 * itself, and is ended by a signal.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum {
	PAGE = 4096
};

static void *bad[4];

static void make_pointers(void)
{
	char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE) ||
		mprotect(pages + 2 * PAGE, PAGE, PROT_READ))
		exit(98);
	bad[0] = (void *)(uintptr_t)16;
	bad[1] = pages + PAGE;
	bad[2] = pages + PAGE - 1;
	bad[3] = pages + 2 * PAGE;
}

static pid_t child(void)
{
	pid_t it = fork();
	if (it == 0)
		_exit(5);
	return it;
}

#define TRY(call)                                                                  \
	do {                                                                           \
		int status;                                                                \
		fflush(stdout);                                                            \
		if (fork() == 0) {                                                         \
			errno = 0;                                                             \
			long result = (long)(call);                                            \
			printf("%s %d = %ld, %d\n", #call, i, result, result < 0 ? errno : 0); \
			fflush(stdout);                                                        \
			_exit(0);                                                              \
		}                                                                          \
		if (wait(&status) > 0 && status)                                           \
			printf("%s %d: status %x\n", #call, i, (unsigned)status);              \
	} while (0)

static void try_times(int i)
{
	void *p = bad[i];
	TRY(nanosleep(p, NULL));
	TRY(clock_nanosleep(CLOCK_MONOTONIC, 0, p, NULL));
	TRY(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, p, NULL));
	TRY(thrd_sleep(p, NULL));
	TRY(nanosleep(&(struct timespec){0, 1}, p));
}

static void try_signals(int i)
{
	void *p = bad[i];
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (bad[i] != bad[3]) { /* an empty set there: these would wait for ever */
		TRY(sigsuspend(p));
		TRY(sigtimedwait(p, NULL, NULL));
		TRY(sigwaitinfo(p, NULL));
	}
	TRY(sigtimedwait(&set, NULL, p));
	TRY((raise(SIGUSR1), sigtimedwait(&set, p, NULL)));
	TRY((raise(SIGUSR1), sigwaitinfo(&set, p)));
	TRY(sigaction(0, p, NULL));
	TRY(sigaction(1000, p, NULL));
	TRY(sigaction(SIGUSR1, p, NULL));
	TRY(sigaction(SIGUSR1, NULL, p));
}

static void try_children(int i)
{
	void *p = bad[i];
	TRY(waitpid(-1, p, WNOHANG));
	TRY(waitpid(child(), p, 0) > 0);
	TRY((child(), wait(p) > 0));
	TRY((child(), wait3(p, 0, NULL) > 0));
	TRY(wait4(child(), NULL, 0, p) > 0);
	TRY(waitid(P_PID, (id_t)child(), p, WEXITED));
	TRY(waitid(P_ALL, 0, p, WEXITED | WNOHANG));
}

static void try_programs(int i)
{
	void *p = bad[i];
	char *const arguments[] = {(char *)(uintptr_t) "true", NULL};
	char *const environment[] = {(char *)(uintptr_t) "A=1", p, NULL};
	TRY(execv(p, arguments));
	TRY(execv("/bin/true", p));
	TRY(execve("/bin/true", arguments, p));
	TRY(execve("/bin/true", arguments, environment));
	TRY(execve("/bin/none", arguments, environment));
	TRY(system(p));
}

static void try_futexes(int i)
{
	uint32_t *p = bad[i];
	TRY(syscall(SYS_futex, p, FUTEX_WAIT, 0, NULL, NULL, 0));
	TRY(syscall(SYS_futex, p, FUTEX_WAIT_BITSET, 1, NULL, NULL, 1));
	TRY(syscall(SYS_futex, p, FUTEX_WAKE, 1, NULL, NULL, 0));
	TRY(syscall(SYS_futex, NULL, FUTEX_WAIT, 0, p, NULL, 0));
}

int main(void)
{
	make_pointers();
	for (int i = 0; i < 4; i++) {
		try_times(i);
		try_signals(i);
		try_children(i);
		try_programs(i);
		try_futexes(i);
	}
	return 0;
}
