/* SPDX-License-Identifier: ISC
 *
 * A program that records on request, while it is followed. Each line of standard input is a
 * number of events, which two threads record together, numbered; or "tasks" and a number of tasks
 * to create; or "moment" and a file that ends a moment once it exists; then it says "done". After
 * "stop" it records nothing more. It ends at the end of the input.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

static long wanted, recorded[2];

static void *record(void *argument)
{
	long *count = argument;
	for (long i = count - recorded; i < wanted; i += 2)
		weft_tag_value(count == recorded ? "first" : "second", (*count)++);
	return NULL;
}

static void create_tasks(long count)
{
	while (count-- > 0)
		weft_label_as(weft_create(WEFT_KIND_TASK), "on request");
}

/* Until the moment ends, which is when the file exists, readers wait for its events. */
static void hold_a_moment(const char *file)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	weft_moment_begin();
	weft_tag_value("moment", 0);
	while (access(file, F_OK))
		nanosleep(&pause, NULL);
	weft_moment_end();
}

int main(void)
{
	char line[4096];
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		pthread_t second;
		if (line[0] == 's')
			weft_stop();
		if (strncmp(line, "tasks ", 6) == 0)
			create_tasks(atol(line + 6));
		line[strcspn(line, "\n")] = 0;
		if (strncmp(line, "moment ", 7) == 0)
			hold_a_moment(line + 7);
		wanted = atol(line);
		if (pthread_create(&second, NULL, record, &recorded[1]))
			return 1;
		record(&recorded[0]);
		pthread_join(second, NULL);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
