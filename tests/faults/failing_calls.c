/* SPDX-License-Identifier: ISC
 *
 * A server has no descriptors left: its loop is told of a connection that it cannot accept, again
 * and again. And 30 requests of 400 lose their connection, each once.
 */
#include "world.h"

static uint64_t listener;
static unsigned tries;

static void accept(uint64_t unused)
{
	(void)unused;
	weft_switch(listener);
	pass(20 * US);
	weft_note("accept: EMFILE");
	weft_switch(WEFT_TASK_NONE);
	if (++tries < 4000)
		after(about(50 * US), accept, 0);
}

static void end(uint64_t task)
{
	weft_switch(task);
	pass(20 * US);
	weft_resolve(task);
	weft_switch(WEFT_TASK_NONE);
}

static void send(uint64_t number)
{
	uint64_t task = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	weft_labelf_as(task, "upload %d", (int)number);
	weft_switch(task);
	pass(20 * US);
	if (number % 13 == 0)
		weft_note("send: EPIPE");
	weft_switch(WEFT_TASK_NONE);
	after(about(2 * MS), end, task);
}

void program_failing_calls(void)
{
	listener = make(WEFT_KIND_TASK, "accept :80");
	serve(400, MS, 500 * US);
	after(100 * MS, accept, 0);
	run_loop();
	weft_resolve_as(WEFT_TASK_NONE, listener);
}

void program_failing_calls_alike(void)
{
	for (unsigned i = 0; i < 400; i++)
		after(i * MS, send, i);
	run_loop();
}
