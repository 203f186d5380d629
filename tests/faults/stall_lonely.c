/* SPDX-License-Identifier: ISC
 *
 * For 208 ms in a minute, one task keeps the loop from all others. No task waits for it: the loop
 * makes each frame only when it draws it.
 */
#include "world.h"

#define FRAMES 12000

static void run_task(const char *label, uint64_t ns)
{
	uint64_t task = make(WEFT_KIND_TASK, label);
	weft_switch(task);
	pass(ns);
	weft_resolve(task);
}

static void draw(uint64_t number)
{
	if (number == 7000)
		run_task("resolve host", 208 * MS);
	else
		run_task("frame", 300 * US);
	if (number < FRAMES)
		after(5 * MS, draw, number + 1);
}

void program_stall_lonely(void)
{
	draw(1);
	run_loop();
}
