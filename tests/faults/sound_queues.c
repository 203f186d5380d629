/* SPDX-License-Identifier: ISC
 *
 * Sound: a batch, of which all items are queued at once; and clients that wait for the answers of a
 * busy worker. In both, many signals in a row meet no waiter.
 */
#include <weft/ends.h>

#include "world.h"

#define ITEMS   1500
#define CLIENTS 16

static uint64_t condition, worker, clients[CLIENTS];
static unsigned queued, done;
static int64_t unheard;
static bool is_batch;

static void signal_worker(uint64_t by)
{
	queued++;
	if (++unheard < 64 || (unheard & (unheard - 1)))
		return;
	weft_tag_value_as(condition, WEFT_TAG_SIGNALLED_BY, (int64_t)by);
	weft_tag_value_as(condition, WEFT_TAG_UNHEARD, unheard);
}

static void ask(uint64_t client)
{
	weft_switch(clients[client]);
	weft_read(worker);
	pass(2 * US);
	signal_worker(clients[client]);
	weft_switch(WEFT_TASK_NONE);
}

static void work(uint64_t unused)
{
	(void)unused;
	weft_switch(worker);
	pass(MS);
	if (!is_batch) {
		weft_signal_only(clients[done % CLIENTS]);
		if (done + CLIENTS < ITEMS)
			after(US, ask, done % CLIENTS);
		else
			weft_resolve(clients[done % CLIENTS]);
	}
	done++;
	if (--queued)
		after(5 * US, work, 0);
	else
		weft_resolve(worker);
	weft_switch(WEFT_TASK_NONE);
}

static void begin(void)
{
	condition = make(WEFT_KIND_CONDITION, is_batch ? "jobs" : "requests");
	worker = make(WEFT_KIND_TASK, "worker");
	weft_switch(worker);
	pass(US);
	weft_try_read(condition);
	weft_switch(WEFT_TASK_NONE);
	unheard = done = 0;
	after(20 * US * CLIENTS, work, 0);
	pass(US);
}

void program_sound_queues(void)
{
	is_batch = true;
	begin();
	uint64_t batch = make(WEFT_KIND_TASK, "batch");
	weft_switch(batch);
	for (unsigned i = 0; i < ITEMS; i++)
		signal_worker(batch);
	weft_resolve(batch);
	weft_switch(WEFT_TASK_NONE);
	run_loop();
	is_batch = false;
	begin();
	for (unsigned i = 0; i < CLIENTS; i++) {
		clients[i] = make(WEFT_KIND_TASK, "client");
		after(i * 20 * US, ask, i);
	}
	run_loop();
}
