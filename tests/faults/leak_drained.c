/* SPDX-License-Identifier: ISC
 *
 * One session of ten never ends. Sessions are so long that 200 or more are open at a time. At the
 * end, the server accepts no new session and lets the open ones end: the number of open sessions
 * falls to a third, and the forgotten ones are left.
 */
#include "world.h"

static unsigned sessions;

/* Every tenth session is forgotten. */
static void begin_session(uint64_t unused)
{
	uint64_t session = open_session(sessions++);
	(void)unused;
	if (sessions % 10)
		after(about(400 * MS), close_session, session);
}

void program_leak_drained(void)
{
	for (unsigned i = 0; i < 1000; i++)
		after(i * 2 * MS, begin_session, 0);
	run_loop();
}
