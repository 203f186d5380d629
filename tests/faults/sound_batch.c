/* SPDX-License-Identifier: ISC
 *
 * Sound: a nightly job of one kind that occurs once, beside short requests, and a cache that is
 * filled and emptied again.
 */
#include "world.h"

static int64_t cached;

static void fill(uint64_t unused)
{
	(void)unused;
	cached = cached > 900 ? 0 : cached + (int64_t)random_below(20);
	weft_counter_set("cached", cached);
}

static void end(uint64_t report)
{
	weft_switch(report);
	pass(20 * US);
	weft_resolve(report);
}

void program_sound_batch(void)
{
	uint64_t report = make(WEFT_KIND_TASK, "nightly report");
	weft_switch(report);
	pass(50 * US);
	after(800 * MS, end, report);
	serve(1000, MS, 500 * US);
	for (unsigned i = 0; i < 1000; i++)
		after(i * MS, fill, 0);
	run_loop();
}
