/* SPDX-License-Identifier: ISC
 *
 * Writers whose changes are committed together, every 50 ms: they begin one by one and end
 * together, always. And workers that wait for jobs, which come all at once, every 100 ms.
 */
#include "world.h"

#define WRITES  400
#define WORKERS 12
#define BATCHES 10

static uint64_t writes[WRITES], workers[WORKERS], jobs[WORKERS];
static unsigned begun, committed, batches, idle[WORKERS], idle_count;

static void begin_write(uint64_t number)
{
	writes[number] = make(WEFT_KIND_TASK, "write");
	begun = (unsigned)number + 1;
}

static void commit(uint64_t unused)
{
	(void)unused;
	for (; committed < begun; committed++) {
		weft_switch(writes[committed]);
		pass(10 * US);
		weft_resolve(writes[committed]);
		weft_switch(WEFT_TASK_NONE);
	}
	if (committed < WRITES)
		after(50 * MS, commit, 0);
}

static void want_job(uint64_t number)
{
	weft_switch(workers[number]);
	pass(20 * US);
	jobs[number] = weft_create(WEFT_KIND_PROMISE);
	weft_label_as(jobs[number], "Queue.get at work.py:3");
	weft_try_read(jobs[number]);
	weft_switch(WEFT_TASK_NONE);
	idle[idle_count++] = (unsigned)number;
}

static void add_jobs(uint64_t unused)
{
	(void)unused;
	for (; idle_count > 0; idle_count--) {
		unsigned number = idle[idle_count - 1];
		weft_resolve_as(WEFT_TASK_NONE, jobs[number]);
		weft_switch(workers[number]);
		weft_read(jobs[number]);
		pass(20 * US);
		weft_switch(WEFT_TASK_NONE);
		after(about(2 * MS) + random_below(40 * MS), want_job, number);
	}
	if (++batches < BATCHES)
		after(100 * MS, add_jobs, 0);
}

void program_sound_commits(void)
{
	for (unsigned i = 0; i < WRITES; i++)
		after(i * 2 * MS + random_below(MS), begin_write, i);
	after(50 * MS, commit, 0);
	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i] = make(WEFT_KIND_TASK, "worker");
		after(i * MS, want_job, i);
	}
	after(100 * MS, add_jobs, 0);
	run_loop();
}
