/* SPDX-License-Identifier: ISC
 *
 * LTTng-UST beside the floor, in overwrite mode. The daemon and the session are this program's own:
 * in a directory that is removed at the end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_events.h"

enum {
	EVENTS = 4096,
	RUNS = 600
};

static uint64_t clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static volatile uint64_t ring[8192];

static void run_floor(void)
{
	for (uint64_t i = 0; i < EVENTS; i++) {
#if defined(__x86_64__) || defined(__i386__)
		ring[i * 2 % 8192] = __builtin_ia32_rdtsc();
#else
		ring[i * 2 % 8192] = clock_ns();
#endif
		ring[i * 2 % 8192 + 1] = i;
	}
}

static void run_clock_gettime(void)
{
	for (uint64_t i = 0; i < EVENTS; i++)
		ring[0] = clock_ns();
}

static void run_lttng(void)
{
	for (uint64_t i = 0; i < EVENTS; i++)
		lttng_ust_tracepoint(weft_bench, resolve, i, i);
}

static void measure(const char *name, void (*run)(void))
{
	uint64_t least = UINT64_MAX;
	for (unsigned i = 0; i < RUNS; i++) {
		uint64_t start = clock_ns();
		run();
		uint64_t took = clock_ns() - start;
		least = took < least ? took : least;
	}
	printf("%-28s %8.2f\n", name, (double)least / EVENTS);
	fflush(stdout);
}

static int session(void)
{
	return system("lttng create weft-bench --output=\"$LTTNG_HOME/out\" >/dev/null 2>&1 && "
				  "lttng enable-channel --userspace --overwrite --subbuf-size=1M --num-subbuf=4 "
				  "weft-bench >/dev/null 2>&1 && "
				  "lttng enable-event --userspace --channel=weft-bench weft_bench:resolve "
				  ">/dev/null 2>&1 && lttng start >/dev/null 2>&1");
}

/* Its daemon has its own home; this process registers with it when it is started again. */
static int become_child(char **arguments)
{
	char home[] = "/tmp/weft-lttng-XXXXXX", command[128];
	if (!mkdtemp(home) || setenv("LTTNG_HOME", home, 1) || setenv("HOME", home, 1) ||
		setenv("LTTNG_UST_REGISTER_TIMEOUT", "3000", 1) || setenv("WEFT_BENCH_LTTNG", "1", 1))
		return 1;
	int status = system("lttng-sessiond --daemonize --no-kernel --pidfile=\"$LTTNG_HOME/pid\" "
						">/dev/null 2>&1");
	if (status) {
		printf("lttng-sessiond does not start here\n");
	} else {
		pid_t child = fork();
		if (child == 0) {
			execv("/proc/self/exe", arguments);
			_exit(1);
		}
		waitpid(child, &status, 0);
		if (system("lttng destroy --all >/dev/null 2>&1; kill \"$(cat \"$LTTNG_HOME/pid\")\""))
			printf("the daemon of %s did not end\n", home);
		sleep(1);
	}
	snprintf(command, sizeof(command), "rm -rf %s", home);
	return system(command) || status;
}

int main(int count, char **arguments)
{
	(void)count;
	if (!getenv("WEFT_BENCH_LTTNG"))
		return become_child(arguments);
	printf("%-28s %8s\n", "ns an event, 1 thread", "");
	measure("stamp and 16-byte store", run_floor);
	measure("clock_gettime", run_clock_gettime);
	measure("lttng-ust, off", run_lttng);
	if (session()) {
		printf("no lttng session\n");
		return 1;
	}
	usleep(500000); /* until the tracepoint is on */
	measure("lttng-ust, overwrite, 2 u64", run_lttng);
	return 0;
}
