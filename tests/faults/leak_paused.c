/* SPDX-License-Identifier: ISC
 *
 * One session of four never ends. The program is busy, then has little to do for a while, and is
 * busy again.
 */
#include "world.h"

static unsigned sessions;

static void begin_session(uint64_t unused)
{
	uint64_t session = open_session(sessions++);
	(void)unused;
	if (sessions % 4)
		after(about(4 * MS), close_session, session);
}

void program_leak_paused(void)
{
	for (unsigned i = 0; i < 400; i++)
		after(i * MS, begin_session, 0);
	for (unsigned i = 0; i < 40; i++)
		after(400 * MS + i * 30 * MS, begin_session, 0);
	for (unsigned i = 0; i < 400; i++)
		after(1600 * MS + i * MS, begin_session, 0);
	run_loop();
}
