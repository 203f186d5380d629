/* SPDX-License-Identifier: ISC
 *
 * A library that rough-subject loads and unloads: it makes threads that wait for its own lock, also
 * in its constructor.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static pthread_mutex_t plugins_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int waiting;
static int sum;

static void *add(void *unused)
{
	atomic_fetch_add(&waiting, 1);
	pthread_mutex_lock(&plugins_lock);
	sum++;
	pthread_mutex_unlock(&plugins_lock);
	return unused;
}

static void add_twice(void)
{
	pthread_t threads[2];
	pthread_mutex_lock(&plugins_lock);
	atomic_store(&waiting, 0);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, add, NULL))
			return;
	while (atomic_load(&waiting) < 2)
		sched_yield();
	pthread_mutex_unlock(&plugins_lock);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

__attribute__((constructor)) static void begin(void)
{
	add_twice();
}

int rough_work(void);

__attribute__((visibility("default"))) int rough_work(void)
{
	add_twice();
	return sum;
}
