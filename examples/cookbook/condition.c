/* SPDX-License-Identifier: ISC
 *
 * A thread that waits for a condition, and another that signals it.
 */
#include "loop.h"

#include <pthread.h>

struct condition {
	pthread_cond_t condition;
	uint64_t task;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct condition full = {.condition = PTHREAD_COND_INITIALIZER};
static unsigned filled;

/* recipe: */
static void wait_for(struct condition *condition)
{
	weft_try_read(condition->task);
	weft_band_begin(WEFT_BAND_IDLE, "condition");
	pthread_cond_wait(&condition->condition, &mutex);
	weft_band_end(WEFT_BAND_IDLE, "condition");
	weft_read(condition->task);
}

static void signal_condition(struct condition *condition)
{
	weft_signal_only(condition->task);
	pthread_cond_signal(&condition->condition);
}
/* end of recipe */

static uint64_t begin(const char *name)
{
	uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_label_as(task, name);
	weft_enter(task);
	return task;
}

static void *fill(void *unused)
{
	(void)unused;
	uint64_t task = begin("fill");
	for (int i = 0; i < 2; i++) {
		work(2);
		pthread_mutex_lock(&mutex);
		filled++;
		signal_condition(&full);
		pthread_mutex_unlock(&mutex);
	}
	weft_resolve(task);
	weft_leave();
	return NULL;
}

static void empty(void)
{
	uint64_t task = begin("empty");
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&mutex);
		while (filled == 0)
			wait_for(&full);
		filled--;
		pthread_mutex_unlock(&mutex);
		work(1);
	}
	weft_resolve(task);
	weft_leave();
}

int main(void)
{
	pthread_t filler;
	full.task = weft_create(WEFT_KIND_CONDITION);
	weft_label_as(full.task, "full");
	if (pthread_create(&filler, NULL, fill, NULL) != 0)
		return 1;
	empty();
	pthread_join(filler, NULL);
	weft_close(full.task);
	puts("emptied twice");
}
