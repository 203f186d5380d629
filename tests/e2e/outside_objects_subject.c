/* SPDX-License-Identifier: ISC
 *
 * A program that records nothing and hangs in the way that its argument names: in locks inside of
 * the C library, and in calls that wait for what is no file.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

static pthread_barrier_t both;

static pthread_t start(void *(*function)(void *), void *argument)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, function, argument))
		abort();
	return thread;
}

static void *keep_stream(void *unused)
{
	(void)unused;
	flockfile(stderr);
	pthread_barrier_wait(&both);
	pause();
	return NULL;
}

static void hang_in_stream(void)
{
	pthread_barrier_init(&both, NULL, 2);
	start(keep_stream, NULL);
	pthread_barrier_wait(&both);
	fputs("held", stderr);
}

static void *keep_pipe(void *unused)
{
	pause();
	return unused;
}

static void *wait_for_writer(void *ends)
{
	char byte;
	(void)!read(*(int *)ends, &byte, 1);
	return NULL;
}

/* The main thread ends before another one; the writer's does as well. */
static void hang_after_main(void)
{
	static int ends[2];
	if (pipe(ends))
		abort();
	if (fork() == 0) {
		close(ends[0]);
		start(keep_pipe, NULL);
	} else {
		close(ends[1]);
		start(wait_for_writer, ends);
	}
	pthread_exit(NULL);
}

/* select() is pselect6 for the kernel. */
static void hang_in_select(void)
{
	int ends[2];
	fd_set set;
	if (pipe(ends))
		abort();
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	select(ends[0] + 1, &set, NULL, NULL, NULL);
}

static void hang_in_pidfd(void)
{
	const pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	struct pollfd poll_for = {.fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN};
	poll(&poll_for, 1, -1);
}

static void hang_in_timer(int seconds)
{
	const struct itimerspec when = {.it_value = {.tv_sec = seconds}};
	const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	char count[8];
	if (fd < 0 || timerfd_settime(fd, 0, &when, NULL))
		abort();
	(void)!read(fd, count, sizeof(count));
}

static void hang_in_signals(int has_descriptor)
{
	sigset_t set;
	char about[128];
	int number;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (has_descriptor)
		(void)!read(signalfd(-1, &set, SFD_CLOEXEC), about, sizeof(about));
	else
		sigwait(&set, &number);
}

static void hang_in_fifo(const char *path)
{
	if (mkfifo(path, 0600) || open(path, O_RDONLY | O_CLOEXEC) < 0)
		abort();
}

/* The objects of System V outlive their makers. */
static void hang_in_system_v(int has_queue)
{
	char message[64];
	struct sembuf take = {.sem_num = 1, .sem_op = -1};
	const int id = has_queue ? msgget(IPC_PRIVATE, 0600) : semget(IPC_PRIVATE, 2, 0600);
	if (id < 0)
		abort();
	if (fork() == 0) {
		if (has_queue)
			msgrcv(id, message, sizeof(message) - sizeof(long), 0, 0);
		else
			semop(id, &take, 1);
		_exit(0);
	}
	pause();
}

static void hang_in_vfork(void)
{
	if (vfork() == 0) {
		pause();
		_exit(0);
	}
}

/* The frame is larger than what was once searched for the frame pointer. */
static void hang_behind_a_large_frame(void)
{
	volatile char bytes[100 << 10]; /* which the compiler keeps */
	bytes[0] = 0;
	pause();
	bytes[1] = bytes[0];
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	if (strcmp(way, "stream") == 0)
		hang_in_stream();
	else if (strcmp(way, "after-main") == 0)
		hang_after_main();
	else if (strcmp(way, "select") == 0)
		hang_in_select();
	else if (strcmp(way, "pidfd") == 0)
		hang_in_pidfd();
	else if (strcmp(way, "timer") == 0)
		hang_in_timer(argc > 2 ? 5000 : 0);
	else if (strcmp(way, "sigwait") == 0)
		hang_in_signals(0);
	else if (strcmp(way, "signalfd") == 0)
		hang_in_signals(1);
	else if (strcmp(way, "fifo") == 0 && argc > 2)
		hang_in_fifo(argv[2]);
	else if (strcmp(way, "semaphore") == 0)
		hang_in_system_v(0);
	else if (strcmp(way, "queue") == 0)
		hang_in_system_v(1);
	else if (strcmp(way, "vfork") == 0)
		hang_in_vfork();
	else if (strcmp(way, "large-frame") == 0)
		hang_behind_a_large_frame();
	return 0;
}
