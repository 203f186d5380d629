/* SPDX-License-Identifier: ISC
 *
 * Twelve workers begin at once and want one lock: one has it, and eleven wait.
 */
#include "world.h"

static uint64_t lock, holder;
static uint64_t queue[1024];
static unsigned first, last;

static void finish(uint64_t task);

static void take(uint64_t task, uint64_t hold_ns)
{
	holder = task;
	weft_switch(task);
	weft_acquire(lock);
	pass(20 * US);
	weft_switch(WEFT_TASK_NONE);
	after(about(hold_ns), finish, task);
}

static void finish(uint64_t task)
{
	weft_switch(task);
	weft_release(lock);
	holder = 0;
	weft_resolve(task);
	if (first < last)
		take(queue[first++], 3 * MS);
}

static void begin(uint64_t unused)
{
	uint64_t task = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	(void)unused;
	weft_labelf_as(task, "worker %d", (int)last);
	weft_switch(task);
	pass(5 * US);
	if (!holder) {
		take(task, 3 * MS);
		return;
	}
	weft_try_read(lock);
	weft_switch(WEFT_TASK_NONE);
	queue[last++] = task;
}

void program_contention(void)
{
	lock = make(WEFT_KIND_LOCK, "db");
	serve(200, MS, 500 * US);
	for (unsigned i = 0; i < 12; i++)
		after(50 * MS + i * 10 * US, begin, 0);
	run_loop();
}
