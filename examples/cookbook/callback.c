/* SPDX-License-Identifier: ISC
 *
 * A request whose answer comes by a callback.
 */
#include "loop.h"

struct request {
	const char *name;
	double ms; /* until its answer */
	void (*done)(const struct request *);
	uint64_t task;
};

/* recipe: */
static void answer(void *argument)
{
	const struct request *request = argument;
	weft_enter(request->task);
	request->done(request);
	weft_resolve(request->task);
	weft_leave();
}

static void look_up(struct request *request)
{
	request->task = weft_create(WEFT_KIND_TASK);
	weft_label_as(request->task, request->name);
	after(request->ms, answer, request);
}
/* end of recipe */

static void look_up_mail(const struct request *host)
{
	static struct request mail = {"look up mail", 3, look_up_mail, 0};
	work(0.5);
	puts(host->name);
	if (host != &mail)
		look_up(&mail);
}

int main(void)
{
	struct request host = {"look up host", 4, look_up_mail, 0};
	look_up(&host);
	run_loop();
}
