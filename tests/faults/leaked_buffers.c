/* SPDX-License-Identifier: ISC
 *
 * Six waves of forty requests. Each request takes a buffer and gives it back, but six of each wave
 * forget to. In the second program all are freed when it closes down. In the third one, the waves
 * go on without a rest.
 */
#include "world.h"

#define WAVES 6
#define TAKEN 40
#define LOST  6

static void give_back(uint64_t number)
{
	if (number >= LOST)
		weft_counter_add("buffers", -1);
}

static void take(uint64_t number)
{
	weft_counter_add("buffers", 1);
	after(about(10 * MS), give_back, number);
}

static void close_down(uint64_t lost)
{
	weft_counter_add("buffers", -(int64_t)lost);
}

static void take_waves(bool closes)
{
	serve(1000, MS, 500 * US);
	for (unsigned wave = 0; wave < WAVES; wave++)
		for (unsigned i = 0; i < TAKEN; i++)
			after(wave * 150 * MS + i * 500 * US, take, i);
	if (closes)
		after(1000 * MS, close_down, WAVES * LOST);
	run_loop();
}

void program_leaked_buffers(void)
{
	take_waves(false);
}

void program_leaked_buffers_freed(void)
{
	take_waves(true);
}

void program_leaked_buffers_steady(void)
{
	serve(1000, MS, 500 * US);
	for (unsigned i = 0; i < 1000; i++)
		after(i * MS + random_below(10 * MS), take, i % 50);
	after(1100 * MS, close_down, 1000 / 50 * LOST);
	run_loop();
}
