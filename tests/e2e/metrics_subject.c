/* SPDX-License-Identifier: ISC
 *
 * The program of the tests of weft metrics: changes a counter for each line, and prints the line.
 *
 *     NAME NUMBER   adds it
 *     NAME = NUMBER sets it
 *     lose          records an event that is too big
 *     fork          goes on in a child, and prints its process id; the parent waits for it
 *     clone         the same by a system call, without the handlers of pthread_atfork
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

/* The counters are named at run time. */
static void change(char *name)
{
	char *space = strchr(name, ' ');
	if (!space)
		return;
	*space = '\0';
	if (space[1] == '=')
		weft_counter_set(name, strtoll(space + 2, NULL, 10));
	else if (strchr(space + 1, '.'))
		weft_counter_add(name, strtod(space + 1, NULL));
	else
		weft_counter_add(name, strtoll(space + 1, NULL, 10));
	*space = ' ';
}

static void lose(void)
{
	char name[2000];
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	weft_counter_add(name, 1);
}

static void go_on_in_child(pid_t child)
{
	if (child > 0) {
		waitpid(child, NULL, 0);
		_exit(0);
	}
	printf("%d\n", (int)getpid());
}

int main(void)
{
	char line[256];
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "fork") == 0)
			go_on_in_child(fork());
		else if (strcmp(line, "clone") == 0)
			go_on_in_child((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
		else if (strcmp(line, "lose") == 0)
			lose();
		else
			change(line);
		puts(line);
		fflush(stdout);
	}
	return 0;
}
