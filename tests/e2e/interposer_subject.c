/* SPDX-License-Identifier: ISC
 *
 * A program with functions of libc's names that call the next ones, as Erlang's does for signals.
 * Compiled with -rdynamic, so that libraries find them, too.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

typedef int install_function(int number, const struct sigaction *new, struct sigaction *old);

static int calls, handled;

static int install(int number, const struct sigaction *new, struct sigaction *old)
{
	void *next = dlsym(RTLD_NEXT, "__sigaction");
	install_function *function;
	memcpy(&function, &next, sizeof(function));
	if (++calls > 100)
		_exit(1); /* the next function calls this one */
	return function(number, new, old);
}

int sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
	return install(number, new, old);
}

int __sigaction(int number, const struct sigaction *new, struct sigaction *old);
int __sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
	return install(number, new, old);
}

static void on_signal(int number)
{
	handled += number == SIGUSR1;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal}, old;
	char name[16] = "";
	if (sigaction(SIGUSR1, &action, NULL) || __sigaction(SIGUSR1, &action, &old))
		return 2;
	raise(SIGUSR1);
	printf("%d %d\n", handled, old.sa_handler == on_signal);
	if (signal(SIGUSR1, SIG_DFL) != on_signal || signal(SIGUSR1, on_signal) != SIG_DFL)
		return 3;
	raise(SIGUSR1);
	prctl(PR_SET_NAME, "interposer");
	prctl(PR_GET_NAME, name);
	printf("%d %s\n", handled, name);
	return 0;
}
