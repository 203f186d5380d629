/* SPDX-License-Identifier: ISC
 *
 * Thumbnails take all threads of a pool for 400 ms, and the reads of files that come meanwhile wait
 * for a thread. All of these end right after it. In the second program that is so most of the time.
 */
#include "world.h"

#define READS 300

static uint64_t reads[READS], thumbnails[4];
static unsigned begun, waiting;
static bool is_full;

static void end_read(uint64_t task)
{
	weft_switch(task);
	pass(20 * US);
	weft_resolve(task);
	weft_switch(WEFT_TASK_NONE);
}

static void begin_read(uint64_t number)
{
	uint64_t task = make(WEFT_KIND_TASK, "stat index.html");
	begun = (unsigned)number + 1;
	reads[number] = task;
	if (is_full)
		waiting++;
	else
		after(about(300 * US), end_read, task);
}

static void end_thumbnails(uint64_t unused)
{
	(void)unused;
	is_full = false;
	for (unsigned i = 0; i < 4; i++)
		end_read(thumbnails[i]);
	for (; waiting > 0; waiting--)
		after(about(300 * US), end_read, reads[begun - waiting]);
}

static void begin_thumbnails(uint64_t unused)
{
	(void)unused;
	is_full = true;
	for (unsigned i = 0; i < 4; i++)
		thumbnails[i] = make(WEFT_KIND_TASK, "thumbnail");
	after(about(400 * MS), end_thumbnails, 0);
}

static void serve_reads(unsigned times)
{
	for (unsigned i = 0; i < READS; i++)
		after(i * 5 * MS + random_below(2 * MS), begin_read, i);
	for (unsigned i = 0; i < times; i++)
		after(60 * MS + i * 480 * MS, begin_thumbnails, 0);
	run_loop();
}

void program_full_pool(void)
{
	serve_reads(1);
}

void program_full_pool_mostly(void)
{
	serve_reads(3);
}
