/* SPDX-License-Identifier: ISC
 *
 * A task ends with a lock that it has taken, and others wait for it for ever.
 */
#include "world.h"

static uint64_t lock;

static void leave(uint64_t unused)
{
	uint64_t task = make(WEFT_KIND_TASK, "import");
	(void)unused;
	weft_switch(task);
	weft_acquire(lock);
	pass(300 * US);
	weft_resolve(task);
}

static void want(uint64_t unused)
{
	(void)unused;
	weft_switch(make(WEFT_KIND_TASK, "query"));
	pass(10 * US);
	weft_try_read(lock);
}

void program_never_released(void)
{
	lock = make(WEFT_KIND_LOCK, "cache");
	serve(300, MS, 500 * US);
	after(100 * MS, leave, 0);
	for (unsigned i = 0; i < 3; i++)
		after((110 + 20 * i) * MS, want, 0);
	run_loop();
}
