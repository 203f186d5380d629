/* SPDX-License-Identifier: ISC
 *
 * A producer fills a queue of eight items. Its consumer ends after a bad item, and the producer
 * waits for room until the program is killed.
 */
#include "world.h"

#define ROOM 8

static uint64_t room, producer, consumer;
static unsigned items, taken;

static void put(uint64_t unused)
{
	(void)unused;
	weft_switch(producer);
	pass(20 * US);
	if (items - taken == ROOM) {
		weft_try_read(room);
		weft_switch(WEFT_TASK_NONE);
		return;
	}
	items++;
	weft_counter_set("queued", (int64_t)(items - taken));
	weft_switch(WEFT_TASK_NONE);
	after(about(2 * MS), put, 0);
}

static void take(uint64_t unused)
{
	(void)unused;
	weft_switch(consumer);
	pass(40 * US);
	if (taken == 50) {
		weft_note("bad item: leaving");
		weft_resolve(consumer);
		weft_switch(WEFT_TASK_NONE);
		return;
	}
	if (taken < items) {
		taken++;
		weft_counter_set("queued", (int64_t)(items - taken));
	}
	weft_switch(WEFT_TASK_NONE);
	after(about(2 * MS), take, 0);
}

void program_full_queue(void)
{
	room = make(WEFT_KIND_CONDITION, "room in frames");
	producer = make(WEFT_KIND_TASK, "producer");
	consumer = make(WEFT_KIND_TASK, "consumer");
	serve(300, MS, 500 * US);
	after(0, put, 0);
	after(MS, take, 0);
	run_loop();
	world_status = 9; /* killed by a signal */
}
