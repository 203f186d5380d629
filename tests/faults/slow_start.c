/* SPDX-License-Identifier: ISC
 *
 * The first twelve requests take 20 ms, until the cache is filled.
 */
#include "world.h"

static unsigned requests;

static void request(uint64_t unused)
{
	(void)unused;
	serve_one(requests++ < 12 ? 20 * MS : 500 * US);
}

void program_slow_start(void)
{
	for (unsigned i = 0; i < 600; i++)
		after(i * MS, request, 0);
	run_loop();
}
