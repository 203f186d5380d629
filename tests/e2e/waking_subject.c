/* SPDX-License-Identifier: ISC
 *
 * Threads that wait for each other, at random:
 *
 *     waking-subject SEED
 *
 * In each round one thread waits in one of seven ways, and another one ends that when it sleeps. A
 * line for each round says so: "WAITER WAKER WAY".
 */
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "asleep.h"

#define THREADS 4
#define ROUNDS  24

enum way {
	CONDITION,
	SEMAPHORE,
	BARRIER,
	PIPE,
	EVENT,
	LOCK,
	FUTEX
};
static const char *const names[] = {
	"condition", "semaphore", "barrier", "pipe", "event", "lock", "futex"};

static struct round {
	unsigned waiter, waker;
	enum way way;
} rounds[ROUNDS];

static pthread_barrier_t start, finish, meeting;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static sem_t free_slots;
static int ends[2], counter;
static atomic_int has_lock, is_waiting, word;
static bool is_ready;
static atomic_int threads[THREADS];

static void check(bool is_good)
{
	if (!is_good)
		abort();
}

static void wait_for_condition(void)
{
	pthread_mutex_lock(&mutex);
	while (!is_ready)
		pthread_cond_wait(&ready, &mutex);
	is_ready = false;
	pthread_mutex_unlock(&mutex);
}

static void wait_in(enum way way)
{
	char byte;
	uint64_t count;
	while (way == LOCK && !has_lock)
		sched_yield();
	is_waiting = 1;
	switch (way) {
	case CONDITION:
		wait_for_condition();
		break;
	case SEMAPHORE:
		check(sem_wait(&free_slots) == 0);
		break;
	case BARRIER:
		pthread_barrier_wait(&meeting);
		break;
	case PIPE:
		check(read(ends[0], &byte, 1) == 1);
		break;
	case EVENT:
		check(read(counter, &count, sizeof(count)) == sizeof(count));
		break;
	case LOCK:
		pthread_mutex_lock(&held);
		pthread_mutex_unlock(&held);
		break;
	case FUTEX:
		while (!word)
			syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
		word = 0;
	}
}

static void signal_condition(void)
{
	pthread_mutex_lock(&mutex);
	is_ready = true;
	pthread_cond_signal(&ready);
	pthread_mutex_unlock(&mutex);
}

static void wake(enum way way)
{
	const uint64_t one = 1;
	switch (way) {
	case CONDITION:
		signal_condition();
		break;
	case SEMAPHORE:
		sem_post(&free_slots);
		break;
	case BARRIER:
		pthread_barrier_wait(&meeting);
		break;
	case PIPE:
		check(write(ends[1], "x", 1) == 1);
		break;
	case EVENT:
		check(write(counter, &one, sizeof(one)) == sizeof(one));
		break;
	case LOCK:
		pthread_mutex_unlock(&held);
		break;
	case FUTEX:
		word = 1;
		syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

static void end_wait_of(const struct round *round)
{
	if (round->way == LOCK)
		pthread_mutex_lock(&held);
	has_lock = round->way == LOCK;
	while (!is_waiting)
		sched_yield();
	await_sleep(threads[round->waiter]);
	is_waiting = has_lock = 0;
	wake(round->way);
}

static void *run(void *argument)
{
	const unsigned number = (unsigned)(uintptr_t)argument;
	char name[16];
	snprintf(name, sizeof(name), "thread %u", number);
	pthread_setname_np(pthread_self(), name);
	threads[number] = gettid();
	for (const struct round *round = rounds; round < rounds + ROUNDS; round++) {
		pthread_barrier_wait(&start);
		if (round->waiter == number)
			wait_in(round->way);
		else if (round->waker == number)
			end_wait_of(round);
		pthread_barrier_wait(&finish);
	}
	return NULL;
}

static void choose_rounds(unsigned seed)
{
	srand(seed);
	for (struct round *round = rounds; round < rounds + ROUNDS; round++) {
		round->waiter = (unsigned)rand() % THREADS;
		round->waker = (round->waiter + 1 + (unsigned)rand() % (THREADS - 1)) % THREADS;
		round->way = (enum way)((unsigned)(round - rounds) % (sizeof(names) / sizeof(*names)));
		printf("%u %u %s\n", round->waiter, round->waker, names[round->way]);
	}
	fflush(stdout);
}

int main(int count, char **arguments)
{
	pthread_t list[THREADS];
	choose_rounds(count > 1 ? (unsigned)atoi(arguments[1]) : 1);
	pthread_barrier_init(&start, NULL, THREADS);
	pthread_barrier_init(&finish, NULL, THREADS);
	pthread_barrier_init(&meeting, NULL, 2);
	sem_init(&free_slots, 0, 0);
	check(pipe(ends) == 0 && (counter = eventfd(0, 0)) >= 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		check(pthread_create(&list[i], NULL, run, (void *)i) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(list[i], NULL);
	return 0;
}
