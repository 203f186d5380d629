/* SPDX-License-Identifier: ISC
 *
 * A session that reads and writes in turns, and waits for each operation.
 */
#include "loop.h"

struct session {
	uint64_t task;
	uint64_t operation;
	unsigned writes;
};

static void write_part(struct session *session);

/* recipe: */
static void on_read(void *argument)
{
	struct session *session = argument;
	weft_enter(session->task);
	weft_operation_end(session->operation, session->task);
	write_part(session);
	weft_leave();
}

static void start_read(struct session *session)
{
	session->operation = weft_operation_begin("read");
	after(2, on_read, session);
}
/* end of recipe */

static void on_write(void *argument)
{
	struct session *session = argument;
	weft_enter(session->task);
	weft_operation_end(session->operation, session->task);
	if (++session->writes < 3)
		start_read(session);
	else
		weft_resolve(session->task);
	weft_leave();
}

static void write_part(struct session *session)
{
	work(0.3);
	printf("part %u\n", session->writes + 1);
	session->operation = weft_operation_begin("write");
	after(0.7, on_write, session);
}

int main(void)
{
	struct session session = {.task = weft_create(WEFT_KIND_TASK)};
	weft_label_as(session.task, "session");
	weft_enter(session.task);
	start_read(&session);
	weft_leave();
	run_loop();
}
