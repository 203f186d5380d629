/* SPDX-License-Identifier: ISC
 *
 * Three in ten calls run into a timer of 50 ms, in no order.
 */
#include "world.h"

#define CALLS 1000

static void answer(uint64_t call)
{
	weft_resolve(call);
}

static void send(uint64_t number)
{
	uint64_t call = make(WEFT_KIND_PROMISE, "call");
	after(random_below(10) < 3 ? 50 * MS : 2 * MS, answer, call);
	if (number < CALLS)
		after(5 * MS, send, number + 1);
}

void program_slow_at_random(void)
{
	send(1);
	run_loop();
}
