/* SPDX-License-Identifier: ISC
 *
 * A request fails, and no task reads the failure.
 */
#include "world.h"

static void fail(uint64_t unused)
{
	uint64_t task = make(WEFT_KIND_TASK, "store order");
	(void)unused;
	weft_switch(task);
	pass(100 * US);
	weft_fail(task, "disk full");
}

void program_failure(void)
{
	serve(500, MS, 500 * US);
	after(250 * MS, fail, 0);
	run_loop();
}
