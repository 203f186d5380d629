/* SPDX-License-Identifier: ISC
 *
 * Does what adapters can record only with care, or not at all. Usage: unseen-subject WHAT
 * [ARGUMENT]... Built by adapters_unseen.py.
 *
 *     open MODE FILE [TIMES]  opens the library and calls its plugin(), MODE: now, lazy, deep-now,
 *                             deep-lazy, base (dlmopen), space (dlmopen, a namespace of its own)
 *     search FILE             prints what dlopen, dlerror and dlsym answer
 *     exec, vfork, spawn, fail PROGRAM   executes it in a child; fail: with an argument that is too
 * long filter                  installs a filter that allows everything ring makes an io_uring, and
 * maps it wait-ring               makes one by syscall(), and waits for its completions in vain
 * clone                           ends while a thread that calls nothing is alive
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define SKIPPED 77

/* ---- Libraries ---- */

static void *open_library(const char *mode, const char *file)
{
	int when = strstr(mode, "lazy") ? RTLD_LAZY : RTLD_NOW;
	if (strncmp(mode, "deep", 4) == 0)
		return dlopen(file, when | RTLD_DEEPBIND);
	if (strcmp(mode, "base") == 0)
		return dlmopen(LM_ID_BASE, file, when | RTLD_DEEPBIND);
	return strcmp(mode, "space") == 0 ? dlmopen(LM_ID_NEWLM, file, when) : dlopen(file, when);
}

static int open_and_call(char **arguments)
{
	int times = arguments[2] ? atoi(arguments[2]) : 1;
	for (int i = 0; i < times; i++) {
		void *handle = open_library(arguments[0], arguments[1]);
		int (*plugin)(void) = handle ? (int (*)(void))dlsym(handle, "plugin") : NULL;
		if (!plugin) {
			puts(dlerror());
			return 1;
		}
		printf("%d\n", plugin());
		if (dlclose(handle) != 0)
			return 1;
	}
	return 0;
}

static void say(const char *what, const void *found)
{
	const char *error = dlerror();
	printf("%s: %s, %s\n", what, found ? "found" : "not found", error ? error : "no error");
}

static int search(const char *file)
{
	say("begin", NULL);
	say("not loaded", dlopen(file, RTLD_NOW | RTLD_NOLOAD | RTLD_DEEPBIND));
	void *handle = dlopen(file, RTLD_NOW | RTLD_DEEPBIND);
	say("opened", handle);
	say("loaded", dlopen(file, RTLD_NOW | RTLD_NOLOAD | RTLD_DEEPBIND));
	say("missing", dlopen("./no-such-library.so", RTLD_NOW | RTLD_DEEPBIND));
	say("nowhere", dlopen("no-such-library.so", RTLD_LAZY | RTLD_DEEPBIND));
	say("itself", dlopen(NULL, RTLD_NOW | RTLD_DEEPBIND));
	say("no function", handle ? dlsym(handle, "no_such_function") : NULL);
	say("main", dlsym(RTLD_DEFAULT, "own_function"));
	say("next", dlsym(RTLD_NEXT, "own_function"));
	say("libc", dlsym(RTLD_NEXT, "puts"));
	return 0;
}

int own_function(void);
int own_function(void)
{
	return 1;
}

/* ---- Children ---- */

static int wait_for(pid_t child)
{
	int status = -1;
	waitpid(child, &status, 0);
	return status;
}

static int run(const char *how, char *program)
{
	static char large[1 << 18];
	memset(large, 'x', sizeof(large) - 1);
	char *const arguments[] = {program, strcmp(how, "fail") == 0 ? large : NULL, NULL};
	pid_t child;
	if (strcmp(how, "spawn") == 0)
		return posix_spawn(&child, program, NULL, NULL, arguments, environ) ? 1 : wait_for(child);
	child = strcmp(how, "vfork") == 0 ? vfork() : fork();
	if (child == 0) {
		execv(program, arguments);
		_exit(errno == E2BIG ? 0 : 1);
	}
	return wait_for(child);
}

/* ---- Others ---- */

static int install_filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};
	poll(NULL, 0, 1);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return SKIPPED;
	poll(NULL, 0, 1);
	return 0;
}

/* As a library does that has instructions of its own for system calls. */
static long ask_kernel(long number, long a, long b)
{
#ifdef __x86_64__
	__asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b) : "rcx", "r11", "memory");
	return number;
#else
	return syscall(number, a, b);
#endif
}

static int make_ring(void)
{
	struct io_uring_params parameters = {0};
	int fd = (int)ask_kernel(SYS_io_uring_setup, 4, (long)&parameters);
	if (fd < 0)
		return SKIPPED;
	void *ring = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	return ring == MAP_FAILED;
}

static void interrupt(int number)
{
	(void)number;
}

static int wait_for_ring(void)
{
	const struct sigaction action = {.sa_handler = interrupt};
	const struct itimerval time = {{0, 20000}, {0, 20000}};
	struct io_uring_params parameters = {0};
	long fd = syscall(SYS_io_uring_setup, 4, &parameters);
	if (fd < 0)
		return SKIPPED;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &time, NULL);
	return syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 0;
}

static int stay(void *begun)
{
	__atomic_store_n((int *)begun, 1, __ATOMIC_RELEASE);
	for (;;)
		ask_kernel(SYS_sched_yield, 0, 0);
}

static int clone_thread(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	static int begun;
	if (clone(stay, stack + sizeof(stack), CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_FS,
			&begun) < 0)
		return SKIPPED;
	while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
		sched_yield();
	return 0;
}

int main(int count, char **arguments)
{
	const char *what = count > 1 ? arguments[1] : "";
	if (strcmp(what, "open") == 0)
		return open_and_call(arguments + 2);
	if (strcmp(what, "search") == 0)
		return search(arguments[2]);
	if (strcmp(what, "filter") == 0)
		return install_filter();
	if (strcmp(what, "ring") == 0)
		return make_ring();
	if (strcmp(what, "wait-ring") == 0)
		return wait_for_ring();
	if (strcmp(what, "clone") == 0)
		return clone_thread();
	return count > 2 ? run(what, arguments[2]) : 2;
}
