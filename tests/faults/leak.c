/* SPDX-License-Identifier: ISC
 *
 * One session of ten never ends.
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
		after(about(10 * MS), end_session, session);
}

void program_leak(void)
{
	for (unsigned i = 0; i < 1000; i++)
		after(i * 2 * MS, begin_session, 0);
	run_loop();
}
