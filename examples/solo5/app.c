/* SPDX-License-Identifier: ISC
 *
 * A unikernel that records itself: three requests, each of which reads a block.
 */
#include <stddef.h>
#include <stdint.h>

#include <weft/weft.h>

#include "weft_solo5.h"

/* As Solo5 declares them. */
struct solo5_start_info {
	const char *cmdline;
	uintptr_t heap_start;
	size_t heap_size;
};
int solo5_app_main(const struct solo5_start_info *info);

static void serve(const char *name)
{
	uint64_t request = weft_create(WEFT_KIND_TASK);
	weft_label_as(request, name);
	weft_switch(request);
	uint64_t block = weft_create(WEFT_KIND_PROMISE);
	weft_label_as(block, "block 7");
	weft_try_read(block);
	weft_switch(WEFT_TASK_NONE); /* here, a driver waits for its device */
	weft_resolve(block);
	weft_switch(request);
	weft_read(block);
	weft_resolve(request);
	weft_switch(WEFT_TASK_NONE);
}

int solo5_app_main(const struct solo5_start_info *info)
{
	(void)info;
	if (weft_solo5_start() != 0)
		return 1;
	serve("GET /");
	serve("GET /style.css");
	serve("GET /missing");
	return 0;
}
