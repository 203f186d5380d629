/* SPDX-License-Identifier: ISC
 *
 * A program that makes requests by liburing:
 *
 *     uring-subject pipe | errors | many | shared | peek | again | threads | fork | moved | wait |
 * exit
 *
 * Exit status 77: this system has no io_uring, or forbids it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <liburing.h>

static struct io_uring ring;
static char bytes[64];

static struct io_uring_sqe *next(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
	if (!sqe)
		exit(1);
	return sqe;
}

static void prepare(uint64_t user_data, int opcode, int fd, size_t size)
{
	struct io_uring_sqe *sqe = next();
	io_uring_prep_rw(opcode, sqe, fd, bytes, (unsigned)size, 0);
	io_uring_sqe_set_data64(sqe, user_data);
}

static void prepare_timeout(uint64_t user_data, struct __kernel_timespec *time)
{
	struct io_uring_sqe *sqe = next();
	io_uring_prep_timeout(sqe, time, 0, 0);
	io_uring_sqe_set_data64(sqe, user_data);
}

/* Waits for that many completions, and prints them. */
static void take(unsigned count)
{
	struct io_uring_cqe *cqe;
	while (count--) {
		if (io_uring_wait_cqe(&ring, &cqe) != 0)
			exit(1);
		printf("%llu: %d\n", (unsigned long long)cqe->user_data, cqe->res);
		io_uring_cqe_seen(&ring, cqe);
	}
}

/* The read is completed by the write, which is submitted later. */
static void pipes(void)
{
	int ends[2];
	if (pipe(ends) != 0)
		exit(1);
	prepare(1, IORING_OP_READ, ends[0], sizeof(bytes));
	io_uring_submit(&ring);
	prepare(2, IORING_OP_WRITE, ends[1], 5);
	io_uring_submit_and_wait(&ring, 2);
	take(2);
}

static void errors(void)
{
	struct __kernel_timespec time = {.tv_nsec = 20000000}, later = {.tv_sec = 1000};
	int ends[2];
	if (pipe(ends) != 0)
		exit(1);
	prepare(1, IORING_OP_READ, -1, 8);
	io_uring_submit(&ring);
	take(1);
	prepare_timeout(2, &time);
	prepare_timeout(3, &later);
	io_uring_submit(&ring);
	take(1);
	struct io_uring_sqe *sqe = next();
	io_uring_prep_timeout_remove(sqe, 3, 0);
	io_uring_sqe_set_data64(sqe, 4);
	io_uring_submit(&ring);
	take(2);
}

/* More than the queues hold, in turns. */
static void many(void)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (uint64_t i = 0; i < 1000; i += 8) {
		for (uint64_t k = 0; k < 8; k++)
			prepare(i + k, IORING_OP_READ, zero, 1 + k);
		io_uring_submit_and_wait(&ring, 8);
		take(8);
	}
}

/* Two requests whose completions cannot be distinguished. */
static void shared(void)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	prepare(7, IORING_OP_READ, zero, 3);
	prepare(7, IORING_OP_READ, zero, 4);
	io_uring_submit_and_wait(&ring, 2);
	take(2);
}

/* Takes completions without a call of the library that waits. */
static void peek(void)
{
	struct io_uring_cqe *cqe;
	unsigned head, count = 0;
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	prepare(1, IORING_OP_READ, zero, 9);
	io_uring_submit(&ring);
	while (!count) {
		io_uring_for_each_cqe(&ring, head, cqe) count++;
	}
	io_uring_cq_advance(&ring, count);
	prepare(2, IORING_OP_READ, zero, 10);
	io_uring_submit_and_wait(&ring, 1);
	take(1);
}

/* The same, and gives each request the number of the one before. */
static void use_number_again(void)
{
	int ends[2];
	if (pipe(ends) != 0)
		exit(1);
	for (size_t i = 1; i <= 5; i++) {
		struct io_uring_cqe *cqe;
		unsigned head, count = 0;
		prepare(7, IORING_OP_READ, ends[0], sizeof(bytes));
		io_uring_submit(&ring);
		if (write(ends[1], "abcde", i) != (ssize_t)i)
			exit(1);
		while (!count) {
			io_uring_for_each_cqe(&ring, head, cqe) count++;
			(void)getppid(); /* completions come when the thread has called the kernel */
		}
		io_uring_cq_advance(&ring, count);
	}
}

static void *take_in_thread(void *count)
{
	take(*(unsigned *)count);
	return NULL;
}

/* One thread submits, and another one takes. */
static void use_two_threads(void)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	unsigned count = 1000;
	pthread_t thread;
	if (pthread_create(&thread, NULL, take_in_thread, &count) != 0)
		exit(1);
	for (unsigned i = 0; i < count; i++) {
		prepare(i, IORING_OP_READ, zero, 1 + i % 8);
		while (io_uring_submit(&ring) < 0) /* the queue of completions is full */
			sched_yield();
	}
	pthread_join(thread, NULL);
}

/* The child has a ring of its own, and its parent's is mapped. */
static void use_child(void)
{
	int ends[2], status;
	if (pipe(ends) != 0)
		exit(1);
	prepare(1, IORING_OP_READ, ends[0], 3);
	io_uring_submit(&ring);
	pid_t child = fork();
	if (child == 0) {
		if (io_uring_queue_init(16, &ring, 0) != 0)
			_exit(1);
		prepare(1, IORING_OP_NOP, -1, 0);
		io_uring_submit_and_wait(&ring, 1);
		take(1);
		io_uring_queue_exit(&ring);
		exit(0);
	}
	if (waitpid(child, &status, 0) != child || status != 0 || write(ends[1], "abc", 3) != 3)
		exit(1);
	take(1);
}

/* The object of liburing moves while there is a request. */
static void move(void)
{
	int ends[2];
	if (pipe(ends) != 0)
		exit(1);
	prepare(1, IORING_OP_READ, ends[0], 3);
	io_uring_submit(&ring);
	struct io_uring moved = ring;
	memset(&ring, 0, sizeof(ring));
	if (write(ends[1], "abc", 3) != 3)
		exit(1);
	io_uring_submit_and_wait(&moved, 1);
	ring = moved;
	take(1);
}

/* Waits in the call that submits, so that nothing can have been completed before. */
static void wait_for_time(void)
{
	struct __kernel_timespec time = {.tv_nsec = 20000000};
	prepare_timeout(1, &time);
	io_uring_submit_and_wait(&ring, 1);
	take(1);
}

/* The ring ends before its request. */
static void leave(void)
{
	int ends[2];
	if (pipe(ends) != 0)
		exit(1);
	prepare(1, IORING_OP_READ, ends[0], 1);
	io_uring_submit(&ring);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} parts[] = {{"pipe", pipes}, {"errors", errors}, {"many", many}, {"shared", shared},
		{"peek", peek}, {"again", use_number_again}, {"threads", use_two_threads},
		{"fork", use_child}, {"moved", move}, {"wait", wait_for_time}, {"exit", leave}};
	if (io_uring_queue_init(16, &ring, 0) != 0)
		return 77;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (argc > 1 && strcmp(argv[1], parts[i].name) == 0)
			parts[i].function();
	io_uring_queue_exit(&ring);
	return 0;
}
