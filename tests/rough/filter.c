/* SPDX-License-Identifier: ISC
 *
 * Rule: no system call that programs rarely make, where an inherited filter may end the process at
 * it, as systemd's SystemCallFilter= does.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	SKIPPED = 77
};

#define KILL(number)                                     \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static void execute_in_sandbox(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL(__NR_membarrier),
		KILL(__NR_process_vm_writev),
		KILL(__NR_memfd_create),
		KILL(__NR_ptrace),
		KILL(__NR_personality),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(SKIPPED);
	execl("/proc/self/exe", "filter", "inside", (char *)NULL);
	exit(98);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_lock(void *unused)
{
	pthread_mutex_lock(&lock);
	poll(NULL, 0, 1);
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int ends[2];
	char byte = 0;
	(void)argv;
	if (argc < 2)
		execute_in_sandbox();
	pthread_mutex_lock(&lock);
	if (pipe(ends) || pthread_create(&thread, NULL, wait_for_lock, NULL))
		return 97;
	nanosleep(&(struct timespec){0, 1000000}, NULL);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	if (write(ends[1], "x", 1) != 1 || read(ends[0], &byte, 1) != 1)
		return 96;
	printf("survived: %c\n", byte);
	return 0;
}
