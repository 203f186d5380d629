/* SPDX-License-Identifier: ISC
 *
 * Twelve workers begin at once and want one lock: one has it, and eleven wait.
 */
#include "world.h"

static struct turns turns;

static void begin(uint64_t number)
{
	uint64_t task = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	weft_labelf_as(task, "worker %d", (int)number);
	weft_switch(task);
	pass(5 * US);
	want_turn(&turns, task, 3 * MS);
}

void program_contention(void)
{
	turns.lock = make(WEFT_KIND_LOCK, "db");
	serve(200, MS, 500 * US);
	for (unsigned i = 0; i < 12; i++)
		after(50 * MS + i * 10 * US, begin, i);
	run_loop();
}
