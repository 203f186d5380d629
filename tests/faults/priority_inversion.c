/* SPDX-License-Identifier: ISC
 *
 * A task of low priority holds a lock while others keep it from running; the urgent task waits.
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
	pass(10 * US);
	weft_release(lock);
	holder = 0;
	weft_resolve(task);
	if (first < last)
		take(queue[first++], 100 * US);
}

static void begin(uint64_t number)
{
	const char *label = number == 50 ? "backup" : number == 51 ? "urgent" : "update";
	uint64_t task = make(WEFT_KIND_TASK, label);
	weft_switch(task);
	pass(5 * US);
	if (!holder) {
		take(task, number == 50 ? 40 * MS : 100 * US);
		return;
	}
	weft_try_read(lock);
	weft_switch(WEFT_TASK_NONE);
	queue[last++] = task;
}

void program_priority_inversion(void)
{
	lock = make(WEFT_KIND_LOCK, "table");
	serve(1000, MS, 500 * US);
	for (unsigned i = 0; i < 100; i++)
		after(i < 51 ? i * 5 * MS : 40 * MS + i * 5 * MS, begin, i);
	after(251 * MS, begin, 51);
	run_loop();
}
