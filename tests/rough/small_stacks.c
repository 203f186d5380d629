/* SPDX-License-Identifier: ISC
 *
 * Rule: a hook uses at most 1 KiB of stack. Coroutines with a stack of 2 KiB, below which nothing
 * is mapped, make calls that wait, and calls that are the first of their kind.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	STACK = 2048
};

static ucontext_t here, there;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int pipe_ends[2], sockets[2];
static int is_set;

static void read_pipe(void)
{
	char byte;
	if (read(pipe_ends[0], &byte, 1) != 1)
		abort();
}

static void receive(void)
{
	char byte;
	if (recv(sockets[0], &byte, 1, 0) != 1)
		abort();
}

static void poll_socket(void)
{
	struct pollfd polled = {.fd = sockets[0], .events = POLLIN};
	poll(&polled, 1, 5);
}

static void select_pipe(void)
{
	struct timeval time = {0, 5000};
	fd_set files;
	FD_ZERO(&files);
	FD_SET(pipe_ends[0], &files);
	select(pipe_ends[0] + 1, &files, NULL, NULL, &time);
}

static void open_file(void)
{
	close(open("/dev/null", O_RDONLY));
}

static void lock(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void wait_condition(void)
{
	pthread_mutex_lock(&mutex);
	while (!is_set)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void wait_semaphore(void)
{
	sem_wait(&semaphore);
}

static void sleep_little(void)
{
	nanosleep(&(const struct timespec){0, 5000000}, NULL);
}

static void (*const calls[])(void) = {read_pipe, receive, poll_socket, select_pipe, open_file, lock,
	wait_condition, wait_semaphore, sleep_little};

/* Makes all calls end, a little later than they begin. */
static void *serve(void *unused)
{
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&mutex);
		sleep_little();
		is_set = 1;
		pthread_cond_broadcast(&condition);
		pthread_mutex_unlock(&mutex);
		sem_post(&semaphore);
		if (write(pipe_ends[1], "a", 1) != 1 || send(sockets[1], "a", 1, 0) != 1)
			abort();
		sleep_little();
	}
	return unused;
}

static void call_all(void)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		calls[i]();
}

int main(void)
{
	pthread_t server;
	unsigned char *memory =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || mprotect(memory, PAGE, PROT_NONE) || pipe(pipe_ends) ||
		socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || sem_init(&semaphore, 0, 0) ||
		pthread_create(&server, NULL, serve, NULL))
		return 1;
	for (int i = 0; i < 2; i++) {
		getcontext(&there);
		there.uc_stack.ss_sp = memory + PAGE;
		there.uc_stack.ss_size = STACK;
		there.uc_link = &here;
		makecontext(&there, call_all, 0);
		swapcontext(&here, &there);
		puts("all calls made");
	}
	pthread_join(server, NULL);
	return 0;
}
