/* SPDX-License-Identifier: ISC
 *
 * Every 20th request misses the cache.
 */
#include "world.h"

static unsigned requests;

static void request(uint64_t unused)
{
	(void)unused;
	serve_one(requests++ % 20 == 7 ? 30 * MS : 500 * US);
}

void program_periodic(void)
{
	for (unsigned i = 0; i < 600; i++)
		after(i * MS, request, 0);
	run_loop();
}
