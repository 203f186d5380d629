/* SPDX-License-Identifier: ISC
 *
 * Six clients share a pool of two connections: each of their requests waits twice as long for a
 * connection as it uses it.
 */
#include "world.h"

#define CLIENTS     6
#define CONNECTIONS 2
#define REQUESTS    60 /* of each client */

static uint64_t pool, waiting[CLIENTS * REQUESTS];
static unsigned first, last, in_use, made;

static void begin(uint64_t unused);

static void end(uint64_t task)
{
	weft_switch(task);
	pass(20 * US);
	weft_release(pool);
	weft_resolve(task);
	weft_switch(WEFT_TASK_NONE);
	in_use--;
	if (made < CLIENTS * REQUESTS)
		after(about(100 * US), begin, 0);
	if (first == last)
		return;
	uint64_t next = waiting[first++];
	weft_switch(next);
	weft_acquire(pool);
	pass(20 * US);
	weft_switch(WEFT_TASK_NONE);
	in_use++;
	after(about(4 * MS), end, next);
}

static void begin(uint64_t unused)
{
	uint64_t task = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	(void)unused;
	weft_labelf_as(task, "order %d", (int)made++);
	weft_switch(task);
	pass(30 * US);
	if (in_use < CONNECTIONS) {
		weft_acquire(pool);
		in_use++;
		after(about(4 * MS), end, task);
	} else {
		weft_try_read(pool);
		waiting[last++] = task;
	}
	weft_switch(WEFT_TASK_NONE);
}

void program_pool_too_small(void)
{
	pool = make(WEFT_KIND_POOL, "connections");
	serve(700, MS, 500 * US);
	for (unsigned i = 0; i < CLIENTS; i++)
		after(i * 200 * US, begin, 0);
	run_loop();
}
