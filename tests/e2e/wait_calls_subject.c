/* SPDX-License-Identifier: ISC
 *
 * The first word says who waits, and where:
 *
 *     lock             a thread, for a lock that main holds while it sleeps
 *     read             main reads standard input, once it has said that it is ready
 *     deep             main reads standard input, 100 calls deep
 *     small            a thread and a handler sleep, both on the smallest stacks
 *     coroutine        one that began in a handler, on a thread that is gone, sleeps
 *     library FILE…    each one's function sleeps, and is unloaded
 *     fork             a child sleeps, then its parent
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM_BYTES 65536

static pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;

#define APART __attribute__((noinline, noclone))

/* The compiler may not leave the call of the last function out of the stack. */
#define STAY __asm__ volatile("")

APART static void flush_log(void)
{
	pthread_mutex_lock(&journal); /* flush_log waits */
	pthread_mutex_unlock(&journal);
}

static pid_t writer;

static void *write_records(void *unused)
{
	__atomic_store_n(&writer, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	flush_log();
	STAY;
	return unused;
}

APART static void nap(void)
{
	usleep(20000);
	STAY;
}

/* True if the writer is blocked in the lock, or if the kernel does not say. */
static int is_writer_blocked(void)
{
	const pid_t tid = __atomic_load_n(&writer, __ATOMIC_ACQUIRE);
	char path[64], call[256] = "", *end;
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)tid);
	FILE *file = tid ? fopen(path, "r") : NULL;
	if (!file)
		return tid != 0;
	char *line = fgets(call, sizeof(call), file);
	fclose(file);
	return line && strtol(line, &end, 10) == SYS_futex && end != line &&
		   strtoull(end, NULL, 16) == (uintptr_t)&journal;
}

APART static void wait_for_lock(void)
{
	pthread_t thread;
	pthread_mutex_lock(&journal);
	pthread_create(&thread, NULL, write_records, NULL);
	do
		nap();
	while (!is_writer_blocked());
	pthread_mutex_unlock(&journal);
	pthread_join(thread, NULL);
	STAY;
}

APART static int read_input(int depth)
{
	char byte;
	int result = depth ? read_input(depth - 1) : (int)read(0, &byte, 1);
	STAY;
	return result;
}

static void *sleep_in_little_room(void *unused)
{
	nap();
	STAY;
	return unused;
}

static void handle(int number)
{
	(void)number;
	nap();
	STAY;
}

static void sleep_in_small_stacks(void)
{
	static char room[16384];
	pthread_attr_t attributes;
	pthread_t thread;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	pthread_create(&thread, &attributes, sleep_in_little_room, NULL);
	pthread_join(thread, NULL);
	sigaltstack(&(stack_t){.ss_sp = room, .ss_size = sizeof(room)}, NULL);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle, .sa_flags = SA_ONSTACK}, NULL);
	raise(SIGUSR1);
}

static sigjmp_buf in_coroutine, in_main;

static void begin_coroutine(int number)
{
	(void)number;
	if (sigsetjmp(in_coroutine, 0) == 0)
		return;
	nap();
	siglongjmp(in_main, 1);
}

static void *make_coroutine(void *room)
{
	stack_t stack = {.ss_sp = room, .ss_size = ROOM_BYTES};
	sigaltstack(&stack, NULL);
	sigaction(
		SIGUSR2, &(struct sigaction){.sa_handler = begin_coroutine, .sa_flags = SA_ONSTACK}, NULL);
	pthread_kill(pthread_self(), SIGUSR2);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	return NULL;
}

/* Below the coroutine's stack is the one of its maker, which is unmapped. */
static void sleep_in_coroutine(void)
{
	const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	void *room = mmap(NULL, ROOM_BYTES, protection, flags, -1, 0);
	void *stack = mmap(NULL, 4 * ROOM_BYTES, protection, flags, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, 4 * ROOM_BYTES);
	pthread_create(&thread, &attributes, make_coroutine, room);
	pthread_join(thread, NULL);
	munmap(stack, 4 * ROOM_BYTES);
	if (sigsetjmp(in_main, 0) == 0)
		siglongjmp(in_coroutine, 1);
}

APART static void call_library(const char *file)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	void (*function)(void) = NULL;
	*(void **)&function = library ? dlsym(library, "run") : NULL;
	if (!function)
		return;
	printf("%p\n", (void *)(size_t)function);
	function();
	dlclose(library);
}

APART static void sleep_in_both(void)
{
	if (fork() == 0) {
		nap();
		_exit(0);
	}
	wait(NULL);
	nap();
	STAY;
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "";
	if (strcmp(what, "lock") == 0)
		wait_for_lock();
	else if (strcmp(what, "read") == 0) {
		puts("ready");
		fflush(stdout);
		read_input(0);
	} else if (strcmp(what, "deep") == 0)
		read_input(100);
	else if (strcmp(what, "small") == 0)
		sleep_in_small_stacks();
	else if (strcmp(what, "coroutine") == 0)
		sleep_in_coroutine();
	else if (strcmp(what, "fork") == 0)
		sleep_in_both();
	for (int i = 2; i < count; i++)
		call_library(words[i]);
	STAY;
	return 0;
}
