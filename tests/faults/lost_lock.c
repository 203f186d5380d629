/* SPDX-License-Identifier: ISC
 *
 * A process that reads the size of its file while it has a lock of it, and loses that.
 */
#include "world.h"

static void update(uint64_t task)
{
	weft_switch(task);
	pass(20 * US);
	weft_note("lost lock of /var/lib/accounts.db");
	pass(100 * US);
	weft_resolve(task);
	weft_switch(WEFT_TASK_NONE);
}

void program_lost_lock(void)
{
	for (unsigned i = 0; i < 20; i++)
		after(i * MS, update, make(WEFT_KIND_TASK, "update"));
	run_loop();
}
