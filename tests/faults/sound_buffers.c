/* SPDX-License-Identifier: ISC
 *
 * Counters that rise and fall, and leak nothing: buffers in use in waves of different heights,
 * requests at once under a steady load, connections of a pool that fills up in the beginning, and a
 * queue that is long when the trace ends.
 */
#include "world.h"

static int64_t pooled, queued;

static void give_back(uint64_t unused)
{
	(void)unused;
	weft_counter_add("buffers", -1);
}

static void take(uint64_t unused)
{
	(void)unused;
	weft_counter_add("buffers", 1);
	after(about(10 * MS), give_back, 0);
}

static void end_request(uint64_t unused)
{
	(void)unused;
	weft_counter_add("requests", -1);
}

static void begin_request(uint64_t unused)
{
	(void)unused;
	weft_counter_add("requests", 1);
	after(about(5 * MS) + random_below(20 * MS), end_request, 0);
}

static void connect(uint64_t number)
{
	if (pooled < 20)
		weft_counter_set("pool", ++pooled);
	else if (number % 7 == 0)
		weft_counter_set("pool", --pooled);
}

static void fill(uint64_t number)
{
	queued += number % 40 < 20 || number > 960 ? 1 : -1;
	weft_counter_set("queue", queued);
}

void program_sound_buffers(void)
{
	serve(1000, MS, 500 * US);
	for (unsigned wave = 0; wave < 6; wave++)
		for (unsigned i = 0; i < 20 + wave * 10; i++)
			after(wave * 150 * MS + i * 500 * US, take, 0);
	for (unsigned i = 0; i < 1000; i++) {
		after(i * MS, begin_request, 0);
		after(i * MS, connect, i);
		after(i * MS, fill, i);
	}
	run_loop();
}
