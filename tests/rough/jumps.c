/* SPDX-License-Identifier: ISC
 *
 * Rule: a hook that a jump leaves is over. A timer's handler leaves all kinds of calls by
 * siglongjmp, on the same stack and from an alternate one, also while a hook records. Then the
 * thread goes on, further down the stack, and is still recorded.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
	JUMPS = 300,
	EVERY_US = 400
};

static sigjmp_buf back;
static volatile sig_atomic_t jumps;
static int ends[2], loop;

static void on_alarm(int number)
{
	(void)number;
	jumps++;
	siglongjmp(back, 1);
}

static void call(unsigned which)
{
	struct pollfd polled = {.fd = ends[0], .events = POLLIN};
	struct epoll_event event;
	char byte = 'a';
	switch (which % 5) {
	case 0:
		usleep(10);
		break;
	case 1:
		if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
			abort();
		break;
	case 2:
		poll(&polled, 1, 1);
		break;
	case 3:
		epoll_wait(loop, &event, 1, 1);
		break;
	default:
		close(dup(ends[0]));
	}
}

static void leave_calls(int flags)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};
	const struct itimerval every = {{0, EVERY_US}, {0, EVERY_US}}, never = {0};
	volatile unsigned which = 0;
	sigaction(SIGALRM, &action, NULL);
	jumps = 0;
	sigsetjmp(back, 1);
	setitimer(ITIMER_REAL, jumps < JUMPS ? &every : &never, NULL);
	while (jumps < JUMPS)
		call(which++);
}

static __attribute__((noinline)) void sleep_further_down(long ms)
{
	volatile char room[32 << 10];
	room[0] = room[sizeof(room) - 1] = 0;
	for (int i = 0; i < 3; i++)
		usleep((useconds_t)ms * 1000);
}

int main(void)
{
	static char memory[64 << 10];
	stack_t alternate = {.ss_sp = memory, .ss_size = sizeof(memory)};
	if (pipe(ends) || write(ends[1], "b", 1) != 1)
		return 1;
	loop = epoll_create1(0);
	epoll_ctl(loop, EPOLL_CTL_ADD, ends[0], &(struct epoll_event){.events = EPOLLIN});
	leave_calls(0);
	sleep_further_down(7);
	sigaltstack(&alternate, NULL);
	leave_calls(SA_ONSTACK);
	sleep_further_down(9);
	puts("went on");
	return 0;
}
