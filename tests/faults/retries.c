/* SPDX-License-Identifier: ISC
 *
 * A client tries to connect again and again, without a pause that grows.
 */
#include "world.h"

static uint64_t client, attempt;
static unsigned attempts;

static void try_again(uint64_t unused);

static void refuse(uint64_t unused)
{
	(void)unused;
	weft_fail_as(WEFT_TASK_NONE, attempt, "connection refused");
	weft_read_as(client, attempt);
	pass(5 * US);
	if (++attempts < 200)
		try_again(0);
}

static void try_again(uint64_t unused)
{
	(void)unused;
	weft_switch(client);
	attempt = weft_create(WEFT_KIND_PROMISE);
	weft_labelf_as(attempt, "connect %d", (int)attempts);
	weft_try_read(attempt);
	weft_switch(WEFT_TASK_NONE);
	after(about(300 * US), refuse, 0);
}

void program_retries(void)
{
	client = make(WEFT_KIND_TASK, "client");
	serve(500, MS, 500 * US);
	after(100 * MS, try_again, 0);
	run_loop();
	weft_resolve_as(WEFT_TASK_NONE, client);
}
