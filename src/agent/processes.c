/* SPDX-License-Identifier: ISC
 *
 * See processes.h. The values of a process that has come since the last look began at 0, so its
 * first ones are growth. Looks are less than a second apart: times are in milliseconds.
 */
#include "agent/processes.h"

#include <stdio.h>
#include <time.h>

#define SERIES_MAX 100000

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int weft__agent_processes_init(struct weft__agent_processes *processes)
{
	*processes = (struct weft__agent_processes){.ledger = {.regions = {.folder = -1,
															   .path = "",
															   .limit = SIZE_MAX,
															   .reads = weft__runs_counters_read},
													.series.limit = SERIES_MAX}};
	return weft__agent_series_init(&processes->ledger.series) ? WEFT_ERROR_MEMORY : 0;
}

void weft__agent_processes_add(
	struct weft__agent_processes *processes, pid_t pid, const char *program)
{
	struct weft__agent_ledger *ledger = &processes->ledger;
	weft__agent_regions_add_process(
		&ledger->regions, pid, program, ledger->boot, (double)ledger->last);
}

void weft__agent_processes_look(struct weft__agent_processes *processes)
{
	struct weft__agent_ledger *ledger = &processes->ledger;
	const int64_t now = now_ms();
	if (!processes->alerts.count || weft__agent_ledger_read(ledger, now))
		return; /* without memory the next look tries it again */
	weft__agent_ledger_count(ledger, now);
	weft__agent_ledger_commit(ledger, now);
	weft__agent_alerts_test(&processes->alerts, ledger, now);
}

void weft__agent_processes_finish(struct weft__agent_processes *processes, bool reports)
{
	if (reports)
		weft__agent_alerts_report_unused(&processes->alerts, &processes->ledger);
	weft__agent_alerts_finish(&processes->alerts);
	weft__agent_ledger_finish(&processes->ledger);
}
