/* SPDX-License-Identifier: ISC
 *
 * Sound: counters that only climb are totals; a server waits for the next connection when it is
 * stopped, and its timers fire in time.
 */
#include "world.h"

static uint64_t accept, server;
static int64_t bytes, connections;

static void wait_for_one(void)
{
	accept = make(WEFT_KIND_PROMISE, "accept");
	weft_try_read_as(server, accept);
	weft_switch(WEFT_TASK_NONE);
}

static void connect(uint64_t unused)
{
	(void)unused;
	weft_resolve_as(WEFT_TASK_NONE, accept);
	weft_read_as(server, accept);
	pass(20 * US);
	weft_counter_set("connections", ++connections);
	weft_counter_set("bytes", bytes += (int64_t)about(1000));
	serve_one(500 * US);
	wait_for_one();
}

static void tick(uint64_t timer)
{
	weft_resolve_as(WEFT_TASK_NONE, timer);
}

void program_sound_totals(void)
{
	server = make(WEFT_KIND_TASK, "server");
	weft_switch(server);
	wait_for_one();
	for (unsigned i = 0; i < 400; i++)
		after(i * 5 * MS + random_below(4 * MS), connect, 0);
	for (unsigned i = 0; i < 20; i++) {
		uint64_t timer = make(WEFT_KIND_TIMER, "tick");
		weft_tag_value_as(timer, "deadline", (int64_t)(i * 100 * MS + MS));
		after(i * 100 * MS + MS + random_below(100 * US), tick, timer);
	}
	run_loop();
}
