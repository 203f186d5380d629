/* SPDX-License-Identifier: ISC
 *
 * Twelve threads work, and then want one mutex: one has it, and eleven wait. Their tasks run all
 * the while, as far as the trace shows, because a thread that waits for a mutex does not say so.
 */
#include "world.h"

#define WORKERS 12

static uint64_t lock, tasks[WORKERS];
static unsigned next = 1;

static void begin(uint64_t number)
{
	on_thread(1 + (unsigned)number);
	tasks[number] = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	weft_labelf_as(tasks[number], "worker %d", (int)number);
	weft_switch(tasks[number]);
	on_thread(0);
}

static void want(uint64_t number)
{
	on_thread(1 + (unsigned)number);
	weft_resolve(weft_create(WEFT_KIND_PROMISE));
	if (number == 0)
		weft_acquire(lock);
	else
		weft_try_read(lock);
	on_thread(0);
}

static void hand_over(uint64_t number)
{
	on_thread(1 + (unsigned)number);
	weft_release(lock);
	weft_resolve(tasks[number]);
	weft_switch(WEFT_TASK_NONE);
	pass(3 * US);
	if (next < WORKERS) {
		on_thread(1 + next);
		weft_acquire(lock);
		after(about(3 * MS), hand_over, next++);
	}
	on_thread(0);
}

void program_contention_threads(void)
{
	lock = make(WEFT_KIND_LOCK, "db");
	serve(200, MS, 500 * US);
	for (uint64_t i = 0; i < WORKERS; i++)
		after(20 * MS + i * 10 * US, begin, i);
	for (uint64_t i = 0; i < WORKERS; i++)
		after(50 * MS + i * 10 * US, want, i);
	after(53 * MS, hand_over, 0);
	run_loop();
}
