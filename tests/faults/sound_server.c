/* SPDX-License-Identifier: ISC
 *
 * Sound: requests whose queries take any time up to many times the usual one, as in reality.
 */
#include "world.h"

static void request(uint64_t unused)
{
	uint64_t ns = 200 * US;
	(void)unused;
	while (random_below(2) && ns < 10 * MS)
		ns += ns / 2;
	serve_one(ns);
}

void program_sound_server(void)
{
	for (unsigned i = 0; i < 5000; i++)
		after(i * MS + random_below(MS), request, 0);
	run_loop();
}
