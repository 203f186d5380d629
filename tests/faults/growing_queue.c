/* SPDX-License-Identifier: ISC
 *
 * Jobs come faster than they are done from the middle of the trace on.
 */
#include "world.h"

static int64_t length;

static void come(uint64_t unused)
{
	(void)unused;
	weft_counter_set("queue", ++length);
}

static void done(uint64_t unused)
{
	(void)unused;
	if (length)
		weft_counter_set("queue", --length);
}

void program_growing_queue(void)
{
	serve(1000, MS, 500 * US);
	for (unsigned i = 0; i < 1000; i++) {
		after(i * MS, come, 0);
		if (i < 400 || i % 3)
			after(i * MS + 500 * US, done, 0);
	}
	run_loop();
}
