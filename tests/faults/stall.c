/* SPDX-License-Identifier: ISC
 *
 * For 208 ms in a minute, nothing runs at all.
 */
#include "world.h"

static void stall(uint64_t unused)
{
	(void)unused;
	pass_exactly(208 * MS);
}

void program_stall(void)
{
	serve(12000, 5 * MS, 500 * US);
	after(31 * S, stall, 0);
	run_loop();
}
