/* SPDX-License-Identifier: ISC
 *
 * Sound: timers that are set for very different times, and all fire when they are due.
 */
#include "world.h"

static void fire(uint64_t timer)
{
	weft_resolve_as(WEFT_TASK_NONE, timer);
}

static void set(uint64_t ns)
{
	uint64_t timer = make(WEFT_KIND_TIMER, "timer");
	weft_tag_value_as(timer, "deadline", (int64_t)ns);
	after(ns + random_below(50 * US), fire, timer);
}

void program_sound_timers(void)
{
	serve(500, 2 * MS, 500 * US);
	for (unsigned i = 0; i < 300; i++)
		after(i * 3 * MS, set, i % 30 == 7 ? 90 * MS : MS);
	run_loop();
}
