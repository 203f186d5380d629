/* SPDX-License-Identifier: ISC
 *
 * A task works for 30 ms, and a timer of 10 ms fires when it lets go.
 */
#include "world.h"

static uint64_t timer;

static void set_timer(uint64_t ns)
{
	timer = make(WEFT_KIND_TIMER, "heartbeat");
	weft_tag_value_as(timer, "deadline", (int64_t)ns);
}

static void fire(uint64_t unused)
{
	(void)unused;
	weft_resolve_as(WEFT_TASK_NONE, timer);
	set_timer(10 * MS);
}

static void work(uint64_t unused)
{
	uint64_t task = make(WEFT_KIND_TASK, "sort");
	(void)unused;
	weft_switch(task);
	pass(30 * MS);
	weft_resolve(task);
}

void program_late_timer(void)
{
	set_timer(10 * MS);
	for (unsigned i = 1; i < 80; i++)
		after(i * 10 * MS + random_below(20 * US), fire, 0);
	after(405 * MS, work, 0);
	run_loop();
	weft_cancel_as(WEFT_TASK_NONE, timer);
}
