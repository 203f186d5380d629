/* SPDX-License-Identifier: ISC
 *
 * A program that does not know libweft, and waits for each of the objects that threads have.
 *
 *     thread-subject held     a worker waits 20 ms for a lock that main holds
 *                    gives_up  the same, after it has waited for two locks for 5 ms in vain
 *                    expires  waits for a condition, a semaphore and signals for 5 ms in vain, and
 *                             sleeps until a signal comes
 *                    objects  a worker waits for each type of object in turn
 *                    uncontended
 *                    deadlock never ends: two threads wait for each other's lock
 *                    exits    threads that end by pthread_exit and by cancellation
 *                    main_exits  the main thread ends by pthread_exit before the other one
 *                    fork     a forked child with a thread, which main waits for
 *                    errno    prints what calls return that fail
 *                    crowd    5000 threads, at most 8 at a time
 *                    mapped   a lock in memory right behind a file's mapping
 *                    wrapped  waits for two locks in a function that only locks
 *                    pairs    two threads are the first ones that wait for a lock, 200 times
 *                    many     waits for 20000 conditions, one after the other
 *                    destroyed  the same, and destroys each
 *                    turns    two threads wake each other 20000 times
 *                    named    threads that are named by main, one of them before it begins, and by
 *                             themselves before and after a wait
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "asleep.h"

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t gate;
static sem_t slots;
static mtx_t plain;
static atomic_int step, at_step; /* `at_step`: the thread that is there */

static void wait_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void reach_step(int reached)
{
	atomic_store(&at_step, gettid());
	atomic_store(&step, reached);
}

/* Until the other thread is at that step, and has been blocked for a while. */
static void await_step(int wanted)
{
	while (atomic_load(&step) < wanted)
		wait_ms(1);
	await_sleep(atomic_load(&at_step));
}

static struct timespec soon(long ms)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_nsec += ms * 1000000;
	now.tv_sec += now.tv_nsec / 1000000000;
	now.tv_nsec %= 1000000000;
	return now;
}

/* ---- held ---- */

static void *take_lock(void *argument)
{
	reach_step(1);
	pthread_mutex_lock(&first_lock);
	pthread_mutex_unlock(&first_lock);
	return argument;
}

static int held(void)
{
	pthread_t worker;
	void *result;
	char word[] = "result";
	pthread_mutex_lock(&first_lock);
	pthread_create(&worker, NULL, take_lock, word);
	await_step(1);
	pthread_mutex_unlock(&first_lock);
	pthread_join(worker, &result);
	return strcmp(result, "result");
}

/* ---- gives_up ---- */

static void *give_up(void *argument)
{
	const struct timespec until = soon(5);
	int lock = pthread_mutex_timedlock(&first_lock, &until);
	int rwlock = pthread_rwlock_timedwrlock(&table, &until);
	printf("timed out %d %d\n", lock == ETIMEDOUT, rwlock == ETIMEDOUT);
	return take_lock(argument);
}

static int keep_locks(void)
{
	pthread_t worker;
	pthread_mutex_lock(&first_lock);
	pthread_rwlock_wrlock(&table);
	pthread_create(&worker, NULL, give_up, NULL);
	await_step(1);
	pthread_rwlock_unlock(&table);
	pthread_mutex_unlock(&first_lock);
	return pthread_join(worker, NULL);
}

/* ---- expires ---- */

static void on_signal(int number)
{
	(void)number;
}

static void *sleep_long(void *argument)
{
	reach_step(1);
	printf("interrupted %d\n", nanosleep(&(struct timespec){1000, 0}, NULL) != 0);
	return argument;
}

/* Waits for the first signals of the list. */
static int await_signals(int count)
{
	static const int numbers[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGCHLD};
	const struct timespec time = {0, 5000000};
	sigset_t set;
	sigemptyset(&set);
	for (int i = 0; i < count; i++)
		sigaddset(&set, numbers[i]);
	return sigtimedwait(&set, NULL, &time) < 0 && errno == EAGAIN;
}

static int expire(void)
{
	const struct sigaction action = {.sa_handler = on_signal};
	const struct timespec until = soon(5);
	pthread_t worker;
	sem_init(&slots, 0, 0);
	pthread_mutex_lock(&second_lock);
	int condition = pthread_cond_timedwait(&ready, &second_lock, &until);
	pthread_mutex_unlock(&second_lock);
	int semaphore = sem_timedwait(&slots, &until) < 0 ? errno : 0;
	printf("timed out %d %d %d %d\n", condition == ETIMEDOUT, semaphore == ETIMEDOUT,
		await_signals(3), await_signals(4));
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&worker, NULL, sleep_long, NULL);
	await_step(1);
	pthread_kill(worker, SIGUSR1);
	return pthread_join(worker, NULL);
}

/* ---- objects ---- */

static void *wait_for_each(void *argument)
{
	reach_step(1);
	pthread_rwlock_rdlock(&table);
	pthread_rwlock_unlock(&table);
	pthread_mutex_lock(&second_lock);
	reach_step(2);
	pthread_cond_wait(&ready, &second_lock);
	const struct timespec until = soon(5);
	while (pthread_cond_timedwait(&ready, &second_lock, &until) == 0)
		continue;
	pthread_mutex_unlock(&second_lock);
	reach_step(3);
	sem_wait(&slots);
	reach_step(4);
	mtx_lock(&plain);
	mtx_unlock(&plain);
	reach_step(5);
	pthread_barrier_wait(&gate);
	return argument;
}

static int objects(void)
{
	pthread_t worker;
	sem_init(&slots, 0, 0);
	mtx_init(&plain, mtx_plain);
	pthread_barrier_init(&gate, NULL, 2);
	pthread_rwlock_wrlock(&table);
	mtx_lock(&plain);
	pthread_create(&worker, NULL, wait_for_each, NULL);
	await_step(1);
	pthread_rwlock_unlock(&table);
	await_step(2);
	pthread_mutex_lock(&second_lock);
	pthread_cond_signal(&ready);
	pthread_mutex_unlock(&second_lock);
	await_step(3);
	sem_post(&slots);
	await_step(4);
	mtx_unlock(&plain);
	await_step(5);
	pthread_barrier_wait(&gate);
	return pthread_join(worker, NULL);
}

/* ---- unheard ---- */

static void *consume(void *argument)
{
	pthread_mutex_lock(&second_lock);
	for (int i = 0; i < 2; i++) {
		reach_step(3 * i + 1);
		pthread_cond_wait(&ready, &second_lock);
		pthread_mutex_unlock(&second_lock);
		reach_step(3 * i + 2);
		await_step(3 * i + 3);
		pthread_mutex_lock(&second_lock);
	}
	pthread_mutex_unlock(&second_lock);
	return argument;
}

static void signal_waiter(void)
{
	pthread_mutex_lock(&second_lock);
	pthread_cond_signal(&ready);
	pthread_mutex_unlock(&second_lock);
}

/* 200 signals before the consumer waits again; and 63 signals, one to all, and 70 more. */
static int unheard(void)
{
	pthread_t consumer;
	pthread_create(&consumer, NULL, consume, NULL);
	await_step(1);
	signal_waiter();
	await_step(2);
	for (int i = 0; i < 200; i++)
		pthread_cond_signal(&ready);
	reach_step(3);
	await_step(4);
	signal_waiter();
	await_step(5);
	for (int i = 0; i < 63; i++)
		pthread_cond_signal(&ready);
	pthread_cond_broadcast(&ready);
	for (int i = 0; i < 70; i++)
		pthread_cond_signal(&ready);
	reach_step(6);
	return pthread_join(consumer, NULL);
}

static int uncontended(void)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&first_lock);
		pthread_cond_signal(&ready);
		pthread_mutex_unlock(&first_lock);
		pthread_rwlock_rdlock(&table);
		pthread_rwlock_unlock(&table);
	}
	return 0;
}

/* ---- deadlock ---- */

static void *lock_backwards(void *argument)
{
	pthread_mutex_lock(&second_lock);
	atomic_fetch_add(&step, 1);
	await_step(2);
	pthread_mutex_lock(&first_lock);
	return argument;
}

static int deadlock(void)
{
	pthread_t worker;
	pthread_mutex_lock(&first_lock);
	pthread_create(&worker, NULL, lock_backwards, NULL);
	atomic_fetch_add(&step, 1);
	await_step(2);
	puts("locked");
	fflush(stdout);
	return pthread_mutex_lock(&second_lock);
}

/* ---- exits ---- */

static void *exit_early(void *argument)
{
	pthread_exit(argument);
}

static void *wait_for_ever(void *argument)
{
	reach_step(1);
	for (;;)
		pause();
	return argument;
}

static int exits(void)
{
	pthread_t one, two;
	void *result = NULL;
	pthread_create(&one, NULL, exit_early, &step);
	pthread_join(one, &result);
	pthread_create(&two, NULL, wait_for_ever, NULL);
	await_step(1);
	pthread_cancel(two);
	void *cancelled = NULL;
	pthread_join(two, &cancelled);
	return !(result == &step && cancelled == PTHREAD_CANCELED);
}

/* ---- main_exits ---- */

static void *outlive_main(void *unused)
{
	char state[64];
	do { /* until the main thread is a zombie */
		wait_ms(1);
		int fd = open("/proc/self/stat", O_RDONLY);
		ssize_t size = read(fd, state, sizeof(state) - 1);
		close(fd);
		state[size > 0 ? size : 0] = '\0';
	} while (!strstr(state, ") Z"));
	exit(0);
	return unused;
}

static int main_exits(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, outlive_main, NULL);
	pthread_exit(NULL);
}

/* ---- fork ---- */

static int fork_child(void)
{
	pid_t child = fork();
	if (child == 0) {
		atomic_store(&step, 0);
		_exit(held() ? 1 : 7);
	}
	int status = 0;
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

/* ---- errno ---- */

static int failures(void)
{
	pthread_mutex_t checked;
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checked, &attributes);
	const struct timespec past = {0}, invalid = {0, -1};
	errno = 77;
	printf("unlock %d, ", pthread_mutex_unlock(&checked));
	printf("lock %d, ", pthread_mutex_lock(&checked));
	printf("again %d, ", pthread_mutex_lock(&checked));
	printf("timed %d, ", pthread_mutex_timedlock(&checked, &past));
	printf("errno %d, ", errno);
	sem_init(&slots, 0, 1);
	printf("semaphore %d, ", sem_wait(&slots));
	printf("timed %d %d, ", sem_timedwait(&slots, &past), errno);
	printf("sleep %d %d, ", nanosleep(&invalid, NULL), errno);
	printf("child %d %d, ", (int)waitpid(-1, NULL, 0), errno);
	printf("condition %d\n", pthread_cond_timedwait(&ready, &checked, &past));
	return 0;
}

/* ---- crowd ---- */

static void *count(void *argument)
{
	pthread_mutex_lock(&first_lock);
	(*(int *)argument)++;
	pthread_mutex_unlock(&first_lock);
	return NULL;
}

static int crowd(void)
{
	int counted = 0;
	for (int i = 0; i < 625; i++) {
		pthread_t threads[8];
		for (int k = 0; k < 8; k++)
			pthread_create(&threads[k], NULL, count, &counted);
		for (int k = 0; k < 8; k++)
			if (k % 2 == 0)
				pthread_join(threads[k], NULL);
			else
				pthread_detach(threads[k]);
	}
	while (counted < 5000)
		wait_ms(1);
	return counted != 5000;
}

/* ---- turns ---- */

static void *take_turns(void *argument)
{
	int own = *(int *)argument;
	pthread_mutex_lock(&first_lock);
	for (int i = 0; i < 20000; i++) {
		while (atomic_load(&step) % 2 != own)
			pthread_cond_wait(&ready, &first_lock);
		atomic_fetch_add(&step, 1);
		pthread_cond_signal(&ready);
	}
	pthread_mutex_unlock(&first_lock);
	return NULL;
}

static int turns(void)
{
	pthread_t players[2];
	int sides[2] = {0, 1};
	for (int i = 0; i < 2; i++)
		pthread_create(&players[i], NULL, take_turns, &sides[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(players[i], NULL);
	return 0;
}

/* ---- mapped ---- */

static pthread_mutex_t *nameless;

static void *take_nameless(void *argument)
{
	reach_step(1);
	pthread_mutex_lock(nameless);
	pthread_mutex_unlock(nameless);
	return argument;
}

/* As an allocator gets it from the kernel: it has no name, and is no variable of that file. */
static int mapped(void)
{
	int file = open("/etc/passwd", O_RDONLY);
	char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mmap(memory, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED)
		return 3;
	pthread_t worker;
	nameless = (pthread_mutex_t *)(void *)(memory + 4096);
	pthread_mutex_init(nameless, NULL);
	pthread_mutex_lock(nameless);
	pthread_create(&worker, NULL, take_nameless, NULL);
	await_step(1);
	pthread_mutex_unlock(nameless);
	return pthread_join(worker, NULL);
}

/* ---- wrapped ---- */

static pthread_mutex_t *wrapped[2];

static __attribute__((noinline)) int own_mutex_lock(pthread_mutex_t *mutex)
{
	int error = pthread_mutex_lock(mutex);
	return error ? error + 1 : 0;
}

static void *take_wrapped(void *argument)
{
	for (int i = 0; i < 2; i++) {
		reach_step(i + 1);
		if (own_mutex_lock(wrapped[i]))
			return NULL;
		pthread_mutex_unlock(wrapped[i]);
	}
	return argument;
}

static int wrap(void)
{
	pthread_t worker;
	for (int i = 0; i < 2; i++) {
		wrapped[i] = malloc(sizeof(*wrapped[i]));
		pthread_mutex_init(wrapped[i], NULL);
		pthread_mutex_lock(wrapped[i]);
	}
	pthread_create(&worker, NULL, take_wrapped, NULL);
	for (int i = 0; i < 2; i++) {
		await_step(i + 1);
		pthread_mutex_unlock(wrapped[i]);
	}
	return pthread_join(worker, NULL);
}

/* ---- pairs ---- */

enum {
	PAIRS = 200
};

static pthread_mutex_t contended[PAIRS];

static void *take_contended(void *argument)
{
	for (int i = 0; i < PAIRS; i++) {
		while (atomic_load(&step) <= i)
			;
		pthread_mutex_lock(&contended[i]);
		pthread_mutex_unlock(&contended[i]);
		atomic_fetch_add(&at_step, 1);
	}
	return argument;
}

/* Two threads are the first that wait for each lock, at the same time. */
static int pairs(void)
{
	pthread_t pair[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&pair[i], NULL, take_contended, NULL);
	for (int i = 0; i < PAIRS; i++) {
		pthread_mutex_init(&contended[i], NULL);
		pthread_mutex_lock(&contended[i]);
		atomic_store(&step, i + 1);
		wait_ms(1);
		pthread_mutex_unlock(&contended[i]);
		while (atomic_load(&at_step) < 2 * (i + 1))
			sched_yield();
	}
	for (int i = 0; i < 2; i++)
		pthread_join(pair[i], NULL);
	return 0;
}

/* ---- many and destroyed ---- */

enum {
	CONDITIONS = 20000
};

static int wait_for_many(bool are_destroyed)
{
	const struct timespec past = {.tv_sec = 1};
	pthread_cond_t *conditions = calloc(CONDITIONS, sizeof(*conditions));
	pthread_mutex_lock(&first_lock);
	for (int i = 0; i < CONDITIONS; i++) {
		pthread_cond_init(&conditions[i], NULL);
		pthread_cond_timedwait(&conditions[i], &first_lock, &past);
		if (are_destroyed)
			pthread_cond_destroy(&conditions[i]);
	}
	pthread_mutex_unlock(&first_lock);
	free(conditions);
	return 0;
}

static int many(void)
{
	return wait_for_many(false);
}

static int destroyed(void)
{
	return wait_for_many(true);
}

static atomic_bool is_named;

/* Without a call that would be recorded, until it has its name. */
static void *begin_named(void *own_name)
{
	if (own_name)
		pthread_setname_np(pthread_self(), own_name);
	else
		while (!atomic_load(&is_named)) {
		}
	pthread_barrier_wait(&gate);
	if (own_name)
		prctl(PR_SET_NAME, "has waited");
	return NULL;
}

static void await_name(int number)
{
	(void)number;
	while (!atomic_load(&is_named)) {
	}
}

/* A thread that begins when it has its name, as on a busy machine: a signal that only it takes is
 * there before it. */
static pthread_t create_late(void)
{
	const struct sigaction action = {.sa_handler = await_name};
	pthread_attr_t attributes;
	sigset_t signals;
	pthread_t id;
	sigemptyset(&signals);
	pthread_attr_init(&attributes);
#if __GLIBC_PREREQ(2, 32)
	pthread_attr_setsigmask_np(&attributes, &signals);
#endif
	sigaddset(&signals, SIGUSR1);
	sigaction(SIGUSR1, &action, NULL);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	kill(getpid(), SIGUSR1);
	pthread_create(&id, &attributes, begin_named, NULL);
	pthread_attr_destroy(&attributes);
	return id;
}

/* Main's own name stays that of the program. */
static int name_threads(void)
{
	char own_name[] = "names itself";
	pthread_t ids[3];
	pthread_barrier_init(&gate, NULL, 4);
	ids[2] = create_late();
	pthread_create(&ids[0], NULL, begin_named, NULL);
	pthread_create(&ids[1], NULL, begin_named, own_name);
	pthread_setname_np(ids[0], "named by main");
	pthread_setname_np(ids[2], "named early");
	pthread_setname_np(pthread_self(), "main");
	atomic_store(&is_named, true);
	pthread_barrier_wait(&gate);
	pthread_join(ids[0], NULL);
	pthread_join(ids[2], NULL);
	return pthread_join(ids[1], NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*function)(void);
	} actions[] = {{"held", held}, {"gives_up", keep_locks}, {"expires", expire},
		{"objects", objects}, {"uncontended", uncontended}, {"unheard", unheard},
		{"deadlock", deadlock}, {"exits", exits}, {"main_exits", main_exits}, {"fork", fork_child},
		{"errno", failures}, {"crowd", crowd}, {"turns", turns}, {"mapped", mapped},
		{"pairs", pairs}, {"wrapped", wrap}, {"many", many}, {"destroyed", destroyed},
		{"named", name_threads}};
	for (size_t i = 0; argc > 1 && i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(argv[1], actions[i].name) == 0)
			return actions[i].function();
	return 2;
}
