/* SPDX-License-Identifier: ISC
 *
 * Jobs for a pool of two threads: how long each waits for a thread, and behind which job.
 */
#include "loop.h"

#include <pthread.h>

enum {
	JOBS = 4,
	THREADS = 2
};

struct job {
	uint64_t task;
	double ms;
};

static struct job jobs[JOBS];
static unsigned taken;
static uint64_t pool;

/* recipe: */
static void submit(struct job *job, const char *name)
{
	job->task = weft_create(WEFT_KIND_TASK);
	weft_label_as(job->task, name);
	weft_try_read_as(job->task, pool); /* it is queued from now on */
}

static void run_job(struct job *job)
{
	weft_enter(job->task);
	weft_acquire(pool);
	work(job->ms);
	weft_release(pool);
	weft_resolve(job->task);
	weft_leave();
}
/* end of recipe */

static void *run_jobs(void *unused)
{
	(void)unused;
	for (unsigned next; (next = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED)) < JOBS;)
		run_job(&jobs[next]);
	return NULL;
}

int main(void)
{
	static const char *const names[JOBS] = {"resize", "compress", "upload", "log"};
	pthread_t threads[THREADS];
	pool = weft_create(WEFT_KIND_POOL);
	weft_label_as(pool, "pool");
	for (unsigned i = 0; i < JOBS; i++) {
		jobs[i].ms = 1 + i % 3;
		submit(&jobs[i], names[i]);
	}
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run_jobs, NULL) != 0)
			return 1;
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	weft_close(pool);
	puts("4 jobs");
}
