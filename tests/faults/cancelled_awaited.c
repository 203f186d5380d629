/* SPDX-License-Identifier: ISC
 *
 * A download is cancelled, and the task that waits for it is not told.
 */
#include "world.h"

static uint64_t download;

static void begin(uint64_t unused)
{
	(void)unused;
	download = make(WEFT_KIND_PROMISE, "download");
	weft_switch(make(WEFT_KIND_TASK, "install"));
	pass(20 * US);
	weft_try_read(download);
}

static void cancel(uint64_t unused)
{
	(void)unused;
	weft_cancel_as(WEFT_TASK_NONE, download);
}

void program_cancelled_awaited(void)
{
	serve(400, MS, 500 * US);
	after(100 * MS, begin, 0);
	after(130 * MS, cancel, 0);
	run_loop();
	world_status = 9; /* killed by a signal */
}
