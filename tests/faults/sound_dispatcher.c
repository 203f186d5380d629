/* SPDX-License-Identifier: ISC
 *
 * A dispatcher that signals all of its 24 workers at once, with a job for each. Most jobs are work
 * that the trace does not show; one of them asks a query. Another dispatcher takes each job from a
 * queue before it signals the worker for it.
 */
#include "world.h"

#define WORKERS 24

static uint64_t condition, queue, dispatcher, workers[WORKERS];

static void work(unsigned i)
{
	weft_switch(workers[i]);
	pass(80 * US);
	if (i == 0) {
		uint64_t query = weft_create(WEFT_KIND_PROMISE);
		pass(80 * US);
		weft_resolve(query);
	}
	weft_try_read(condition);
}

static void wake_each(uint64_t number)
{
	weft_switch(dispatcher);
	for (unsigned i = 0; i < WORKERS; i++) {
		if (number % 2)
			weft_read(queue);
		pass(US);
		weft_signal_only(workers[i]);
	}
	for (unsigned i = 0; i < WORKERS; i++)
		work(i);
}

void program_sound_dispatcher(void)
{
	condition = make(WEFT_KIND_CONDITION, "jobs");
	queue = make(WEFT_KIND_PROMISE, "incoming");
	dispatcher = make(WEFT_KIND_TASK, "dispatcher");
	weft_resolve_as(WEFT_TASK_NONE, queue);
	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i] = make(WEFT_KIND_TASK, "worker");
		work(i);
	}
	for (unsigned i = 0; i < 20; i++)
		after(10 * MS + i * 14 * MS, wake_each, i);
	run_loop();
	for (unsigned i = 0; i < WORKERS; i++) {
		weft_switch(workers[i]);
		pass(5 * US);
		weft_resolve(workers[i]);
	}
}
