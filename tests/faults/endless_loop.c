/* SPDX-License-Identifier: ISC
 *
 * A task of a server gets into a loop that does not end, until the program is killed.
 */
#include "world.h"

static uint64_t sessions[5];

static void poll_session(uint64_t number)
{
	weft_switch(sessions[number]);
	pass(50 * US);
	weft_switch(WEFT_TASK_NONE);
}

void program_endless_loop(void)
{
	uint64_t task = make(WEFT_KIND_TASK, "parse header");
	for (unsigned i = 0; i < 5; i++)
		sessions[i] = open_session(i);
	for (unsigned i = 0; i < 500; i++)
		after(i * MS, poll_session, i % 5);
	run_loop();
	weft_switch(task);
	pass(3 * S);
	world_status = 9;
}

/* The same in a thread that has nothing else to do, of which another thread wants an answer. */
void program_endless_worker(void)
{
	uint64_t client = make(WEFT_KIND_TASK, "client"), job = make(WEFT_KIND_TASK, "render");
	weft_switch(client);
	pass(MS);
	uint64_t reply = make(WEFT_KIND_PROMISE, "reply");
	weft_try_read(reply);
	weft_switch(WEFT_TASK_NONE);
	on_thread(1);
	weft_switch(job);
	pass(3 * S);
	world_status = 9;
}
