/* SPDX-License-Identifier: ISC
 *
 * A task that goes on with whichever comes first: a reply, an order to stop, or a timer.
 */
#include "loop.h"

enum {
	REPLY,
	STOP,
	TIMER,
	SOURCES
};
static const char *const names[SOURCES] = {"reply", "stop", "timer"};

struct session {
	uint64_t task, sources[SOURCES];
};

/* recipe: */
static void select_first(struct session *session)
{
	weft_wait_any_as(session->task, SOURCES, session->sources);
}

static void selected(struct session *session, unsigned first)
{
	weft_resolve(session->sources[first]);
	weft_enter(session->task);
	weft_read(session->sources[first]);
	weft_note(names[first]);
	weft_leave();
}
/* end of recipe */

static void reply_comes(void *argument)
{
	struct session *session = argument;
	selected(session, REPLY);
	weft_cancel(session->sources[TIMER]);
	weft_close(session->sources[STOP]);
	weft_resolve(session->task);
	puts(names[REPLY]);
}

int main(void)
{
	struct session session = {.task = weft_create(WEFT_KIND_TASK)};
	weft_label_as(session.task, "session");
	weft_enter(session.task);
	work(1);
	for (unsigned i = 0; i < SOURCES; i++) {
		session.sources[i] = weft_create(WEFT_KIND_PROMISE);
		weft_label_as(session.sources[i], names[i]);
	}
	select_first(&session);
	weft_leave();
	after(4, reply_comes, &session);
	run_loop();
}
