/* SPDX-License-Identifier: ISC
 *
 * Processes that wait for each other, without libweft. Each part has one wait, in which the other
 * side sleeps first.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static char *own_path;

static void check(bool is_good, const char *what)
{
	if (is_good)
		return;
	perror(what);
	exit(1);
}

static void work(void)
{
	const struct timespec time = {.tv_nsec = 20000000};
	nanosleep(&time, NULL);
}

static void await(pid_t child)
{
	int status;
	check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7,
		"waitpid");
}

/* A child that answers on one end, while this process reads the other one. */
static void answer(int own, int other)
{
	char byte = 'x';
	pid_t child = fork();
	if (child == 0) {
		close(own);
		work();
		check(write(other, &byte, 1) == 1, "write");
		_exit(7);
	}
	close(other);
	check(child > 0 && read(own, &byte, 1) == 1, "read");
	close(own);
	await(child);
}

static void use_pipe(void)
{
	int ends[2];
	check(pipe(ends) == 0, "pipe");
	answer(ends[0], ends[1]);
}

static void use_pair(void)
{
	int ends[2];
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
	answer(ends[0], ends[1]);
}

static void use_tcp(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	check(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 1) == 0 &&
			  getsockname(listener, (struct sockaddr *)&address, &size) == 0 &&
			  connect(client, (struct sockaddr *)&address, size) == 0,
		"connect");
	int server = accept(listener, NULL, NULL);
	check(server >= 0, "accept");
	answer(client, server);
}

/* The child's program begins by exec. */
static void use_fork(void)
{
	pid_t child = fork();
	if (child == 0)
		execl(own_path, "process-child", "child", NULL);
	await(child);
}

static void use_vfork(void)
{
	char *arguments[] = {(char[]){"process-child"}, (char[]){"child"}, NULL};
	pid_t child = vfork();
	if (child == 0) {
		execve(own_path, arguments, environ);
		_exit(1);
	}
	await(child);
}

static void use_spawn(void)
{
	char *arguments[] = {(char[]){"process-child"}, (char[]){"child"}, NULL};
	pid_t child;
	check(posix_spawn(&child, own_path, NULL, NULL, arguments, environ) == 0, "posix_spawn");
	await(child);
}

/* Nothing is sent by a child that is killed. */
static void use_kill(void)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		work();
		abort();
	}
	check(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "waitpid");
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} parts[] = {{"pipe", use_pipe}, {"pair", use_pair}, {"tcp", use_tcp}, {"fork", use_fork},
		{"vfork", use_vfork}, {"spawn", use_spawn}, {"kill", use_kill}};
	own_path = arguments[0];
	if (count == 2 && strcmp(arguments[1], "child") == 0) {
		work();
		return 7;
	}
	own_path = (char[]){"/proc/self/exe"};
	for (size_t i = 0; count == 2 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(arguments[1], parts[i].name) == 0) {
			parts[i].function();
			return 0;
		}
	return 2;
}
