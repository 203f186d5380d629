/* SPDX-License-Identifier: ISC
 *
 * Threads hand work to each other: one deals out jobs, three do them, and the first collects the
 * results in order. A job is a task of its own: it is created on one thread, runs on the thread
 * that takes it, and ends there.
 *
 * Look for this: which thread took which job, and how one long job holds up the collector while
 * the other jobs are long done.
 *
 *     weft record -o threads.weft build/examples/threads
 */
#define _GNU_SOURCE /* pthread_setname_np */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/weft.h>

enum {
	JOBS = 24,
	WORKERS = 3,
};

struct job {
	uint64_t task;
	unsigned from, to; /* count the primes between them */
	unsigned primes;
	bool is_done;
};

static struct job jobs[JOBS];
static unsigned dealt, taken; /* jobs so far */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t dealt_more = PTHREAD_COND_INITIALIZER;
static pthread_cond_t done_more = PTHREAD_COND_INITIALIZER;

static bool is_prime(unsigned n)
{
	for (unsigned divisor = 2; divisor * divisor <= n; divisor++)
		if (n % divisor == 0)
			return false;
	return n > 1;
}

/* ---- A worker ---- */

/* Takes the next job; NULL when there will be no more. */
static struct job *take_job(void)
{
	struct job *job = NULL;
	pthread_mutex_lock(&lock);
	if (dealt == taken && taken < JOBS) {
		weft_band_begin(WEFT_BAND_IDLE, "no job");
		while (dealt == taken && taken < JOBS)
			pthread_cond_wait(&dealt_more, &lock);
		weft_band_end(WEFT_BAND_IDLE, "no job");
	}
	if (taken < JOBS) {
		job = &jobs[taken++];
		weft_counter_set("jobs waiting", dealt - taken);
	}
	if (taken == JOBS)
		pthread_cond_broadcast(&dealt_more);
	pthread_mutex_unlock(&lock);
	return job;
}

static void do_job(struct job *job, const char *worker)
{
	weft_switch(job->task);
	weft_note(worker);
	for (unsigned n = job->from; n < job->to; n++)
		job->primes += is_prime(n);
	weft_tag_value("primes", job->primes);

	pthread_mutex_lock(&lock);
	job->is_done = true;
	weft_resolve(job->task);
	pthread_cond_signal(&done_more);
	pthread_mutex_unlock(&lock);
	weft_switch(WEFT_TASK_NONE);
}

static void *work(void *name)
{
	pthread_setname_np(pthread_self(), name);
	for (struct job *job; (job = take_job());)
		do_job(job, name);
	return NULL;
}

static pthread_t start_worker(char *name)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, work, name) != 0) {
		fputs("no thread\n", stderr);
		exit(1);
	}
	return thread;
}

/* ---- Dealing and collecting ---- */

static void deal(unsigned number)
{
	char name[32];
	struct job *job = &jobs[number];
	/* Every seventh is a long one. */
	job->from = 1000000 + number * 40000;
	job->to = job->from + (number % 7 == 3 ? 20000 : 5000);
	job->task = weft_create(WEFT_KIND_TASK);
	snprintf(name, sizeof(name), "primes from %u", job->from);
	weft_label_as(job->task, name);

	pthread_mutex_lock(&lock);
	dealt++;
	weft_counter_set("jobs waiting", dealt - taken);
	pthread_cond_signal(&dealt_more);
	pthread_mutex_unlock(&lock);
}

static unsigned collect(uint64_t collector, struct job *job)
{
	pthread_mutex_lock(&lock);
	if (!job->is_done) {
		weft_try_read(job->task);
		weft_band_begin(WEFT_BAND_IDLE, "not done");
		while (!job->is_done)
			pthread_cond_wait(&done_more, &lock);
		weft_band_end(WEFT_BAND_IDLE, "not done");
	}
	pthread_mutex_unlock(&lock);
	weft_read_as(collector, job->task);
	weft_counter_add("primes", job->primes);
	return job->primes;
}

int main(void)
{
	static char names[WORKERS][16];
	pthread_t workers[WORKERS];
	unsigned primes = 0;
	uint64_t collector = weft_create(WEFT_KIND_TASK);
	weft_label_as(collector, "count primes");
	weft_switch(collector);
	weft_expect();

	for (unsigned i = 0; i < WORKERS; i++) {
		snprintf(names[i], sizeof(names[i]), "worker %u", i + 1);
		workers[i] = start_worker(names[i]);
	}
	for (unsigned i = 0; i < JOBS; i++)
		deal(i);
	for (unsigned i = 0; i < JOBS; i++)
		primes += collect(collector, &jobs[i]);
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);

	weft_resolve(collector);
	weft_switch(WEFT_TASK_NONE);
	printf("%u primes in %u jobs\n", primes, (unsigned)JOBS);
}
