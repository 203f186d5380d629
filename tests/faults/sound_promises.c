/* SPDX-License-Identifier: ISC
 *
 * Promises that tasks resolve for each other, and that are no queue: tasks meet at a barrier, where
 * the last one lets all others go on, round after round; and two take turns.
 */
#include "world.h"

#define MEET   12
#define ROUNDS 30

static uint64_t tasks[MEET], promises[MEET], sleeps[MEET];
static unsigned arrived, rounds;

static void arrive(uint64_t number);

/* The running task sleeps until it arrives at the barrier. */
static void sleep_on(unsigned number)
{
	sleeps[number] = weft_create(WEFT_KIND_PROMISE);
	weft_label_as(sleeps[number], "sleep at step.py:10");
	weft_try_read(sleeps[number]);
	weft_switch(WEFT_TASK_NONE);
	after(about(2 * MS) + random_below(2 * MS), arrive, number);
}

static void leave(unsigned last)
{
	arrived = 0;
	for (unsigned i = 0; i < MEET; i++)
		if (i != last)
			weft_resolve(promises[i]);
	weft_switch(WEFT_TASK_NONE);
	rounds++;
	for (unsigned i = 0; i < MEET; i++) {
		weft_switch(tasks[i]);
		if (i != last)
			weft_read(promises[i]);
		pass(5 * US);
		if (rounds < ROUNDS) {
			sleep_on(i);
			continue;
		}
		weft_resolve(tasks[i]);
		weft_switch(WEFT_TASK_NONE);
	}
}

static void arrive(uint64_t number)
{
	weft_resolve_as(WEFT_TASK_NONE, sleeps[number]);
	weft_switch(tasks[number]);
	weft_read(sleeps[number]);
	pass(20 * US);
	if (++arrived == MEET) {
		leave((unsigned)number);
		return;
	}
	promises[number] = weft_create(WEFT_KIND_PROMISE);
	weft_label_as(promises[number], "Barrier.wait at step.py:12");
	weft_try_read(promises[number]);
	weft_switch(WEFT_TASK_NONE);
}

static uint64_t players[2], ball;
static unsigned hits;

static void hit(uint64_t number)
{
	weft_switch(players[number]);
	if (ball)
		weft_read(ball);
	pass(20 * US);
	uint64_t next = ball = weft_create_as(players[!number], WEFT_KIND_PROMISE);
	weft_label_as(next, "Channel.get at play.py:4");
	weft_try_read_as(players[!number], next);
	weft_resolve(next);
	if (++hits < 200)
		after(about(200 * US), hit, !number);
	weft_switch(WEFT_TASK_NONE);
}

void program_sound_promises(void)
{
	serve(200, MS, 500 * US);
	players[0] = make(WEFT_KIND_TASK, "left");
	players[1] = make(WEFT_KIND_TASK, "right");
	after(0, hit, 0);
	for (unsigned i = 0; i < MEET; i++) {
		tasks[i] = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
		weft_labelf_as(tasks[i], "step %d", (int)i);
		weft_switch(tasks[i]);
		sleep_on(i);
	}
	run_loop();
	weft_resolve_as(WEFT_TASK_NONE, players[0]);
	weft_resolve_as(WEFT_TASK_NONE, players[1]);
}
