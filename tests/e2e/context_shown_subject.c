/* SPDX-License-Identifier: ISC
 *
 * Shows its contexts to other processes. It prints what it shows, and goes on when a byte comes.
 *
 *     context-shown-subject
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/context.h>

/* The thread is in a system call meanwhile. */
static void show(const char *what)
{
	struct weft_context context;
	char text[WEFT_CONTEXT_TEXT], byte;
	weft_context_current(&context);
	weft_context_print(&context, text);
	printf("%s %s\n", what, *text ? text : "none");
	fflush(stdout);
	if (read(0, &byte, 1) != 1)
		_exit(1);
}

int main(void)
{
	const struct weft_context remote = {
		.trace_high = 0x0102030405060708, .trace_low = 0x1112131415161718, .span = 3, .flags = 1};
	struct weft_context task, span;
	show("before");
	printf("published %d\n", weft_context_publish("shop \xe2\x98\x95"));
	printf("again %d\n", weft_context_publish("other"));
	weft_switch(1);
	weft_context_start(&remote, &task);
	show("task");
	weft_context_begin("query", &task, &span);
	show("span");
	weft_switch(2);
	show("another");
	weft_switch(1);
	show("back");
	weft_context_end(&task);
	show("end");
	weft_switch(WEFT_TASK_NONE);
	show("idle");
	const pid_t child = fork();
	if (child == 0) {
		printf("child %d\n", getpid());
		show("child");
		_exit(!weft_context_publish("child"));
	}
	int status = 1;
	waitpid(child, &status, 0);
	return status != 0;
}
