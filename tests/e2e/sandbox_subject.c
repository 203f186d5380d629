/* SPDX-License-Identifier: ISC
 *
 * A program in a sandbox: a seccomp filter kills it at every system call but write, exit and
 * exit_group.
 *
 *     sandbox-subject record EVENTS    beside eight threads that are idle after their first event,
 *                                      two threads record EVENTS events each; each enters the
 *                                      sandbox after its first event. The first of them ends before
 *                                      the second begins
 *     sandbox-subject break            makes another system call in the sandbox
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/weft.h>

enum {
	IDLE = 8,
	SKIPPED = 77,
};

static pthread_barrier_t all_have_begun;
static long events;
static unsigned entered, ended;

#define ALLOW(number)                                    \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void enter_sandbox(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(__NR_write),
		ALLOW(__NR_exit),
		ALLOW(__NR_exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(SKIPPED);
}

/* Waits without a system call. */
static void wait_for(const unsigned *count, unsigned wanted)
{
	while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < wanted)
		;
}

static void *idle(void *none)
{
	weft_tag("idle");
	pthread_barrier_wait(&all_have_begun);
	for (;;)
		pause();
	return none;
}

static void *work(void *index)
{
	unsigned number = (unsigned)(size_t)index;
	weft_tag("first");
	enter_sandbox();
	__atomic_fetch_add(&entered, 1, __ATOMIC_RELEASE);
	wait_for(&entered, 2);
	wait_for(&ended, number);
	for (long i = 0; i < events; i++)
		weft_tag_value("work", i);
	__atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
	/* The library would unmap the stack. */
	for (;;)
		syscall(SYS_exit, 0);
	return NULL;
}

static int record(void)
{
	pthread_t thread;
	pthread_barrier_init(&all_have_begun, NULL, IDLE + 1);
	for (int i = 0; i < IDLE; i++)
		if (pthread_create(&thread, NULL, idle, NULL))
			return 1;
	pthread_barrier_wait(&all_have_begun);
	for (size_t i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, work, (void *)i))
			return 1;
	weft_tag("main");
	enter_sandbox();
	wait_for(&ended, 2);
	return write(STDOUT_FILENO, "survived\n", 9) != 9;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "record") == 0) {
		events = atol(argv[2]);
		return record();
	}
	enter_sandbox();
	getppid();
	return 0;
}
