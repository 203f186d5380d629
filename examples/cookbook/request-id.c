/* SPDX-License-Identifier: ISC
 *
 * Requests with an id, by which the trace and the log of another program can be found.
 */
#include "loop.h"

struct request {
	unsigned id;
	const char *path;
	uint64_t task, query;
};

/* recipe: */
static void begin_request(struct request *request)
{
	request->task = weft_create(WEFT_KIND_TASK);
	weft_labelf_as(request->task, "GET %s #%u", request->path, request->id);
	weft_mark_as(request->task, "request", "id", request->id, "path", request->path);
}
/* end of recipe */

static void end_request(void *argument)
{
	struct request *request = argument;
	weft_enter(request->query);
	work(0.5);
	weft_resolve(request->query);
	weft_leave();
	weft_read_as(request->task, request->query);
	work(0.5);
	printf("%u %s\n", request->id, request->path);
	weft_resolve(request->task);
	weft_switch(WEFT_TASK_NONE);
}

static void receive(void *argument)
{
	struct request *request = argument;
	begin_request(request);
	weft_enter(request->task);
	work(0.5);
	request->query = weft_create(WEFT_KIND_TASK);
	weft_label_as(request->query, "query");
	weft_try_read(request->query);
	weft_leave();
	after(4, end_request, request);
}

int main(void)
{
	struct request first = {.id = 41, .path = "/"}, second = {.id = 42, .path = "/news"};
	after(1, receive, &first);
	after(3, receive, &second);
	run_loop();
}
