/* SPDX-License-Identifier: ISC
 *
 * A program whose main thread waits until it is killed, as its argument says:
 *
 *     missed      for a condition that was signalled before
 *     leaked      for a semaphore that threads have taken and do not post
 *     limited     for a thread that waits for a condition with a time-out
 *     handled     for a semaphore that a handler of a signal may post
 *     keeps       for a condition that nothing signals, while its child lives
 *     interrupted for that semaphore, until Ctrl-C, which then ends the program, as Python's does
 *     served      the same, while a thread may post it
 *     asks        for the answer to a request over a connection
 *     serves      for the next request over a connection
 *
 * A child kills it, some time after it has begun to wait.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static sem_t slots;
static int begins[2];
static int last_signal = SIGTERM;

static char state_of(pid_t process)
{
	char path[64], text[512] = "";
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
	FILE *file = fopen(path, "r");
	if (!file)
		return 'X';
	(void)!fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	const char *end = strrchr(text, ')');
	return end ? end[2] : 'X';
}

/* The trace of a program that waits for less than half a second does not show that it hangs. */
static void kill_parent(void)
{
	char byte;
	close(begins[1]);
	if (read(begins[0], &byte, 1) == 1) {
		while (state_of(getppid()) == 'R')
			usleep(1000);
		usleep(800000);
		kill(getppid(), last_signal);
	}
	_exit(0);
}

static void begin(void)
{
	(void)!write(begins[1], "", 1);
}

static void *signal_ready(void *none)
{
	pthread_cond_signal(&ready);
	return none;
}

static void *take_slot(void *none)
{
	sem_wait(&slots);
	return none;
}

static void *flush_every_hour(void *none)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 3600;
	pthread_mutex_lock(&lock);
	begin();
	pthread_cond_timedwait(&ready, &lock, &until);
	pthread_mutex_unlock(&lock);
	return none;
}

static void ignore(int number)
{
	(void)number;
}

static void wait_for_interrupt(void)
{
	struct sigaction action = {.sa_handler = ignore};
	sigaction(SIGINT, &action, NULL);
	begin();
	sem_wait(&slots);
	usleep(1000); /* it cleans up */
	signal(SIGINT, SIG_DFL);
	kill(getpid(), SIGINT);
}

static void post(int number)
{
	(void)number;
	sem_post(&slots);
}

static void *post_every_hour(void *none)
{
	for (;;) {
		sleep(3600);
		sem_post(&slots);
	}
	return none;
}

/* A server that forgets the last request, over a connection of its own. */
static void answer(int connection)
{
	char request[1];
	for (int i = 0; read(connection, request, 1) == 1; i++)
		if (i < 3)
			(void)!write(connection, "", 1);
	_exit(0);
}

static void ask(int connection)
{
	char byte;
	for (int i = 0; i < 4; i++) {
		if (i == 3)
			begin();
		(void)!write(connection, "", 1);
		(void)!read(connection, &byte, 1);
	}
}

/* Serves three requests of the other process, which then sends no more. */
static void serve(int connection)
{
	char byte;
	for (int i = 0; i < 4; i++) {
		if (i == 3)
			begin();
		(void)!read(connection, &byte, 1);
		(void)!write(connection, "", 1);
	}
}

static void send_requests(int connection)
{
	char byte;
	for (int i = 0; i < 3; i++) {
		usleep(20000);
		(void)!write(connection, "", 1);
		(void)!read(connection, &byte, 1);
	}
	(void)!read(connection, &byte, 1);
	_exit(0);
}

static void talk(void (*here)(int), void (*there)(int))
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return;
	if (fork() == 0) {
		close(ends[0]);
		close(begins[1]);
		there(ends[1]);
	}
	close(ends[1]);
	here(ends[0]);
}

int main(int count, char **arguments)
{
	pthread_t thread;
	const char *how = count == 2 ? arguments[1] : "";
	if (pipe(begins) != 0 || sem_init(&slots, 0, 1) != 0)
		return 2;
	if (strcmp(how, "interrupted") == 0 || strcmp(how, "served") == 0) {
		last_signal = SIGINT;
		sem_wait(&slots);
	}
	if (fork() == 0)
		kill_parent();
	if (strcmp(how, "missed") == 0) {
		pthread_create(&thread, NULL, signal_ready, NULL);
		pthread_join(thread, NULL);
		pthread_mutex_lock(&lock);
		begin();
		pthread_cond_wait(&ready, &lock);
	} else if (strcmp(how, "keeps") == 0) {
		pthread_mutex_lock(&lock);
		begin();
		pthread_cond_wait(&ready, &lock);
	} else if (strcmp(how, "leaked") == 0) {
		for (int i = 0; i < 2; i++)
			pthread_create(&thread, NULL, take_slot, NULL);
		begin();
		sem_wait(&slots);
		pthread_join(thread, NULL);
	} else if (strcmp(how, "limited") == 0) {
		pthread_create(&thread, NULL, flush_every_hour, NULL);
		pthread_join(thread, NULL);
	} else if (strcmp(how, "handled") == 0) {
		signal(SIGUSR1, post);
		sem_wait(&slots);
		begin();
		sem_wait(&slots);
	} else if (strcmp(how, "interrupted") == 0) {
		pthread_create(&thread, NULL, take_slot, NULL);
		wait_for_interrupt();
	} else if (strcmp(how, "served") == 0) {
		pthread_create(&thread, NULL, post_every_hour, NULL);
		wait_for_interrupt();
	} else if (strcmp(how, "asks") == 0) {
		talk(ask, answer);
	} else if (strcmp(how, "serves") == 0) {
		talk(serve, send_requests);
	}
	return 1;
}
