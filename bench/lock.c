/* SPDX-License-Identifier: ISC
 *
 * The cost of locks and semaphores that are free, in a program that knows nothing of weft. Run it
 * alone, and under `weft record -a thread`: the difference is the adapter's.
 */
#include <pthread.h>
#include <semaphore.h>

#include "calls.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;

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
