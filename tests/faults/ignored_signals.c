/* SPDX-License-Identifier: ISC
 *
 * A writer waits for a condition, and from some time on does not wake when it is signalled: the
 * program forgot to note that it waits.
 */
#include "world.h"

#define ROWS 1500

static uint64_t condition, writer;
static unsigned writes;
static bool is_waiting;

static void write_rows(uint64_t unused)
{
	(void)unused;
	weft_switch(writer);
	if (writes)
		weft_read(condition);
	pass(60 * US);
	weft_try_read(condition);
	is_waiting = ++writes < 400;
}

static void insert_row(uint64_t number)
{
	uint64_t task = make(WEFT_KIND_TASK, "insert row");
	weft_switch(task);
	pass(30 * US);
	weft_signal_only(condition);
	weft_resolve(task);
	if (is_waiting)
		after(10 * US, write_rows, 0);
	is_waiting = false;
	if (number < ROWS)
		after(2 * MS + random_below(MS), insert_row, number + 1);
}

void program_ignored_signals(void)
{
	condition = make(WEFT_KIND_CONDITION, "dirty rows");
	writer = make(WEFT_KIND_TASK, "table writer");
	write_rows(0);
	after(MS, insert_row, 1);
	run_loop();
}
