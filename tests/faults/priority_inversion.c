/* SPDX-License-Identifier: ISC
 *
 * A task of low priority holds a lock while others keep it from running; the urgent task waits.
 */
#include "world.h"

static struct turns turns;

static void begin(uint64_t number)
{
	const char *label = number == 50 ? "backup" : number == 51 ? "urgent" : "update";
	uint64_t task = make(WEFT_KIND_TASK, label);
	weft_switch(task);
	pass(5 * US);
	want_turn(&turns, task, number == 50 ? 40 * MS : 100 * US);
}

void program_priority_inversion(void)
{
	turns.lock = make(WEFT_KIND_LOCK, "table");
	serve(1000, MS, 500 * US);
	for (unsigned i = 0; i < 100; i++)
		after(i < 51 ? i * 5 * MS : 40 * MS + i * 5 * MS, begin, i);
	after(251 * MS, begin, 51);
	run_loop();
}
