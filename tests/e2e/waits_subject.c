/* SPDX-License-Identifier: ISC
 *
 * Programs that hang, without libweft. The first line that each prints has the numbers of its
 * processes, its own first.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CHILDREN = 2,
};

static void check(int is_good, const char *what)
{
	if (is_good)
		return;
	perror(what);
	exit(1);
}

static void print_processes(const pid_t *children, int count)
{
	printf("%d", (int)getpid());
	for (int i = 0; i < count; i++)
		printf(" %d", (int)children[i]);
	printf("\n");
	fflush(stdout);
}

/* ---- A parent that waits for the end of a child, which waits for the parent to read ---- */

static void fill(int fd)
{
	static const char bytes[1 << 20];
	while (write(fd, bytes, sizeof(bytes)) > 0) {
	}
}

static pid_t begin_writer(int *ret_fd)
{
	int ends[2];
	check(pipe(ends) == 0, "pipe");
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		fill(ends[1]);
		_exit(1);
	}
	check(child > 0, "fork");
	close(ends[1]);
	*ret_fd = ends[0];
	return child;
}

static void wait_for(const char *how, pid_t child)
{
	siginfo_t info;
	struct rusage usage;
	struct pollfd polled = {.events = POLLIN};
	if (strcmp(how, "pidfd") == 0 || strcmp(how, "waitidfd") == 0)
		polled.fd = (int)syscall(SYS_pidfd_open, child, 0);
	if (strcmp(how, "wait") == 0)
		wait(NULL);
	else if (strcmp(how, "waitpid") == 0)
		waitpid(-1, NULL, 0);
	else if (strcmp(how, "waitid") == 0)
		waitid(P_ALL, 0, &info, WEXITED);
	else if (strcmp(how, "wait3") == 0)
		wait3(NULL, 0, &usage);
	else if (strcmp(how, "wait4") == 0)
		wait4(-1, NULL, 0, &usage);
	else if (strcmp(how, "group") == 0)
		waitpid(0, NULL, 0);
	else if (strcmp(how, "waitidfd") == 0)
		waitid((idtype_t)3, (id_t)polled.fd, &info, WEXITED);
	else if (strcmp(how, "pidfd") == 0)
		poll(&polled, 1, -1);
}

/* `how`: the call; `+` behind it: a second writer, `-` behind it: a second child that may end. */
static void parent(const char *how)
{
	pid_t children[CHILDREN];
	int fd, count = 1;
	size_t size = strcspn(how, "+-");
	char call[32] = "";
	check(size < sizeof(call), "name");
	memcpy(call, how, size);
	children[0] = begin_writer(&fd);
	if (how[size] == '+')
		children[count++] = begin_writer(&fd);
	if (how[size] == '-' && (children[count++] = fork()) == 0) {
		pause();
		_exit(1);
	}
	print_processes(children, count);
	wait_for(call, children[0]);
}

/* ---- A reader of a pipe that a helper, which waits for something else, has inherited ---- */

static void inherited(const char *how)
{
	int ends[2];
	pid_t children[CHILDREN];
	char byte;
	check(pipe(ends) == 0, "pipe");
	if ((children[0] = fork()) == 0) {
		close(ends[1]);
		while (read(ends[0], &byte, 1) == 1)
			;
		_exit(0);
	}
	close(ends[0]);
	if ((children[1] = fork()) == 0) {
		if (how[0] == 'e') { /* as the shell does for `sleep 600 &` in a pipeline */
			dup2(ends[1], STDOUT_FILENO);
			close(ends[1]);
			execlp("sleep", "sleep", "600", (char *)NULL);
		}
		pause();
		_exit(0);
	}
	check(write(ends[1], "x", 1) == 1, "write");
	close(ends[1]);
	print_processes(children, CHILDREN);
	waitpid(children[0], NULL, 0);
}

/* ---- No hang: children, one after the other ---- */

static void forks(const char *how)
{
	for (int i = 0; i < atoi(how); i++) {
		pid_t child = fork();
		if (child == 0) {
			usleep(1000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		usleep(2000);
	}
}

/* ---- A writer that never comes between two readers, as always one of them reads ---- */

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static sem_t begun, turns[2];

/* The reader that has the turn unlocks and locks again, while the other reader has it locked. */
static void *read_in_turns(void *number)
{
	const size_t own = (size_t)number;
	pthread_setname_np(pthread_self(), "reader");
	pthread_rwlock_rdlock(&table);
	sem_post(&begun);
	for (;;) {
		usleep(1000);
		sem_wait(&turns[own]);
		pthread_rwlock_unlock(&table);
		pthread_rwlock_rdlock(&table);
		sem_post(&turns[1 - own]);
	}
	return NULL;
}

static void readers(const char *how)
{
	pthread_t thread;
	(void)how;
	sem_init(&turns[0], 0, 1);
	for (size_t i = 0; i < 2; i++)
		pthread_create(&thread, NULL, read_in_turns, (void *)i);
	for (int i = 0; i < 2; i++)
		sem_wait(&begun);
	print_processes(NULL, 0);
	pthread_rwlock_wrlock(&table);
}

/* ---- A server that accepts one connection, and then waits for a lock for ever ---- */

static struct sockaddr_in address = {.sin_family = AF_INET};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *serve(void *listener)
{
	char byte;
	pthread_setname_np(pthread_self(), "server");
	const int fd = accept((int)(intptr_t)listener, NULL, NULL);
	check(read(fd, &byte, 1) == 1, "read");
	pthread_mutex_lock(&lock);
	return NULL;
}

static void *ask(void *unused)
{
	char byte = 'x';
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	pthread_setname_np(pthread_self(), "client");
	check(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
	check(write(fd, &byte, 1) == 1, "write");
	check(read(fd, &byte, 1) == 1, "read");
	return unused;
}

/* `how`: the number of clients, a digit. */
static void backlog(const char *how)
{
	pthread_t thread;
	socklen_t size = sizeof(address);
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 16) == 0 &&
			  getsockname(listener, (struct sockaddr *)&address, &size) == 0,
		"listen");
	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, serve, (void *)(intptr_t)listener);
	for (int i = 0; i < how[0] - '0'; i++)
		pthread_create(&thread, NULL, ask, NULL);
	print_processes(NULL, 0);
	pthread_join(thread, NULL);
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*function)(const char *how);
	} parts[] = {{"parent", parent}, {"inherited", inherited}, {"children", forks},
		{"readers", readers}, {"backlog", backlog}};
	for (size_t i = 0; count == 3 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(arguments[1], parts[i].name) == 0) {
			parts[i].function(arguments[2]);
			return 0;
		}
	return 2;
}
