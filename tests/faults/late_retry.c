/* SPDX-License-Identifier: ISC
 *
 * Lookups ask a server and wait at most 50 ms for its answer. One of them times out three times
 * before the fourth attempt is answered, so its caller waits for 150 ms.
 */
#include "world.h"

#define LOOKUPS 200
#define UNLUCKY 120

static uint64_t lookups[LOOKUPS], attempts[LOOKUPS];
static unsigned tries;

static void attempt(uint64_t number);

static void answer(uint64_t number)
{
	weft_resolve_as(WEFT_TASK_NONE, attempts[number]);
	weft_switch(lookups[number]);
	weft_read(attempts[number]);
	pass(20 * US);
	weft_resolve(lookups[number]);
	weft_switch(WEFT_TASK_NONE);
}

static void time_out(uint64_t number)
{
	weft_time_out_as(WEFT_TASK_NONE, attempts[number]);
	weft_read_as(lookups[number], attempts[number]);
	attempt(number);
}

static void attempt(uint64_t number)
{
	weft_switch(lookups[number]);
	pass(10 * US);
	attempts[number] = weft_create(WEFT_KIND_PROMISE);
	weft_label_as(attempts[number], "ask 10.0.0.2");
	weft_try_read(attempts[number]);
	weft_switch(WEFT_TASK_NONE);
	if (number == UNLUCKY && ++tries < 4)
		after(50 * MS, time_out, number);
	else
		after(about(400 * US), answer, number);
}

static void begin(uint64_t number)
{
	lookups[number] = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	weft_labelf_as(lookups[number], "lookup %d", (int)number);
	attempt(number);
}

void program_late_retry(void)
{
	serve(1000, MS, 500 * US);
	for (unsigned i = 0; i < LOOKUPS; i++)
		after(i * 5 * MS + random_below(MS), begin, i);
	run_loop();
}
