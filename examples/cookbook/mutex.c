/* SPDX-License-Identifier: ISC
 *
 * A mutex that shows for how long it is held, and which task has to wait for it.
 */
#include "loop.h"

#include <pthread.h>

struct mutex {
	pthread_mutex_t mutex;
	uint64_t task;
};

/* recipe: */
static void lock(struct mutex *mutex)
{
	if (pthread_mutex_trylock(&mutex->mutex) != 0) {
		weft_try_read(mutex->task);
		weft_band_begin(WEFT_BAND_IDLE, "mutex");
		pthread_mutex_lock(&mutex->mutex);
		weft_band_end(WEFT_BAND_IDLE, "mutex");
	}
	weft_acquire(mutex->task);
}

static void unlock(struct mutex *mutex)
{
	weft_release(mutex->task);
	pthread_mutex_unlock(&mutex->mutex);
}
/* end of recipe */

static struct mutex table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *update(void *name)
{
	uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_label_as(task, name);
	weft_enter(task);
	lock(&table);
	work(2);
	unlock(&table);
	work(0.5);
	weft_resolve(task);
	weft_leave();
	return NULL;
}

int main(void)
{
	static char names[3][16] = {"reader", "writer", "cleaner"};
	pthread_t threads[3];
	table.task = weft_create(WEFT_KIND_LOCK);
	weft_label_as(table.task, "table lock");
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, update, names[i]) != 0)
			return 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	weft_close(table.task);
	puts("3 updates");
}
