/* SPDX-License-Identifier: ISC
 *
 * One session of ten is forgotten, and the server cancels all that are left when it closes down.
 */
#include "world.h"

static uint64_t forgotten[200];
static unsigned sessions, count;

static void begin_session(uint64_t unused)
{
	uint64_t session = open_session(sessions++);
	(void)unused;
	if (sessions % 10)
		after(about(10 * MS), close_session, session);
	else
		forgotten[count++] = session;
}

void program_leak_cancelled(void)
{
	for (unsigned i = 0; i < 1000; i++)
		after(i * 2 * MS, begin_session, 0);
	run_loop();
	for (unsigned i = 0; i < count; i++) {
		weft_cancel_as(WEFT_TASK_NONE, forgotten[i]);
		pass(2 * US);
	}
}
