/* SPDX-License-Identifier: ISC
 *
 * Four tasks have the four connections of a pool, and each waits for two tasks of its own, which
 * want one as well. In the second program one of the four gives its connection back after a
 * while, and so the others get on.
 */
#include "world.h"

#define PARENTS  4
#define CHILDREN 2

static uint64_t pool, parents[PARENTS], joins[PARENTS], children[PARENTS * CHILDREN];
static unsigned first_waiting, left[PARENTS];

static void take(uint64_t number)
{
	parents[number] = make(WEFT_KIND_TASK, "crawl");
	weft_switch(parents[number]);
	weft_acquire(pool);
	pass(40 * US);
}

static void wait_for_children(uint64_t number)
{
	weft_switch(parents[number]);
	joins[number] = weft_create(WEFT_KIND_JOIN);
	left[number] = CHILDREN;
	for (unsigned i = 0; i < CHILDREN; i++) {
		children[number * CHILDREN + i] = make(WEFT_KIND_TASK, "crawl page");
		weft_try_read_as(joins[number], children[number * CHILDREN + i]);
	}
	weft_try_read(joins[number]);
	for (unsigned i = 0; i < CHILDREN; i++) {
		weft_switch(children[number * CHILDREN + i]);
		pass(10 * US);
		weft_try_read(pool);
	}
}

static void end_parent(uint64_t number)
{
	weft_switch(parents[number]);
	weft_read(joins[number]);
	weft_release(pool);
	weft_resolve(parents[number]);
}

/* The next child has a connection, and ends. */
static void serve_child(uint64_t unused)
{
	(void)unused;
	uint64_t child = first_waiting++, parent = child / CHILDREN;
	weft_switch(children[child]);
	weft_acquire(pool);
	pass(100 * US);
	weft_release(pool);
	weft_resolve(children[child]);
	weft_read_as(joins[parent], children[child]);
	if (--left[parent] == 0 && parent > 0) {
		weft_resolve(joins[parent]);
		after(10 * US, end_parent, parent);
	}
	if (first_waiting < PARENTS * CHILDREN)
		after(20 * US, serve_child, 0);
}

static void give_back(uint64_t number)
{
	weft_switch(parents[number]);
	weft_release(pool);
	weft_resolve(parents[number]);
	weft_cancel(joins[number]);
	after(20 * US, serve_child, 0);
}

static void begin(void)
{
	pool = make(WEFT_KIND_POOL, "connections");
	serve(300, MS, 500 * US);
	for (uint64_t i = 0; i < PARENTS; i++) {
		after(100 * MS + i * MS, take, i);
		after(110 * MS + i * MS, wait_for_children, i);
	}
}

void program_nested_pool(void)
{
	begin();
	run_loop();
}

void program_nested_pool_goes_on(void)
{
	begin();
	after(115 * MS, give_back, 0);
	run_loop();
}
