/* SPDX-License-Identifier: ISC
 *
 * Busy loops, and loops that only look like these. The first word chooses a part of `parts`; the
 * faulty ones go on until they are killed. Prints the number of its process.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static int ends[2]; /* of a pipe that is not written */

static void check(int is_good, const char *what)
{
	if (is_good)
		return;
	perror(what);
	exit(1);
}

static bool yield(void)
{
	return sched_yield() == 0;
}

static bool sleep_no_time(void)
{
	return usleep(0) == 0;
}

static bool sleep_and_yield(void)
{
	return sleep_no_time() && yield();
}

static bool poll_no_time(void)
{
	struct pollfd polled = {ends[0], POLLIN, 0};
	return poll(&polled, 1, 0) == 0;
}

static bool select_no_time(void)
{
	struct timeval none = {0, 0};
	fd_set set;
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	return select(ends[0] + 1, &set, NULL, NULL, &none) == 0;
}

static int instance(void)
{
	static int epoll = -1;
	struct epoll_event event = {.events = EPOLLIN, .data.fd = ends[0]};
	if (epoll >= 0)
		return epoll;
	epoll = epoll_create1(0);
	check(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0, "epoll");
	return epoll;
}

static bool epoll_no_time(void)
{
	struct epoll_event event;
	return epoll_wait(instance(), &event, 1, 0) == 0;
}

static bool read_nothing(void)
{
	char byte;
	return read(ends[0], &byte, 1) < 0 && errno == EAGAIN;
}

/* The loop goes on to wait for a pipe whose writer has gone. */
static bool read_end(void)
{
	struct epoll_event event;
	char byte;
	return epoll_wait(instance(), &event, 1, -1) == 1 && read(ends[0], &byte, 1) == 0;
}

static uint64_t processor_ns(void)
{
	struct timespec time;
	check(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0, "clock_gettime");
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Looks for events between the parts of its work. */
static void work(void)
{
	const uint64_t begin = processor_ns();
	for (uint64_t done = 0; done < 200000000; done = processor_ns() - begin) {
		check(epoll_no_time(), "epoll_wait");
		for (const uint64_t part = processor_ns(); processor_ns() - part < 50000;)
			;
	}
}

/* Yields a little before it sleeps, as adaptive locks do. */
static void hesitate(void)
{
	const struct timespec pause = {0, 2000000};
	for (int i = 0; i < 100; i++) {
		for (int j = 0; j < 8; j++)
			yield();
		nanosleep(&pause, NULL);
	}
}

int main(int argument_count, char **arguments)
{
	static const struct {
		const char *name;
		bool (*call)(void);
	} loops[] = {{"yield", yield}, {"sleep", sleep_no_time}, {"poll", poll_no_time},
		{"select", select_no_time}, {"epoll", epoll_no_time}, {"nothing", read_nothing},
		{"end", read_end}, {"mixed", sleep_and_yield}};
	const char *part = argument_count > 1 ? arguments[1] : "";
	printf("%d\n", (int)getpid());
	check(fflush(stdout) == 0 && pipe2(ends, O_NONBLOCK) == 0, "begin");
	if (strcmp(part, "end") == 0)
		close(ends[1]);
	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++)
		while (strcmp(part, loops[i].name) == 0)
			check(loops[i].call(), part);
	if (strcmp(part, "works") == 0)
		work();
	if (strcmp(part, "hesitates") == 0)
		hesitate();
	return 0;
}
