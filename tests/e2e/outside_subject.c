/* SPDX-License-Identifier: ISC
 *
 * A program that records nothing and hangs in the way that its argument names. It prints a line
 * once its threads are on their way there; the test looks until they have arrived.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MADE_AT 0x10000000

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER,
					   second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inheriting_lock, robust_lock;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both, step;
static sem_t tokens;

static void take_second(void)
{
	pthread_mutex_lock(&second_lock);
}

static void *lock_forwards(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&first_lock);
	pthread_barrier_wait(&both);
	take_second();
	return NULL;
}

static void *lock_backwards(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&second_lock);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&first_lock);
	return NULL;
}

static pthread_t start(void *(*function)(void *))
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, function, NULL))
		abort();
	return thread;
}

static void *lock_for_some_time(void *unused)
{
	const struct timespec until = {.tv_sec = INT32_MAX};
	(void)unused;
	pthread_barrier_wait(&both);
	pthread_mutex_timedlock(&first_lock, &until);
	return NULL;
}

static void hang_in_deadlock(void)
{
	pthread_barrier_init(&both, NULL, 2);
	pthread_t thread = start(lock_forwards);
	start(lock_backwards);
	pthread_join(thread, NULL);
}

/* A third thread waits for one of both locks, and not for ever. */
static void hang_beside_a_deadlock(void)
{
	pthread_barrier_init(&both, NULL, 3);
	pthread_t thread = start(lock_forwards);
	start(lock_backwards);
	start(lock_for_some_time);
	pthread_join(thread, NULL);
}

/* ---- Kinds of locks, held by the main thread ---- */

static void *take_inheriting(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&inheriting_lock);
	return NULL;
}

static void *take_robust(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&robust_lock);
	return NULL;
}

static void *read_table(void *unused)
{
	(void)unused;
	pthread_rwlock_rdlock(&table_lock);
	return NULL;
}

static void *write_table(void *unused)
{
	(void)unused;
	pthread_rwlock_wrlock(&table_lock);
	return NULL;
}

static void *await_condition(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&first_lock);
	for (;;)
		pthread_cond_wait(&ready, &first_lock);
}

static void *await_step(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	return NULL;
}

static void *await_token(void *unused)
{
	(void)unused;
	sem_wait(&tokens);
	return NULL;
}

static void hang_in_kinds(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inheriting_lock, &attributes);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust_lock, &attributes);
	pthread_mutex_lock(&inheriting_lock);
	pthread_mutex_lock(&robust_lock);
	pthread_rwlock_wrlock(&table_lock);
	sem_init(&tokens, 0, 0);
	pthread_barrier_init(&step, NULL, 3);
	start(take_inheriting);
	start(take_robust);
	start(read_table);
	start(write_table);
	start(await_condition);
	start(await_token);
	start(await_step);
	start(await_step);
	pthread_barrier_wait(&step);
	pause();
}

/* ---- Locks that nobody can give back ---- */

static void *take_and_end(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&first_lock);
	return NULL;
}

static void hang_in_abandoned(void)
{
	pthread_join(start(take_and_end), NULL);
	pthread_mutex_lock(&first_lock);
}

static void *take_and_keep(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&first_lock);
	pthread_barrier_wait(&both);
	pause();
	return NULL;
}

static void hang_after_fork(void)
{
	pthread_barrier_init(&both, NULL, 2);
	start(take_and_keep);
	pthread_barrier_wait(&both);
	if (fork() == 0)
		pthread_mutex_lock(&first_lock);
	wait(NULL);
}

/* The holder's number, in glibc's mutex, is overwritten. */
static void hang_in_garbage(void)
{
	const unsigned number = 0x41414141;
	pthread_mutex_lock(&first_lock);
	memcpy((char *)&first_lock + 8, &number, sizeof(number));
	pthread_mutex_lock(&first_lock);
}

static void hang_in_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*hang)(void) = library ? (void (*)(void))dlsym(library, "hang_here") : NULL;
	if (!hang)
		abort();
	hang();
}

/* ---- Pipes, files, children ---- */

/* Each of two processes waits until the other has written. */
static void hang_in_pipes(void)
{
	int there[2], back[2];
	char byte;
	if (pipe(there) || pipe(back))
		abort();
	const pid_t child = fork();
	if (child == 0) {
		close(there[1]);
		close(back[0]);
		printf("%d\n", (int)getpid());
		fflush(stdout);
		(void)!read(there[0], &byte, 1);
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	(void)!read(back[0], &byte, 1);
}

/* The only writer of the pipe is its reader. */
static void hang_in_own_pipe(void)
{
	int ends[2];
	char byte;
	if (pipe(ends))
		abort();
	(void)!read(ends[0], &byte, 1);
}

static int own_pipe[2];

static void write_to_own_pipe(int number)
{
	(void)number;
	(void)!write(own_pipe[1], "", 1);
}

/* Waits for a signal, whose handler writes to the pipe. */
static void hang_until_signal(int has_mask)
{
	char byte;
	fd_set set;
	sigset_t none;
	if (pipe(own_pipe) || signal(SIGTERM, write_to_own_pipe) == SIG_ERR)
		abort();
	sigemptyset(&none);
	FD_ZERO(&set);
	FD_SET(own_pipe[0], &set);
	if (has_mask)
		pselect(own_pipe[0] + 1, &set, NULL, NULL, NULL, &none);
	else
		(void)!read(own_pipe[0], &byte, 1);
}

static void hang_in_connection(void)
{
	int ends[2];
	char byte;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		abort();
	const pid_t child = fork();
	close(ends[child == 0]);
	if (child == 0) {
		printf("%d\n", (int)getpid());
		fflush(stdout);
	}
	(void)!read(ends[child != 0], &byte, 1);
}

static void hang_in_file_lock(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX))
		abort();
	const pid_t child = fork();
	if (child != 0) {
		waitpid(child, NULL, 0);
		return;
	}
	fd = open(path, O_RDWR | O_CLOEXEC);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	flock(fd, LOCK_EX);
	_exit(0);
}

static void sleep_long(void)
{
	sleep(1000);
}

static volatile unsigned long turns;

/* Many programs take an interrupted call for an error. */
static void poll_without_interruption(void)
{
	struct epoll_event event;
	const int epoll = epoll_create1(EPOLL_CLOEXEC);
	for (;;) {
		for (int i = 0; i < 100000; i++)
			turns++;
		if (epoll_wait(epoll, &event, 1, 1) < 0)
			_exit(1);
	}
}

static void parse_forever(void)
{
	for (;;)
		turns++;
}

/* Runs code that is in no file: it jumps to itself, or calls pause again and again. */
static void run_made_code(int waits)
{
#ifdef __x86_64__
	static const unsigned char loop[] = {0xeb, 0xfe}, mov[] = {0x48, 0xb8},
							   call[] = {0xff, 0xd0, 0xeb, 0xf2};
	int (*const called)(void) = pause;
	char *page = mmap((void *)MADE_AT, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (page == MAP_FAILED)
		exit(77);
	if (waits) {
		memcpy(page, mov, sizeof(mov));
		memcpy(page + 2, &called, sizeof(called));
		memcpy(page + 10, call, sizeof(call));
	} else {
		memcpy(page, loop, sizeof(loop));
	}
	((void (*)(void))(unsigned long)page)();
#else
	(void)waits;
#endif
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	puts("ready");
	fflush(stdout);
	if (strcmp(way, "deadlock") == 0)
		hang_in_deadlock();
	else if (strcmp(way, "beside") == 0)
		hang_beside_a_deadlock();
	else if (strcmp(way, "kinds") == 0)
		hang_in_kinds();
	else if (strcmp(way, "abandoned") == 0)
		hang_in_abandoned();
	else if (strcmp(way, "fork") == 0)
		hang_after_fork();
	else if (strcmp(way, "garbage") == 0)
		hang_in_garbage();
	else if (strcmp(way, "library") == 0 && argc > 2)
		hang_in_library(argv[2]);
	else if (strcmp(way, "pipes") == 0)
		hang_in_pipes();
	else if (strcmp(way, "own-pipe") == 0)
		hang_in_own_pipe();
	else if (strcmp(way, "signal") == 0)
		hang_until_signal(0);
	else if (strcmp(way, "signal-mask") == 0)
		hang_until_signal(1);
	else if (strcmp(way, "alarm") == 0 && signal(SIGALRM, write_to_own_pipe) != SIG_ERR)
		hang_in_pipes();
	else if (strcmp(way, "handled-pipes") == 0 && signal(SIGTERM, write_to_own_pipe) != SIG_ERR)
		hang_in_pipes();
	else if (strcmp(way, "connection") == 0)
		hang_in_connection();
	else if (strcmp(way, "file-lock") == 0 && argc > 2)
		hang_in_file_lock(argv[2]);
	else if (strcmp(way, "sleep") == 0)
		sleep_long();
	else if (strcmp(way, "spin") == 0)
		parse_forever();
	else if (strcmp(way, "made") == 0)
		run_made_code(0);
	else if (strcmp(way, "made-pause") == 0)
		run_made_code(1);
	else if (strcmp(way, "epoll") == 0)
		poll_without_interruption();
	return 0;
}
