/* SPDX-License-Identifier: ISC
 *
 * A queue without a length in the trace: its producer signals a condition each ms, and an item
 * takes its consumer 4 ms. Recorders write a signal for which nobody waits seldom.
 */
#include <weft/ends.h>

#include "world.h"

#define ITEMS 800

static uint64_t condition, lock, producer, consumer;
static unsigned made, queued;
static int64_t unheard;
static uint64_t prepare_ns = 20 * US;
static bool is_waiting, does_end, wants_lock, shares_lock;

static void take(uint64_t item);
static void put(uint64_t unused);

/* The producer signals for about 0.8 s, and the consumer empties the queue at about 3.2 s. */
static void wait_for_item(void)
{
	if (unheard) {
		weft_tag_value_as(condition, WEFT_TAG_SIGNALLED_TIMES, unheard);
		weft_tag_value_as(condition, WEFT_TAG_SIGNALLED_BY, (int64_t)producer);
		weft_tag_value_as(condition, WEFT_TAG_SIGNALLED_BEFORE, 2 * (int64_t)S);
	}
	unheard = 0;
	weft_try_read(condition);
	is_waiting = true;
	weft_switch(WEFT_TASK_NONE);
}

static void stored(uint64_t item)
{
	weft_resolve(item);
	weft_switch(consumer);
	weft_read(item);
	take(0);
}

static void take(uint64_t is_woken)
{
	weft_switch(consumer);
	if (is_woken)
		weft_read(condition);
	pass(20 * US);
	if (wants_lock) {
		weft_release(lock);
		after(10 * US, put, 0);
	}
	if (!queued && made == ITEMS && does_end) {
		weft_resolve(consumer);
		weft_switch(WEFT_TASK_NONE);
		return;
	}
	if (!queued) {
		wait_for_item();
		return;
	}
	queued--;
	uint64_t item = make(WEFT_KIND_PROMISE, "store item");
	weft_try_read(item);
	weft_switch(WEFT_TASK_NONE);
	after(about(4 * MS), stored, item);
}

static void write_many(void)
{
	if (unheard < 64 || (unheard & (unheard - 1)))
		return;
	weft_tag_value_as(condition, WEFT_TAG_SIGNALLED_BY, (int64_t)producer);
	weft_tag_value_as(condition, WEFT_TAG_UNHEARD, unheard);
}

static void put(uint64_t unused)
{
	(void)unused;
	weft_switch(producer);
	if (wants_lock) {
		weft_acquire(lock);
		pass(US);
		weft_release(lock);
	}
	pass(prepare_ns);
	if (shares_lock && made == ITEMS / 4 && !wants_lock) {
		weft_try_read(lock);
		wants_lock = true;
		weft_switch(WEFT_TASK_NONE);
		return;
	}
	wants_lock = false;
	queued++;
	if (is_waiting) {
		weft_signal_only(consumer);
		after(10 * US, take, 1);
	} else {
		unheard++;
		write_many();
	}
	is_waiting = false;
	weft_switch(WEFT_TASK_NONE);
	if (++made < ITEMS)
		after(about(MS), put, 0);
	else
		weft_resolve(producer);
}

static void play(void)
{
	condition = make(WEFT_KIND_CONDITION, "items");
	lock = make(WEFT_KIND_LOCK, "items lock");
	producer = make(WEFT_KIND_TASK, "reader");
	consumer = make(WEFT_KIND_TASK, "indexer");
	take(0);
	after(5 * MS, put, 0);
	run_loop();
}

void program_slow_consumer(void)
{
	play();
}

/* The consumer ends when it has emptied the queue, instead of waiting again. */
void program_slow_consumer_ends(void)
{
	does_end = true;
	play();
}

/* The producer waits for the queue's lock once, which the consumer has. */
void program_slow_consumer_with_lock(void)
{
	shares_lock = true;
	play();
}

/* The producer runs nearly all the while: it may prepare a batch. */
void program_slow_consumer_of_batch(void)
{
	prepare_ns = 1800 * US;
	play();
}
