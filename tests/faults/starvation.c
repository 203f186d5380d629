/* SPDX-License-Identifier: ISC
 *
 * An import takes the lock again at once whenever it has given it back; a query waits all along.
 */
#include "world.h"

static uint64_t lock, import, query;
static unsigned rounds;

static void work(uint64_t unused)
{
	(void)unused;
	weft_switch(import);
	if (rounds == 20) {
		query = make(WEFT_KIND_TASK, "query");
		weft_try_read_as(query, lock);
	}
	pass(10 * US);
	weft_release(lock);
	if (++rounds == 80) {
		weft_resolve(import);
		weft_switch(query);
		weft_acquire(lock);
		pass(30 * US);
		weft_release(lock);
		weft_resolve(query);
		return;
	}
	pass(US);
	weft_acquire(lock);
	pass(10 * US);
	weft_switch(WEFT_TASK_NONE);
	after(about(2 * MS), work, 0);
}

void program_starvation(void)
{
	lock = make(WEFT_KIND_LOCK, "table");
	import = make(WEFT_KIND_TASK, "import");
	weft_switch(import);
	weft_acquire(lock);
	weft_switch(WEFT_TASK_NONE);
	serve(200, MS, 500 * US);
	after(MS, work, 0);
	run_loop();
}
