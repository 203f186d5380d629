/* SPDX-License-Identifier: ISC
 *
 * Rule: the hook of syscall(2) passes all arguments on, answers as the kernel does, and records the
 * waits among such calls. Libraries make these calls so where libc has no function for them, and
 * programs that bring their own.
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BAD ((void *)8)

#define SHOW(call)                                                    \
	do {                                                              \
		errno = 0;                                                    \
		long shown = (call);                                          \
		printf("%s: %ld %s\n", #call, shown, strerrorname_np(errno)); \
	} while (0)

static void sleep_raw(void)
{
	const struct timespec three = {0, 3000000}, four = {0, 4000000}, wrong = {0, -1};
	SHOW(syscall(SYS_nanosleep, &three, NULL));
	SHOW(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &four, NULL));
	SHOW(syscall(SYS_nanosleep, &wrong, NULL));
	SHOW(syscall(SYS_nanosleep, BAD, NULL));
	SHOW(syscall(SYS_nanosleep, NULL, NULL));
	SHOW(syscall(SYS_clock_nanosleep, 99, 0, &four, NULL));
}

/* A child writes after a moment, so that the parent waits. */
static pid_t write_later(int fd)
{
	pid_t child = fork();
	if (child == 0) {
		usleep(20000);
		_exit(syscall(SYS_write, fd, "abc", 3) != 3);
	}
	return child;
}

static void read_raw(void)
{
	char bytes[8] = "";
	const struct iovec part = {bytes, sizeof(bytes)};
	int ends[2];
	if (pipe(ends))
		return;
	pid_t child = write_later(ends[1]);
	SHOW(syscall(SYS_read, ends[0], bytes, sizeof(bytes)));
	SHOW(syscall(SYS_wait4, child, NULL, 0, NULL) == child);
	SHOW(syscall(SYS_wait4, child, NULL, 0, NULL));
	child = write_later(ends[1]);
	SHOW(syscall(SYS_readv, ends[0], &part, 1));
	SHOW(syscall(SYS_waitid, P_PID, child, NULL, WEXITED, NULL));
	SHOW(syscall(SYS_waitid, P_PID, child, BAD, WEXITED, NULL));
	SHOW(syscall(SYS_write, ends[1], BAD, 3));
	SHOW(syscall(SYS_writev, ends[1], BAD, 3));
	SHOW(syscall(SYS_write, ends[1], "x", 1));
	SHOW(syscall(SYS_read, ends[0], BAD, 1));
	SHOW(syscall(SYS_read, -1, bytes, 1));
	SHOW(syscall(SYS_close, ends[0]));
	SHOW(syscall(SYS_close, ends[0]));
	close(ends[1]);
}

static void wait_for_descriptors(void)
{
	struct timespec moment = {0, 5000000};
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = 7}, got = {0};
	uint64_t count = 0;
	int epoll = epoll_create1(0), fd = eventfd(1, EFD_NONBLOCK);
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	fd_set set;
	FD_ZERO(&set);
	FD_SET(fd, &set);
	SHOW(syscall(SYS_epoll_ctl, epoll, EPOLL_CTL_ADD, fd, &event));
	SHOW(syscall(SYS_epoll_pwait, epoll, &got, 1, 1000, NULL, 8));
	printf("%d\n", (int)got.data.u64);
	SHOW(syscall(SYS_ppoll, &polled, 1, &moment, NULL, 8));
	SHOW(syscall(SYS_pselect6, fd + 1, &set, NULL, NULL, &moment, NULL));
	SHOW(syscall(SYS_read, fd, &count, sizeof(count)));
	SHOW(syscall(SYS_read, fd, &count, sizeof(count)));
	SHOW(syscall(SYS_ppoll, &polled, 1, &moment, NULL, 8));
	SHOW(syscall(SYS_epoll_pwait, epoll, &got, 1, 3, NULL, 8));
	SHOW(syscall(SYS_epoll_pwait, epoll, BAD, 1, 0, NULL, 8));
	SHOW(syscall(SYS_epoll_pwait, epoll, &got, 1, 0, &set, 3));
	SHOW(syscall(SYS_epoll_ctl, epoll, EPOLL_CTL_MOD, fd, BAD));
	SHOW(syscall(SYS_ppoll, BAD, 1, NULL, NULL, 8));
	SHOW(syscall(SYS_ppoll, &polled, 1, BAD, NULL, 8));
	SHOW(syscall(SYS_pselect6, 9, BAD, NULL, NULL, NULL, NULL));
	close(epoll);
	close(fd);
}

static void use_sockets(void)
{
	char bytes[8];
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return;
	SHOW(syscall(SYS_sendto, ends[0], "abc", 3, 0, NULL, 0));
	SHOW(syscall(SYS_recvfrom, ends[1], bytes, sizeof(bytes), 0, NULL, NULL));
	SHOW(syscall(SYS_recvfrom, ends[1], bytes, sizeof(bytes), MSG_DONTWAIT, NULL, NULL));
	SHOW(syscall(SYS_recvmsg, ends[1], BAD, MSG_DONTWAIT));
	SHOW(syscall(SYS_sendmsg, ends[0], BAD, 0));
	close(ends[0]);
	SHOW(syscall(SYS_recvfrom, ends[1], bytes, sizeof(bytes), 0, NULL, NULL));
	close(ends[1]);
}

/* Six arguments, the last of which is on the stack on some machines. */
static void pass_all_arguments(void)
{
	FILE *file = tmpfile();
	if (!file)
		return;
	for (int i = 0; i < 4096; i++)
		fputc('a' + i / 2048, file);
	for (int i = 0; i < 4096; i++)
		fputc('x', file);
	fflush(file);
	long at = syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE, fileno(file), 4096);
	printf("mapped %c\n", at == -1 ? '-' : *(char *)at);
	SHOW(syscall(SYS_futex, BAD, 129, 1, NULL, NULL, 0));
	SHOW(syscall(-1));
	SHOW(syscall(100000));
	fclose(file);
}

/* A child of clone gets a copy of the stack, and goes on in the hook. */
static void clone_raw(void)
{
	fflush(stdout);
	long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0)
		_exit(5);
	int status = 0;
	SHOW(syscall(SYS_wait4, child, &status, 0, NULL) == child);
	printf("%d\n", WEXITSTATUS(status));
}

#ifdef __x86_64__
static int begun;

/* It has no stack to return to. */
static void begin_on_stack(void)
{
	__atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
	syscall(SYS_exit, 0);
}

/* The child returns from syscall() to what its own stack has. */
static void clone_with_stack(void)
{
	static void *stack[4096] __attribute__((aligned(16)));
	stack[4095] = (void *)(uintptr_t)begin_on_stack;
	const long flags = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_FS;
	printf("%d\n", syscall(SYS_clone, flags, &stack[4095], NULL, NULL, NULL) > 0);
	while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
		sched_yield();
}
#else
static void clone_with_stack(void)
{
}
#endif

static void wait_for_ring(void)
{
	struct io_uring_params parameters = {0};
	long fd = syscall(SYS_io_uring_setup, 4, &parameters);
	if (fd < 0)
		return;
	SHOW(syscall(SYS_io_uring_enter, fd, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0));
	SHOW(syscall(SYS_io_uring_enter, fd, 0, 1, 1u << 31, NULL, 0));
	SHOW(syscall(SYS_io_uring_enter, -1, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0));
	SHOW(syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS, BAD, 8));
}

int main(void)
{
	sleep_raw();
	fflush(stdout);
	read_raw();
	wait_for_descriptors();
	use_sockets();
	pass_all_arguments();
	clone_raw();
	clone_with_stack();
	wait_for_ring();
	return 0;
}
