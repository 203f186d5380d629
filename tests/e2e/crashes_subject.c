/* SPDX-License-Identifier: ISC
 *
 * Programs without libweft that a signal kills.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *end_at_once(void *unused)
{
	return unused;
}

/* Only one of its threads runs then. */
static void crash(void)
{
	pthread_t other;
	if (pthread_create(&other, NULL, end_at_once, NULL) != 0 || pthread_join(other, NULL) != 0)
		exit(1);
	volatile int *nowhere = NULL;
	*nowhere = 1;
}

static void write_to_nobody(void)
{
	int ends[2];
	if (pipe(ends) != 0 || close(ends[0]) != 0)
		exit(1);
	(void)!write(ends[1], "", 1);
}

/* Prints its number, and waits for a signal. */
static void wait_for_signal(void)
{
	printf("%d\n", (int)getpid());
	fflush(stdout);
	pause();
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} parts[] = {{"crash", crash}, {"pipe", write_to_nobody}, {"wait", wait_for_signal}};
	for (size_t i = 0; count == 2 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(arguments[1], parts[i].name) == 0) {
			parts[i].function();
			return 0;
		}
	return 2;
}
