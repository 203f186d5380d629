/* SPDX-License-Identifier: ISC
 *
 * Two tasks take the same two locks in different orders.
 */
#include "world.h"

static uint64_t locks[2], tasks[2];

static void take_first(uint64_t number)
{
	tasks[number] = make(WEFT_KIND_TASK, number ? "refund" : "transfer");
	weft_switch(tasks[number]);
	weft_acquire(locks[number]);
	pass(40 * US);
}

static void take_second(uint64_t number)
{
	weft_switch(tasks[number]);
	pass(10 * US);
	weft_try_read(locks[1 - number]);
}

void program_deadlock(void)
{
	locks[0] = make(WEFT_KIND_LOCK, "accounts");
	locks[1] = make(WEFT_KIND_LOCK, "journal");
	serve(300, MS, 500 * US);
	for (uint64_t i = 0; i < 2; i++) {
		after(100 * MS + i * MS, take_first, i);
		after(110 * MS + i * MS, take_second, i);
	}
	run_loop();
}
