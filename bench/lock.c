/* SPDX-License-Identifier: ISC
 *
 * The cost of locks and semaphores that are free, in a program that knows nothing of weft. Run it
 * alone, and under `weft record -a thread`: the difference is the adapter's. The fastest of many
 * short rounds counts, since other programs disturb some of them.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum {
	CALLS = 10000,
	ROUNDS = 500
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Prints the ns of one `call`. */
#define MEASURE(name, call)                                     \
	do {                                                        \
		uint64_t best = UINT64_MAX;                             \
		for (int round = 0; round < ROUNDS; round++) {          \
			uint64_t begin = now_ns();                          \
			for (int i = 0; i < CALLS; i++) {                   \
				call;                                           \
			}                                                   \
			uint64_t ns = now_ns() - begin;                     \
			best = ns < best ? ns : best;                       \
		}                                                       \
		printf("%-26s %6.1f ns\n", name, (double)best / CALLS); \
	} while (0)

static void *nothing(void *unused)
{
	return unused;
}

int main(void)
{
	/* The C library takes other paths in programs that have only ever had one thread. */
	pthread_t thread;
	if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
		return 1;
	sem_init(&semaphore, 0, 0);
	MEASURE("lock and unlock", pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex));
	MEASURE("read lock and unlock", pthread_rwlock_rdlock(&rwlock); pthread_rwlock_unlock(&rwlock));
	MEASURE("post and wait", sem_post(&semaphore); sem_wait(&semaphore));
	MEASURE("signal without a waiter", pthread_cond_signal(&condition));
	return 0;
}
