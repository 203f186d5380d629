/* SPDX-License-Identifier: ISC
 *
 * Each request waits for a reply, which should come. Two replies are lost: a time-out ends the
 * waits for them.
 */
#include "world.h"

#define REQUESTS 40

static uint64_t requests[REQUESTS], replies[REQUESTS];

static void go_on(uint64_t number)
{
	weft_switch(requests[number]);
	weft_read(replies[number]);
	pass(30 * US);
	weft_resolve(requests[number]);
	weft_switch(WEFT_TASK_NONE);
}

static void reply(uint64_t number)
{
	weft_resolve_as(WEFT_TASK_NONE, replies[number]);
	go_on(number);
}

static void time_out(uint64_t number)
{
	weft_time_out_as(WEFT_TASK_NONE, replies[number]);
	go_on(number);
}

static void begin(uint64_t number)
{
	requests[number] = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	weft_labelf_as(requests[number], "request %d", (int)number);
	weft_switch(requests[number]);
	pass(30 * US);
	replies[number] = weft_create(WEFT_KIND_PROMISE);
	weft_labelf_as(replies[number], "reply %d", (int)number);
	weft_expect_as(replies[number]);
	weft_try_read(replies[number]);
	weft_switch(WEFT_TASK_NONE);
	if (number == 11 || number == 27)
		after(50 * MS, time_out, number);
	else
		after(about(2 * MS), reply, number);
}

void program_timed_out(void)
{
	serve(200, MS, 500 * US);
	for (unsigned i = 0; i < REQUESTS; i++)
		after(i * 5 * MS, begin, i);
	run_loop();
}
