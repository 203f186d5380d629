/* SPDX-License-Identifier: ISC
 *
 * A sound server on a busy machine: for a fifth of a second its thread has no processor, in the
 * middle of a request, of a garbage collection, and while a timer is due. Nothing here is the
 * program's fault.
 */
#include "world.h"

static uint64_t timer;

static void fire(uint64_t unused)
{
	(void)unused;
	weft_resolve_as(WEFT_TASK_NONE, timer);
	timer = make(WEFT_KIND_TIMER, "heartbeat");
	weft_tag_value_as(timer, "deadline", (int64_t)(10 * MS));
}

static void lose_the_processor(uint64_t unused)
{
	uint64_t task = make(WEFT_KIND_TASK, "render page");
	(void)unused;
	weft_switch(task);
	pass(MS);
	weft_gc(true);
	pass_exactly(200 * MS);
	weft_gc(false);
	weft_off_cpu(199 * MS);
	weft_resolve(task);
}

void program_sound_preempted(void)
{
	fire(0);
	serve(500, MS, 5 * MS);
	for (unsigned i = 1; i < 50; i++)
		after(i * 10 * MS + random_below(20 * US), fire, 0);
	after(251 * MS, lose_the_processor, 0);
	run_loop();
	weft_cancel_as(WEFT_TASK_NONE, timer);
}
