/* SPDX-License-Identifier: ISC
 *
 * An operation that is stopped because its result is no longer wanted.
 */
#include "loop.h"

struct download {
	uint64_t task;
	unsigned parts; /* so far */
};

static void next_part(void *argument)
{
	struct download *download = argument;
	weft_enter(download->task);
	work(0.3);
	weft_tag_value("part", ++download->parts);
	weft_leave();
	after(1, next_part, download);
}

/* recipe: */
static void cancel(struct download *download)
{
	stop(download);
	weft_note_as(download->task, "the page was left");
	weft_cancel(download->task);
}
/* end of recipe */

static void leave_page(void *argument)
{
	uint64_t user = weft_create(WEFT_KIND_TASK);
	weft_label_as(user, "user");
	weft_enter(user);
	cancel(argument);
	weft_resolve(user);
	weft_leave();
}

int main(void)
{
	struct download download = {.task = weft_create(WEFT_KIND_TASK)};
	weft_label_as(download.task, "download");
	after(1, next_part, &download);
	after(5, leave_page, &download);
	run_loop();
	printf("%u parts\n", download.parts);
}
