/* SPDX-License-Identifier: ISC
 *
 * The same with long sessions, so that 150 are open at a time. At the end, the server takes no more
 * of them and lets these end: the number of open sessions falls to a third, and the forgotten ones
 * are left.
 */
#include "world.h"

static unsigned sessions;

static void end_session(uint64_t session)
{
	weft_switch(session);
	pass(20 * US);
	weft_resolve(session);
}

/* Every tenth session is forgotten. */
static void begin_session(uint64_t unused)
{
	uint64_t session = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	(void)unused;
	weft_labelf_as(session, "session %d", (int)sessions);
	weft_switch(session);
	pass(20 * US);
	if (++sessions % 10)
		after(about(400 * MS), end_session, session);
}

void program_leak_drained(void)
{
	for (unsigned i = 0; i < 1000; i++)
		after(i * 2 * MS, begin_session, 0);
	run_loop();
}
