/* SPDX-License-Identifier: ISC
 *
 * A program whose task waits for a reply that never comes, and that then ends as its argument says:
 *
 *     hang-subject exit STATUS | _exit STATUS | abort | pause | child | exec
 *
 * child: a forked child hangs for 1 s and is then killed, the parent goes on for 2 s more.
 * exec: executes itself with `exit 0` after 300 ms.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

static void wait_for_reply(void)
{
	uint64_t request = weft_create(WEFT_KIND_TASK), reply = weft_create(WEFT_KIND_WAIT);
	weft_label_as(request, "request");
	weft_label_as(reply, "reply");
	weft_switch(request);
	weft_try_read(reply);
	weft_switch(WEFT_TASK_NONE);
}

static void hang(unsigned milliseconds)
{
	wait_for_reply();
	usleep(milliseconds * 1000);
}

static int hang_until_killed(void)
{
	wait_for_reply();
	puts("waits");
	fflush(stdout);
	return pause();
}

/* The pipe says that the child waits, because a loaded machine may start it late. */
static int have_child(void)
{
	int waits[2];
	char byte = 0;
	if (pipe(waits) < 0)
		return 1;
	pid_t child = fork();
	if (child == 0) {
		wait_for_reply();
		_exit(write(waits[1], &byte, 1) == 1 ? pause() : 1);
	}
	weft_note("parent");
	if (read(waits[0], &byte, 1) != 1)
		return 1;
	sleep(1); /* the recorder has found the child's buffer by then, also on a busy machine */
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	sleep(2);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	const int status = argc > 2 ? atoi(argv[2]) : 0;
	if (strcmp(how, "child") == 0)
		return have_child();
	if (strcmp(how, "pause") == 0)
		return hang_until_killed();
	hang(300);
	if (strcmp(how, "_exit") == 0)
		_exit(status);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "exec") == 0)
		execl(argv[0], argv[0], "exit", "0", (char *)NULL);
	return status;
}
