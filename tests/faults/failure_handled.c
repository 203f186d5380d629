/* SPDX-License-Identifier: ISC
 *
 * A request to one server fails; its reader takes the next server, and all is well.
 */
#include "world.h"

static uint64_t query, reader;

static void begin(uint64_t unused)
{
	(void)unused;
	reader = make(WEFT_KIND_TASK, "look up");
	weft_switch(reader);
	query = weft_create(WEFT_KIND_PROMISE);
	weft_label_as(query, "first server");
	pass(10 * US);
	weft_try_read(query);
}

static void fail(uint64_t unused)
{
	(void)unused;
	weft_fail_as(WEFT_TASK_NONE, query, "no route");
	weft_read_as(reader, query);
	pass(100 * US);
	weft_resolve(reader);
}

void program_failure_handled(void)
{
	serve(500, MS, 500 * US);
	after(250 * MS, begin, 0);
	after(251 * MS, fail, 0);
	run_loop();
}
