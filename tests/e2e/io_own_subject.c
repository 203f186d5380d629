/* SPDX-License-Identifier: ISC
 *
 * A program that records itself: a task of its own reads from a socket, and waits for what a child
 * writes.
 */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/weft.h>

int main(void)
{
	int ends[2];
	char byte = 'x';
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return 1;
	uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_label_as(task, "own");
	pid_t child = fork();
	if (child == 0)
		_exit(write(ends[1], &byte, 1) != 1);
	weft_switch(task);
	if (read(ends[0], &byte, 1) != 1)
		return 1;
	weft_resolve(task);
	int status;
	return waitpid(child, &status, 0) != child || status;
}
