/* SPDX-License-Identifier: ISC
 *
 * Runs app.c as a process: Solo5's clocks are those of the system here. Then it waits for the end
 * of standard input, so that its memory can be looked at; with an argument, it aborts.
 *
 *     build/examples/solo5 & weft dump --tasks mem:$!
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct solo5_start_info {
	const char *cmdline;
	uintptr_t heap_start;
	size_t heap_size;
};
int solo5_app_main(const struct solo5_start_info *info);
uint64_t solo5_clock_monotonic(void);
uint64_t solo5_clock_wall(void);

static uint64_t now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t solo5_clock_monotonic(void)
{
	return now(CLOCK_MONOTONIC);
}

uint64_t solo5_clock_wall(void)
{
	return now(CLOCK_REALTIME);
}

int main(int argc, char **argv)
{
	const struct solo5_start_info info = {.cmdline = argv[argc - 1]};
	if (solo5_app_main(&info) != 0)
		return 1;
	puts("done");
	fflush(stdout);
	if (argc > 1)
		abort();
	while (getchar() != EOF)
		continue;
	return 0;
}
