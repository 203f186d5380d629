/* SPDX-License-Identifier: ISC
 *
 * Rule: the program's memory is not read after the original has run. Another thread unmaps the
 * arrays of a call that is under way or has just returned; that is right as long as nobody uses
 * them.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
	TIMES = 4000,
	PAGE = 4096
};

static char *page;
static atomic_int round_begun, round_over;

static void *unmap(void *unused)
{
	for (int i = 1; i <= TIMES; i++) {
		while (atomic_load(&round_begun) < i)
			sched_yield();
		for (volatile int delay = 0; delay < i % 500; delay++)
			;
		munmap(page, PAGE);
		atomic_store(&round_over, i);
	}
	return unused;
}

static int call(int which, int ends[2], int loop, int timer)
{
	struct pollfd *polled = (void *)page;
	fd_set *set = (void *)page;
	struct itimerspec *time = (void *)page;
	switch (which) {
	case 0:
		polled->fd = ends[0];
		polled->events = POLLIN | POLLOUT;
		return atomic_fetch_add(&round_begun, 1), poll(polled, 1, 0);
	case 1:
		FD_SET(ends[0], set);
		return atomic_fetch_add(&round_begun, 1), select(ends[0] + 1, set, NULL, NULL, NULL);
	case 2:
		time->it_value.tv_sec = 1000;
		return atomic_fetch_add(&round_begun, 1), timerfd_settime(timer, 0, time, NULL);
	default:
		return atomic_fetch_add(&round_begun, 1), epoll_wait(loop, (void *)page, 8, 0);
	}
}

int main(void)
{
	int ends[2], loop = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
	pthread_t thread;
	if (pipe(ends) || write(ends[1], "a", 1) != 1)
		return 1;
	epoll_ctl(loop, EPOLL_CTL_ADD, ends[0], &(struct epoll_event){.events = EPOLLIN});
	pthread_create(&thread, NULL, unmap, NULL);
	for (int i = 1; i <= TIMES; i++) {
		page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		call(i % 4, ends, loop, timer);
		while (atomic_load(&round_over) < i)
			sched_yield();
	}
	pthread_join(thread, NULL);
	puts("all calls have returned");
	return 0;
}
