/* SPDX-License-Identifier: ISC
 *
 * Reports are made of a query each. A client goes away: its report is cancelled, but not the query,
 * which runs on and on for a result that no task reads.
 */
#include "world.h"

#define REPORTS 120
#define LONELY  40 /* the report that is cancelled */

static uint64_t reports[REPORTS], queries[REPORTS];

static void finish(uint64_t number)
{
	weft_switch(queries[number]);
	pass(100 * US);
	weft_resolve(queries[number]);
	weft_switch(reports[number]);
	weft_read(queries[number]);
	pass(30 * US);
	weft_resolve(reports[number]);
	weft_switch(WEFT_TASK_NONE);
}

static void cancel(uint64_t number)
{
	weft_cancel_as(WEFT_TASK_NONE, reports[number]);
}

static void fetch_until_the_end(uint64_t number)
{
	if (number > 0)
		after(about(2 * MS), fetch_until_the_end, number - 1);
	weft_switch(queries[LONELY]);
	pass(100 * US);
	weft_switch(WEFT_TASK_NONE);
}

static void begin(uint64_t number)
{
	reports[number] = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	weft_labelf_as(reports[number], "report %d", (int)number);
	weft_switch(reports[number]);
	pass(30 * US);
	queries[number] = weft_create(WEFT_KIND_TASK);
	weft_labelf_as(queries[number], "query %d", (int)number);
	weft_try_read(queries[number]);
	weft_switch(queries[number]);
	pass(50 * US);
	weft_switch(WEFT_TASK_NONE);
	if (number == LONELY) {
		after(about(5 * MS), cancel, number);
		after(about(2 * MS), fetch_until_the_end, 120);
	} else {
		after(about(8 * MS), finish, number);
	}
}

void program_orphan(void)
{
	serve(400, MS, 500 * US);
	for (unsigned i = 0; i < REPORTS; i++)
		after(i * 3 * MS, begin, i);
	run_loop();
}
