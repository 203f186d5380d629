/* SPDX-License-Identifier: ISC
 *
 * Sound: a producer and a consumer share a buffer with four slots. Two semaphores count its free
 * slots and its items: each is taken by one of them and released by the other. When the program
 * ends, the producer waits for a slot, which the consumer releases after its present item.
 */
#include "world.h"

#define SLOTS 4
#define ITEMS 500

static uint64_t slots, items, producer, consumer, written;
static unsigned free_slots, ready, done;
static bool producer_waits, consumer_waits;

static void consume(uint64_t unused);

static void produce(uint64_t unused)
{
	(void)unused;
	weft_switch(producer);
	pass(20 * US);
	producer_waits = free_slots == 0;
	if (producer_waits) {
		weft_try_read(slots);
	} else {
		weft_acquire(slots);
		free_slots--;
		ready++;
		weft_release(items);
		after(50 * US, produce, 0);
	}
	weft_switch(WEFT_TASK_NONE);
	if (ready && consumer_waits)
		after(US, consume, 0);
	consumer_waits = consumer_waits && !ready;
}

static void end_write(uint64_t unused)
{
	(void)unused;
	weft_resolve_as(WEFT_TASK_NONE, written);
	weft_switch(consumer);
	weft_read(written);
	weft_release(slots);
	free_slots++;
	consumer_waits = ready == 0;
	if (consumer_waits)
		weft_try_read(items);
	weft_switch(WEFT_TASK_NONE);
	if (producer_waits)
		after(US, produce, 0);
	if (ready)
		after(2 * US, consume, 0);
}

static void consume(uint64_t unused)
{
	(void)unused;
	weft_switch(consumer);
	weft_acquire(items);
	ready--;
	pass(10 * US);
	written = make(WEFT_KIND_PROMISE, "write");
	weft_try_read(written);
	weft_switch(WEFT_TASK_NONE);
	if (++done < ITEMS)
		after(300 * US, end_write, 0);
}

void program_sound_semaphores(void)
{
	slots = make(WEFT_KIND_SEMAPHORE, "slots");
	items = make(WEFT_KIND_SEMAPHORE, "items");
	producer = make(WEFT_KIND_TASK, "producer");
	consumer = make(WEFT_KIND_TASK, "consumer");
	free_slots = SLOTS;
	weft_switch(consumer);
	weft_try_read(items);
	weft_switch(WEFT_TASK_NONE);
	consumer_waits = true;
	after(100 * US, produce, 0);
	run_loop();
}
