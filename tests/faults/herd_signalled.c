/* SPDX-License-Identifier: ISC
 *
 * A dispatcher signals each of its 24 workers for one job. The first worker that runs takes the
 * job, the others wait for the same condition again, which none of them reads.
 */
#include "world.h"

#define WORKERS 24

static uint64_t condition, dispatcher, workers[WORKERS];

static void wake_each(uint64_t number)
{
	weft_switch(dispatcher);
	for (unsigned i = 0; i < WORKERS; i++) {
		pass(US);
		weft_signal_only(workers[i]);
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		weft_switch(workers[(i + number) % WORKERS]);
		pass(5 * US);
		if (i == 0) {
			uint64_t job = weft_create(WEFT_KIND_PROMISE);
			pass(80 * US);
			weft_resolve(job);
		}
		weft_try_read(condition);
	}
}

void program_herd_signalled(void)
{
	condition = make(WEFT_KIND_CONDITION, "jobs");
	dispatcher = make(WEFT_KIND_TASK, "dispatcher");
	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i] = make(WEFT_KIND_TASK, "worker");
		weft_switch(workers[i]);
		pass(5 * US);
		weft_try_read(condition);
	}
	serve(300, MS, 300 * US);
	for (unsigned i = 0; i < 20; i++)
		after(10 * MS + i * 14 * MS, wake_each, i);
	run_loop();
}
