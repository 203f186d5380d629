/* SPDX-License-Identifier: ISC
 *
 * Three requests fail for one reason, which is one problem.
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

void program_failures_alike(void)
{
	serve(500, MS, 500 * US);
	for (unsigned i = 0; i < 3; i++)
		after((100 + 120 * i) * MS, fail, 0);
	run_loop();
}
