/* SPDX-License-Identifier: ISC
 *
 * A program whose tasks lose the processor. What it does is named by its arguments, in order:
 *
 *     preempted  runs for a while beside a busy process on the same processor
 *     blocked    sleeps inside an activation
 *     idle       sleeps before its activation, and in an idle band inside it
 *
 * Each makes a task of that name, and prints "NAME WALL OFF": how long its activation lasted, and
 * how long the thread had no processor meanwhile, both in ns, as the program measured it itself.
 */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

#define BUSY_NS 60000000

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void work(uint64_t cpu_ns)
{
	uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		continue;
}

static void sleep_ms(long ms)
{
	const struct timespec time = {0, ms * 1000000};
	nanosleep(&time, NULL);
}

static void pin(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();
	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Two processes share the processor, so that each gets about half of it. */
static void be_preempted(void)
{
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			continue;
	}
	work(BUSY_NS);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void idle(void)
{
	weft_band_begin(WEFT_BAND_IDLE, "poll");
	sleep_ms(20);
	weft_band_end(WEFT_BAND_IDLE, "poll");
}

static void step(const char *name, uint64_t task)
{
	if (strcmp(name, "preempted") == 0)
		be_preempted();
	else if (strcmp(name, "blocked") == 0)
		sleep_ms(20);
	else if (strcmp(name, "idle") == 0)
		idle();
	weft_resolve(task);
}

static void run(const char *name)
{
	uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_label_as(task, name);
	if (strcmp(name, "idle") == 0)
		sleep_ms(20);
	weft_switch(task);
	uint64_t wall = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	step(name, task);
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	wall = clock_ns(CLOCK_MONOTONIC) - wall;
	weft_switch(WEFT_TASK_NONE);
	printf("%s %llu %llu\n", name, (unsigned long long)wall, (unsigned long long)(wall - cpu));
}

int main(int argc, char **argv)
{
	pin();
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	return 0;
}
