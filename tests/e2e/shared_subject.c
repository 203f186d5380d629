/* SPDX-License-Identifier: ISC
 *
 * Two processes without libweft that share something:
 *
 *     shared-subject WHAT
 *
 * "alpha" has it until "beta" sleeps, or wakes it then. In a circle, each waits for what the other
 * one has, for ever. A line for each has its process id, beta's first.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asleep.h"

static struct shared {
	pthread_mutex_t mutexes[2];
	pthread_rwlock_t rwlock;
	pthread_cond_t condition;
	pthread_barrier_t barrier;
	sem_t semaphore;
	pid_t beta;
	bool is_ready;
} * shared;
static int go[2], back[2], files[2];
static bool is_alpha;

static void check(bool is_good)
{
	if (!is_good)
		abort();
}

static void make(bool is_robust)
{
	pthread_mutexattr_t mutex;
	pthread_rwlockattr_t rwlock;
	pthread_condattr_t condition;
	pthread_barrierattr_t barrier;
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	if (is_robust)
		pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&shared->mutexes[0], &mutex);
	pthread_mutex_init(&shared->mutexes[1], &mutex);
	pthread_rwlockattr_init(&rwlock);
	pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&shared->rwlock, &rwlock);
	pthread_condattr_init(&condition);
	pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared->condition, &condition);
	pthread_barrierattr_init(&barrier);
	pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->barrier, &barrier, 2);
	sem_init(&shared->semaphore, 1, 0);
}

/* Lets beta begin, and returns when it sleeps. */
static void let_beta_wait(void)
{
	char byte = 0;
	check(write(go[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1);
	await_sleep_of(shared->beta, shared->beta);
}

/* Beta waits until alpha says so. */
static void await_alpha(void)
{
	char byte = 0;
	check(read(go[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1);
}

/* Alpha has it now, or beta wants it. */
static void meet(void)
{
	if (is_alpha)
		let_beta_wait();
}

static void lock_mutex(void)
{
	pthread_mutex_lock(&shared->mutexes[0]);
	meet();
	pthread_mutex_unlock(&shared->mutexes[0]);
}

static void lock_rwlock(void)
{
	if (is_alpha)
		pthread_rwlock_wrlock(&shared->rwlock);
	else
		pthread_rwlock_rdlock(&shared->rwlock);
	meet();
	pthread_rwlock_unlock(&shared->rwlock);
}

static void lock_flock(void)
{
	check(flock(files[0], LOCK_EX) == 0);
	meet();
	check(flock(files[0], LOCK_UN) == 0);
}

static void lock_record(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 7, .l_len = 3};
	check(fcntl(files[0], F_SETLKW, &lock) == 0);
	meet();
}

static void lock_lockf(void)
{
	check(lockf(files[0], F_LOCK, 10) == 0);
	meet();
}

static void post(void)
{
	meet();
	check(is_alpha ? sem_post(&shared->semaphore) == 0 : sem_wait(&shared->semaphore) == 0);
}

static void signal_condition(void)
{
	meet();
	pthread_mutex_lock(&shared->mutexes[0]);
	shared->is_ready = shared->is_ready || is_alpha;
	pthread_cond_signal(&shared->condition);
	while (!shared->is_ready)
		pthread_cond_wait(&shared->condition, &shared->mutexes[0]);
	pthread_mutex_unlock(&shared->mutexes[0]);
}

static void come_last(void)
{
	meet();
	pthread_barrier_wait(&shared->barrier);
}

/* Returns when each has its own. */
static void have_both(void)
{
	char byte = 0;
	if (is_alpha)
		check(write(go[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1);
	else
		await_alpha();
}

static void wait_in_circle(void)
{
	pthread_mutex_lock(&shared->mutexes[is_alpha]);
	have_both();
	pthread_mutex_lock(&shared->mutexes[!is_alpha]);
}

static void lock_in_circle(void)
{
	check(flock(files[is_alpha], LOCK_EX) == 0);
	have_both();
	check(flock(files[!is_alpha], LOCK_EX) == 0);
}

static const struct way {
	const char *name;
	void (*run)(void);
	bool is_circle;
} ways[] = {
	{"mutex", lock_mutex, false},
	{"robust", lock_mutex, false},
	{"rwlock", lock_rwlock, false},
	{"flock", lock_flock, false},
	{"fcntl", lock_record, false},
	{"lockf", lock_lockf, false},
	{"semaphore", post, false},
	{"condition", signal_condition, false},
	{"barrier", come_last, false},
	{"mutexes", wait_in_circle, true},
	{"files", lock_in_circle, true},
};

static const struct way *find_way(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(ways[i].name, name) == 0)
			return &ways[i];
	abort();
}

/* A file has a lock for each process only if each opens it. */
static void open_files(void)
{
	files[0] = open("first.lock", O_RDWR | O_CREAT, 0600);
	files[1] = open("second.lock", O_RDWR | O_CREAT, 0600);
	check(files[0] >= 0 && files[1] >= 0);
}

static void begin(const struct way *way, bool alpha)
{
	const pid_t child = fork();
	if (child != 0) {
		printf("%d\n", (int)child);
		fflush(stdout);
		return;
	}
	is_alpha = alpha;
	prctl(PR_SET_NAME, alpha ? "alpha" : "beta");
	open_files();
	if (!alpha) {
		shared->beta = getpid();
		if (!way->is_circle)
			await_alpha();
	}
	way->run();
	exit(0);
}

int main(int count, char **arguments)
{
	const struct way *way = find_way(count > 1 ? arguments[1] : "");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(shared != MAP_FAILED && pipe(go) == 0 && pipe(back) == 0);
	make(strcmp(way->name, "robust") == 0);
	begin(way, false);
	begin(way, true);
	while (wait(NULL) > 0)
		;
	return 0;
}
