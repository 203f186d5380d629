/* SPDX-License-Identifier: ISC
 *
 * A task looks every 2 ms whether there is work, and there is none.
 */
#include "world.h"

static uint64_t task;

static void look(uint64_t unused)
{
	(void)unused;
	weft_switch(task);
	pass(20 * US);
}

void program_polling(void)
{
	task = make(WEFT_KIND_TASK, "look for mail");
	for (unsigned i = 0; i < 400; i++)
		after(i * 2 * MS, look, 0);
	serve(90, 8 * MS, 500 * US);
	run_loop();
	weft_resolve_as(WEFT_TASK_NONE, task);
}
