/* SPDX-License-Identifier: ISC
 *
 * A worker has a lock and waits for a reply that never comes. Every third request wants the lock,
 * from the first on; the others are served until the program ends as usual.
 */
#include "world.h"

static uint64_t lock;

static void begin(uint64_t number)
{
	uint64_t task = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	weft_labelf_as(task, "order %d", (int)number);
	weft_switch(task);
	pass(500 * US);
	if (number % 3 == 0)
		weft_try_read(lock);
	else
		weft_resolve(task);
	weft_switch(WEFT_TASK_NONE);
}

void program_outage(void)
{
	uint64_t worker = make(WEFT_KIND_TASK, "worker 5");
	uint64_t reply = make(WEFT_KIND_PROMISE, "reply of billing");
	lock = make(WEFT_KIND_LOCK, "database");
	weft_switch(worker);
	weft_acquire(lock);
	weft_try_read(reply);
	weft_switch(WEFT_TASK_NONE);
	for (unsigned i = 0; i < 60; i++)
		after(i * 10 * MS, begin, i);
	run_loop();
}

/* The only task waits for the reply until the program is killed. */
void program_hang(void)
{
	uint64_t client = make(WEFT_KIND_TASK, "client");
	uint64_t reply = make(WEFT_KIND_PROMISE, "reply of billing");
	serve(50, MS, 500 * US);
	run_loop();
	weft_switch(client);
	weft_try_read(reply);
	weft_switch(WEFT_TASK_NONE);
	pass(3 * S);
	world_status = 9;
}
