/* SPDX-License-Identifier: ISC
 *
 * Many programs for agent.py: so many forked children with 20 counters each, which all change once
 * a second, until standard input ends.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

enum {
	COUNTERS = 20,
};

static void count(unsigned number)
{
	char name[32];
	const struct timespec second = {1, 0}, part = {0, (long)(number * 7919 % 1000) * 1000000};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	nanosleep(&part, NULL);
	for (;;) {
		for (unsigned i = 0; i < COUNTERS; i++) {
			snprintf(name, sizeof(name), "counter/%u", i);
			weft_counter_add(name, 1);
		}
		nanosleep(&second, NULL);
	}
}

int main(int argc, char **argv)
{
	const unsigned programs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000;
	for (unsigned i = 0; i < programs; i++) {
		const pid_t child = fork();
		if (child == 0)
			count(i);
		if (child < 0)
			return 1;
	}
	puts("begun");
	fflush(stdout);
	return getchar() == EOF ? 0 : 1;
}
