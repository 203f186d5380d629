/* SPDX-License-Identifier: ISC
 *
 * Sound: four threads take jobs from a queue, whose lock they hold for some us each time.
 */
#include "world.h"

static uint64_t lock;

static void work(uint64_t thread)
{
	uint64_t job = make(WEFT_KIND_TASK, "job");
	on_thread((unsigned)thread);
	weft_switch(job);
	weft_acquire(lock);
	pass(2 * US);
	weft_release(lock);
	pass(200 * US);
	weft_resolve(job);
	weft_switch(WEFT_TASK_NONE);
	on_thread(0);
}

void program_sound_threads(void)
{
	lock = make(WEFT_KIND_LOCK, "queue");
	for (unsigned i = 0; i < 2000; i++)
		after(i * MS + random_below(500 * US), work, 1 + i % 4);
	run_loop();
}
