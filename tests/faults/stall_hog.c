/* SPDX-License-Identifier: ISC
 *
 * For 208 ms in a minute, one task keeps the loop from all others.
 */
#include "world.h"

static void compact(uint64_t unused)
{
	uint64_t task = make(WEFT_KIND_TASK, "compact index");
	(void)unused;
	weft_switch(task);
	pass_exactly(208 * MS);
	weft_resolve(task);
}

void program_stall_hog(void)
{
	serve(12000, 5 * MS, 2 * MS);
	after(31 * S, compact, 0);
	run_loop();
}
