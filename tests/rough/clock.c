/* SPDX-License-Identifier: ISC
 *
 * Rule: the recorder and the hooks read the kernel's clock. rough.py runs this under faketime, too,
 * whose clock goes on with each reading and at no other time: more readings than the program's
 * would be seen.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void *sleep_briefly(void *unused)
{
	usleep(1000);
	return unused;
}

int main(void)
{
	pthread_t thread;
	struct timespec before, after;
	struct tm date;
	time_t now = time(NULL);
	clock_gettime(CLOCK_REALTIME, &before);
	if (pthread_create(&thread, NULL, sleep_briefly, NULL))
		return 98;
	pthread_join(thread, NULL);
	clock_gettime(CLOCK_REALTIME, &after);
	printf("%d\n", gmtime_r(&now, &date)->tm_year + 1900);
	if (getenv("FAKETIME"))
		printf("%ld s\n", (long)(after.tv_sec - before.tv_sec));
	return 0;
}
