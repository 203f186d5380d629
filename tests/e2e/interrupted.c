/* SPDX-License-Identifier: ISC
 *
 * A program that gets a signal whenever its child allocates disk space, as from a fast timer: the
 * allocation is interrupted each time. This file replaces the C library's function.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

static volatile sig_atomic_t expected, handled;

static void on_signal(int signal)
{
	(void)signal;
	handled = 1;
}

int posix_fallocate(int fd, off_t from, off_t size)
{
	if (expected)
		raise(SIGALRM);
	return handled ? EINTR : ftruncate(fd, from + size) ? errno : 0;
}

int main(void)
{
	signal(SIGALRM, on_signal);
	expected = 1;
	pid_t child = fork();
	if (child == 0) {
		weft_note("recorded");
		_exit(!handled); /* afterwards */
	}
	int status;
	return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}
