/* SPDX-License-Identifier: ISC
 *
 * Searches ask six shards each and end with the last answer. Shard 4 takes eight times as long as
 * the others.
 */
#include "world.h"

#define SEARCHES 100
#define SHARDS   6

static uint64_t searches[SEARCHES], shards[SEARCHES][SHARDS];
static unsigned left[SEARCHES];

static void answer(uint64_t which)
{
	unsigned search = which / SHARDS, shard = which % SHARDS;
	weft_resolve_as(WEFT_TASK_NONE, shards[search][shard]);
	weft_read_as(searches[search], shards[search][shard]);
	weft_switch(searches[search]);
	pass(10 * US);
	if (--left[search] == 0)
		weft_resolve(searches[search]);
	weft_switch(WEFT_TASK_NONE);
}

static void begin(uint64_t search)
{
	searches[search] = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	weft_labelf_as(searches[search], "search %d", (int)search);
	weft_switch(searches[search]);
	pass(20 * US);
	left[search] = SHARDS;
	for (unsigned i = 0; i < SHARDS; i++) {
		shards[search][i] = weft_create(WEFT_KIND_PROMISE);
		weft_labelf_as(shards[search][i], "shard %d", (int)i);
		weft_try_read(shards[search][i]);
		after(about(i == 4 ? 9 * MS : MS), answer, search * SHARDS + i);
	}
	weft_switch(WEFT_TASK_NONE);
}

void program_slow_branch(void)
{
	serve(500, 2 * MS, 500 * US);
	for (unsigned i = 0; i < SEARCHES; i++)
		after(i * 10 * MS, begin, i);
	run_loop();
}
