/* SPDX-License-Identifier: ISC
 *
 * Stands for the files of ran.h where stacks cannot be unwound.
 */
#include "cli/cli.h"
#include "ran.h"
#include "runs/saving/snapshots.h"

struct record_ran *record_ran_start(pid_t process, unsigned hz, struct weft__runs_sampler *sampler)
{
	(void)process, (void)hz;
	sampler->sampling.denied = "this weft unwinds no stacks";
	cli_error("--samples: the program runs without: %s", sampler->sampling.denied);
	return NULL;
}

void record_ran_look(struct record_ran *ran, struct weft__runs_snapshots *snapshots)
{
	(void)ran, (void)snapshots;
}

void record_ran_end(struct record_ran *ran, struct weft__runs_snapshots *snapshots)
{
	(void)ran, (void)snapshots;
}

void record_ran_save(struct record_ran *ran, pid_t process, const char *file)
{
	(void)ran, (void)process, (void)file;
}

uint64_t record_ran_lost(const struct record_ran *ran)
{
	(void)ran;
	return 0;
}

bool record_ran_is_denied(const struct record_ran *ran)
{
	(void)ran;
	return true;
}

void record_ran_destroy(struct record_ran *ran)
{
	(void)ran;
}
