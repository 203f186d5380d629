/* SPDX-License-Identifier: ISC
 *
 * Processes that wait for each other, without libweft. Each part has one wait, in which the other
 * side sleeps first.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/select.h>
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

/* Takes so long that the parent waits before it is done, also on a busy machine. */
static void work(void)
{
	const struct timespec time = {.tv_nsec = 100000000};
	nanosleep(&time, NULL);
}

static bool is_seven(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static void await(pid_t child)
{
	int status;
	check(waitpid(child, &status, 0) == child && is_seven(status), "waitpid");
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

/* A child that writes and ends, before this process reads. */
static void leave(int own, int other)
{
	char byte = 'x';
	pid_t child = fork();
	if (child == 0) {
		check(write(other, &byte, 1) == 1, "write");
		_exit(7);
	}
	close(other);
	await(child);
	check(read(own, &byte, 1) == 1, "read");
}

typedef void child_function(int own, int other);

static void use_pipe(child_function *with_child)
{
	int ends[2];
	check(pipe(ends) == 0, "pipe");
	with_child(ends[0], ends[1]);
}

static void use_pair(child_function *with_child)
{
	int ends[2];
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
	with_child(ends[0], ends[1]);
}

static void use_tcp(child_function *with_child)
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
	with_child(client, server);
}

/* The child's program begins by exec. */
static void use_fork(void)
{
	pid_t child = fork();
	if (child == 0)
		execl(own_path, "process-child", "child", NULL);
	await(child);
}

/* The child records before its exec, which succeeds at the second try. */
static void use_exec(void)
{
	pid_t child = fork();
	if (child == 0) {
		work();
		execl("/nothing/there", "nothing", NULL);
		execl(own_path, "process-child", "child", NULL);
	}
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

/* libc makes these children. */

#define SHELL "sleep 0.02; exit 7"

static void use_system(void)
{
	check(is_seven(system(SHELL)), "system");
	pid_t later = fork();
	if (later == 0) {
		work();
		_exit(7);
	}
	await(later);
}

static void use_popen(void)
{
	FILE *stream = popen(SHELL, "r");
	check(stream && is_seven(pclose(stream)), "popen");
}

static void use_terminal(void)
{
	int terminal;
	pid_t child = forkpty(&terminal, NULL, NULL, NULL);
	if (child == 0) {
		work();
		_exit(7);
	}
	await(child);
}

/* The child ends in daemon, in which its own child goes on until it closes the pipe. */
static void use_daemon(void)
{
	int ends[2], status;
	char byte;
	check(pipe(ends) == 0, "pipe");
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		check(daemon(1, 1) == 0, "daemon");
		work();
		_exit(0);
	}
	close(ends[1]);
	check(waitpid(child, &status, 0) == child && status == 0, "waitpid");
	check(read(ends[0], &byte, 1) == 0, "read");
}

/* libc writes when the buffer is full, and reads when it is empty. */
static void use_stream(void)
{
	int ends[2];
	char line[64];
	check(pipe(ends) == 0, "pipe");
	pid_t child = fork();
	if (child == 0) {
		FILE *out = fdopen(ends[1], "w");
		work();
		for (int i = 0; i < 1000; i++)
			fprintf(out, "line %d\n", i);
		_exit(7);
	}
	close(ends[1]);
	FILE *in = fdopen(ends[0], "r");
	check(in && fgets(line, sizeof(line), in) && strcmp(line, "line 0\n") == 0, "fgets");
	await(child);
	fclose(in);
}

/* As make does with -j: a byte of a pipe allows a job. The wait for jobs belongs to this process,
 * not to the pipe. */
static void use_jobs(void)
{
	int ends[2];
	char byte = 'x';
	fd_set in;
	check(pipe(ends) == 0 && write(ends[1], &byte, 1) == 1, "pipe");
	FD_ZERO(&in);
	FD_SET(ends[0], &in);
	check(pselect(ends[0] + 1, &in, NULL, NULL, NULL, NULL) == 1, "pselect");
	check(read(ends[0], &byte, 1) == 1, "read");
	pid_t child = fork();
	if (child == 0)
		execl(own_path, "process-child", "child", NULL);
	int status;
	check(waitpid(-1, &status, 0) == child, "waitpid");
}

/* A child that is killed sends no message at its end. */
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

/* ---- Titles ---- */

static char *title_room;

/* As setproctitle() does: over the program's name. */
static void set_title(const char *title)
{
	strncpy(title_room, title, strlen(title_room));
}

static pid_t begin_worker(const char *title, bool is_killed, int wake[2], int answer[2])
{
	char byte;
	check(pipe(wake) == 0 && pipe(answer) == 0, "pipe");
	pid_t worker = fork();
	if (worker)
		return worker;
	if (title[0] == ':')
		prctl(PR_SET_NAME, title);
	else
		set_title(title);
	work(); /* a wait, however late the other process is */
	check(read(wake[0], &byte, 1) == 1 && write(answer[1], "a", 1) == 1, "pipe");
	while (is_killed)
		pause();
	set_title("worker: done");
	exit(0);
}

/* Each worker has waited once under its title when it is told to end, or killed. */
static void use_titles(void)
{
	static const char *const titles[] = {"worker: first", "worker: second", ":third"};
	for (int i = 0; i < 3; i++) {
		int wake[2], answer[2], status;
		char byte;
		pid_t worker = begin_worker(titles[i], i > 0, wake, answer);
		check(write(wake[1], "a", 1) == 1 && read(answer[0], &byte, 1) == 1, "pipe");
		if (i > 0)
			check(kill(worker, SIGKILL) == 0, "kill");
		check(waitpid(worker, &status, 0) == worker, "waitpid");
	}
}

static const struct {
	const char *name;
	void (*function)(child_function *);
} descriptors[] = {{"pipe", use_pipe}, {"pair", use_pair}, {"tcp", use_tcp}};

/* In the part "pair" the child answers, in "pair-left" it writes and leaves. */
static bool use_descriptor(const char *part)
{
	for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++) {
		size_t size = strlen(descriptors[i].name);
		if (strncmp(part, descriptors[i].name, size) != 0)
			continue;
		descriptors[i].function(part[size] ? leave : answer);
		return true;
	}
	return false;
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} parts[] = {{"fork", use_fork}, {"exec", use_exec}, {"vfork", use_vfork}, {"spawn", use_spawn},
		{"system", use_system}, {"popen", use_popen}, {"terminal", use_terminal},
		{"daemon", use_daemon}, {"stream", use_stream}, {"jobs", use_jobs}, {"kill", use_kill},
		{"titles", use_titles}};
	own_path = title_room = arguments[0];
	if (count == 2 && strcmp(arguments[1], "child") == 0) {
		work();
		return 7;
	}
	own_path = (char[]){"/proc/self/exe"};
	if (count == 2 && use_descriptor(arguments[1]))
		return 0;
	for (size_t i = 0; count == 2 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(arguments[1], parts[i].name) == 0) {
			parts[i].function();
			return 0;
		}
	return 2;
}
