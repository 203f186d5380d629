/* SPDX-License-Identifier: ISC
 *
 * Every eighth request leaves a task that waits for an event that never comes. All of these are
 * cancelled when the program ends, as by asyncio.run().
 */
#include "world.h"

static uint64_t watches[100];
static unsigned requests, count;

static void request(uint64_t unused)
{
	(void)unused;
	serve_one(500 * US);
	if (requests++ % 8)
		return;
	watches[count] = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	weft_labelf_as(watches[count], "watch %d", (int)count);
	weft_switch(watches[count++]);
	pass(5 * US);
}

void program_leak_forgotten(void)
{
	for (unsigned i = 0; i < 300; i++)
		after(i * 2 * MS, request, 0);
	run_loop();
	for (unsigned i = 0; i < count; i++) {
		weft_cancel_as(WEFT_TASK_NONE, watches[i]);
		pass(2 * US);
	}
}
