/* SPDX-License-Identifier: ISC
 *
 * A task runs again and again without a pause, and nothing comes of it, beside requests.
 */
#include "world.h"

static uint64_t watch;
static unsigned turns;

static void spin(uint64_t unused)
{
	(void)unused;
	weft_switch(watch);
	pass(20 * US);
	weft_switch(WEFT_TASK_NONE);
	if (++turns < 10000)
		after(US, spin, 0);
}

void program_spinning(void)
{
	watch = make(WEFT_KIND_TASK, "watch directory");
	serve(100, 2 * MS, 500 * US);
	after(US, spin, 0);
	run_loop();
}
