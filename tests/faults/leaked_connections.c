/* SPDX-License-Identifier: ISC
 *
 * Three of a pool's four connections are never given back, by queries that meet an error. The last
 * one serves all others, late, until the end.
 */
#include "world.h"

#define QUERIES     2000
#define CONNECTIONS 4
#define LOST        3

static uint64_t pool, queue[QUERIES];
static unsigned idle = CONNECTIONS, first, last, lost;

static void serve_query(uint64_t task);

static void finish(uint64_t task)
{
	weft_switch(task);
	pass(10 * US);
	if (lost < LOST && random_below(100) == 0) {
		lost++;
	} else {
		weft_release(pool);
		idle++;
	}
	weft_resolve(task);
	if (idle && first < last)
		serve_query(queue[first++]);
}

static void serve_query(uint64_t task)
{
	idle--;
	weft_switch(task);
	weft_acquire(pool);
	pass(10 * US);
	after(MS + random_below(MS), finish, task);
}

static void come(uint64_t number)
{
	uint64_t task = make(WEFT_KIND_TASK, "query");
	if (idle) {
		serve_query(task);
	} else {
		weft_switch(task);
		weft_try_read(pool);
		queue[last++] = task;
	}
	if (number < QUERIES)
		after(MS + random_below(MS), come, number + 1);
}

void program_leaked_connections(void)
{
	pool = make(WEFT_KIND_POOL, "connections");
	come(1);
	run_loop();
}
