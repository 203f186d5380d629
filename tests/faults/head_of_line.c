/* SPDX-License-Identifier: ISC
 *
 * A connection answers its requests in the order in which they came. One of them takes 200 ms, and
 * all that come after it wait behind it.
 */
#include "world.h"

#define CALLS 300
#define LONG  100 /* the call that holds up the others */

static uint64_t connection, calls[CALLS];
static unsigned came, served;
static bool is_busy;

static void finish(uint64_t number);

static void serve_next(void)
{
	if (is_busy || served == came)
		return;
	is_busy = true;
	weft_switch(calls[served]);
	weft_acquire(connection);
	pass(20 * US);
	weft_switch(WEFT_TASK_NONE);
	after(about(served == LONG ? 200 * MS : 300 * US), finish, served);
	served++;
}

static void finish(uint64_t number)
{
	weft_switch(calls[number]);
	pass(20 * US);
	weft_release(connection);
	weft_resolve(calls[number]);
	weft_switch(WEFT_TASK_NONE);
	is_busy = false;
	serve_next();
}

static void begin(uint64_t number)
{
	calls[number] = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	weft_labelf_as(calls[number], "call %d", (int)number);
	weft_switch(calls[number]);
	pass(20 * US);
	if (is_busy)
		weft_try_read(connection);
	weft_switch(WEFT_TASK_NONE);
	came++;
	serve_next();
}

void program_head_of_line(void)
{
	connection = make(WEFT_KIND_QUEUE, "connection 7");
	serve(800, MS, 500 * US);
	for (unsigned i = 0; i < CALLS; i++)
		after(i * 2 * MS + random_below(MS), begin, i);
	run_loop();
}
