/* SPDX-License-Identifier: ISC
 *
 * The program of the tests of attaching: records a note for each line that it reads, and prints the
 * line.
 *
 *     attach-subject          does that; at a line "fork" a child records, too
 *     attach-subject child    a forked child does that; its parent waits for it
 *     attach-subject close    first closes all its descriptors but the first three
 *     attach-subject threads  three more threads record all the time
 *     attach-subject exit     another thread does that, and the main thread has ended
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

static void fork_one(void)
{
	pid_t child = fork();
	if (child == 0) {
		weft_note("in the child");
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void answer(void)
{
	char line[256];
	printf("%d\nready\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "fork") == 0)
			fork_one();
		else
			weft_note(line);
		puts(line);
		fflush(stdout);
	}
}

static void close_all(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
}

static void *record(void *unused)
{
	for (uint64_t i = 0;; i++)
		weft_counter_set("turn", (int64_t)i);
	return unused;
}

static void start_threads(void)
{
	pthread_t thread;
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, record, NULL);
}

static void *answer_in_thread(void *unused)
{
	answer();
	exit(0);
	return unused;
}

static void exit_main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, answer_in_thread, NULL);
	pthread_exit(NULL);
}

static int answer_in_child(void)
{
	pid_t child = fork();
	if (child > 0)
		return waitpid(child, NULL, 0) != child;
	answer();
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	if (strcmp(how, "child") == 0)
		return answer_in_child();
	if (strcmp(how, "close") == 0)
		close_all();
	if (strcmp(how, "threads") == 0)
		start_threads();
	if (strcmp(how, "exit") == 0)
		exit_main();
	answer();
	return 0;
}
