/* SPDX-License-Identifier: ISC
 *
 * A consumer finds its queue empty, and before it begins to wait, the producer signals. The signal
 * wakes no task, and the next one never comes.
 */
#include "world.h"

static uint64_t ready, consumer;
static unsigned items;

static void wait_for_more(uint64_t unused);

static void signal_ready(uint64_t unused)
{
	(void)unused;
	weft_signal_only_as(WEFT_TASK_NONE, ready);
}

static void wake(uint64_t unused)
{
	(void)unused;
	weft_read_as(consumer, ready);
	wait_for_more(0);
}

static void wait_for_more(uint64_t unused)
{
	(void)unused;
	weft_switch(consumer);
	pass(30 * US);
	if (++items == 40) {
		signal_ready(0);
		pass(5 * US);
		weft_try_read_as(consumer, ready);
		return;
	}
	weft_try_read_as(consumer, ready);
	weft_switch(WEFT_TASK_NONE);
	after(about(MS), signal_ready, 0);
	after(1200 * US, wake, 0);
}

void program_lost_wake_up(void)
{
	ready = make(WEFT_KIND_CONDITION, "ready");
	consumer = make(WEFT_KIND_TASK, "consumer");
	serve(400, MS, 500 * US);
	after(0, wait_for_more, 0);
	run_loop();
}
