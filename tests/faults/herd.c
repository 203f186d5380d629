/* SPDX-License-Identifier: ISC
 *
 * A condition wakes all sixteen workers for each job; one of them finds it, the others wait again.
 */
#include "world.h"

#define WORKERS 16

static uint64_t condition, workers[WORKERS];

static void wake_all(uint64_t number)
{
	weft_signal_only_as(WEFT_TASK_NONE, condition);
	for (unsigned i = 0; i < WORKERS; i++) {
		uint64_t worker = workers[(i + number) % WORKERS];
		weft_read_as(worker, condition);
		pass(10 * US);
		if (i == 0) {
			uint64_t job = weft_create(WEFT_KIND_PROMISE);
			pass(50 * US);
			weft_resolve(job);
		}
		weft_try_read(condition);
	}
}

void program_herd(void)
{
	condition = make(WEFT_KIND_CONDITION, "jobs");
	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i] = make(WEFT_KIND_TASK, "worker");
		weft_switch(workers[i]);
		pass(5 * US);
		weft_try_read(condition);
	}
	serve(300, MS, 300 * US);
	for (unsigned i = 0; i < 20; i++)
		after(10 * MS + i * 14 * MS, wake_all, i);
	run_loop();
}
