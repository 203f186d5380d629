/* SPDX-License-Identifier: ISC
 *
 * A rotation holds the lock of the log for 120 ms. A batch wants it while it holds the lock of the
 * index, for which queries wait.
 */
#include "world.h"

#define QUERIES 5

static uint64_t log_lock, index_lock, rotation, batch, queries[QUERIES];

static void answer(uint64_t number)
{
	weft_switch(queries[number]);
	weft_acquire(index_lock);
	pass(30 * US);
	weft_release(index_lock);
	weft_resolve(queries[number]);
	weft_switch(WEFT_TASK_NONE);
	if (number + 1 < QUERIES)
		after(10 * US, answer, number + 1);
}

static void end_rotation(uint64_t unused)
{
	(void)unused;
	weft_switch(rotation);
	pass(50 * US);
	weft_release(log_lock);
	weft_resolve(rotation);
	weft_switch(batch);
	weft_acquire(log_lock);
	pass(50 * US);
	weft_release(log_lock);
	weft_release(index_lock);
	weft_resolve(batch);
	weft_switch(WEFT_TASK_NONE);
	after(10 * US, answer, 0);
}

static void begin_rotation(uint64_t unused)
{
	(void)unused;
	rotation = make(WEFT_KIND_TASK, "rotate log");
	weft_switch(rotation);
	weft_acquire(log_lock);
	pass(50 * US);
	weft_switch(WEFT_TASK_NONE);
	after(120 * MS, end_rotation, 0);
}

static void begin_batch(uint64_t unused)
{
	(void)unused;
	batch = make(WEFT_KIND_TASK, "batch");
	weft_switch(batch);
	weft_acquire(index_lock);
	pass(50 * US);
	weft_try_read(log_lock);
	weft_switch(WEFT_TASK_NONE);
}

static void begin_query(uint64_t number)
{
	queries[number] = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	weft_labelf_as(queries[number], "query of %d", (int)number);
	weft_switch(queries[number]);
	pass(20 * US);
	weft_try_read(index_lock);
	weft_switch(WEFT_TASK_NONE);
}

/* Short turns of both locks, as they are most of the time. */
static void use(uint64_t lock)
{
	uint64_t task = make(WEFT_KIND_TASK, "append");
	weft_switch(task);
	weft_acquire(lock);
	pass(40 * US);
	weft_release(lock);
	weft_resolve(task);
	weft_switch(WEFT_TASK_NONE);
}

void program_two_locks(void)
{
	log_lock = make(WEFT_KIND_LOCK, "log");
	index_lock = make(WEFT_KIND_LOCK, "index");
	serve(400, MS, 500 * US);
	for (unsigned i = 0; i < 40; i++)
		after(i * 2 * MS, use, i % 2 ? log_lock : index_lock);
	after(100 * MS, begin_rotation, 0);
	after(103 * MS, begin_batch, 0);
	for (unsigned i = 0; i < QUERIES; i++)
		after(106 * MS + i * 5 * MS, begin_query, i);
	run_loop();
}
