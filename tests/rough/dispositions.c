/* SPDX-License-Identifier: ISC
 *
 * Rule: the program's handlers and flags are what it has set, whichever function tells it.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>

static int calls;

static void handle(int number)
{
	(void)number;
	calls++;
}

static void show(const char *what, int number)
{
	struct sigaction action;
	sigaction(number, NULL, &action);
	printf("%s: %s, flags %x\n", what,
		action.sa_handler == handle    ? "handle"
		: action.sa_handler == SIG_DFL ? "default"
									   : "?",
		(unsigned)action.sa_flags & (SA_SIGINFO | SA_RESTART | SA_RESETHAND | SA_NODEFER));
}

int main(void)
{
	const struct sigaction plain = {.sa_handler = handle},
						   once = {.sa_handler = handle, .sa_flags = SA_RESETHAND | SA_NODEFER};
	sigaction(SIGUSR1, &plain, NULL);
	show("plain", SIGUSR1);
	__sighandler_t before = ssignal(SIGUSR1, SIG_DFL);
	printf("ssignal: %d\n", before == handle);
	before(1);
	show("after ssignal", SIGUSR1);
	sigaction(SIGUSR2, &once, NULL);
	show("once", SIGUSR2);
	raise(SIGUSR2);
	show("after once", SIGUSR2);
	printf("%d calls, %s\n", calls, dlerror() ? "an error" : "no error");
	return 0;
}
