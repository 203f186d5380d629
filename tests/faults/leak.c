/* SPDX-License-Identifier: ISC
 *
 * One session of ten never ends.
 */
#include "world.h"

static unsigned sessions;

/* Every tenth session is forgotten. */
static void begin_session(uint64_t unused)
{
	uint64_t session = open_session(sessions++);
	(void)unused;
	if (sessions % 10)
		after(about(10 * MS), close_session, session);
}

void program_leak(void)
{
	for (unsigned i = 0; i < 1000; i++)
		after(i * 2 * MS, begin_session, 0);
	run_loop();
}
