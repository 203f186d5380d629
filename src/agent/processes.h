/* SPDX-License-Identifier: ISC
 *
 * Rules about the metrics of chosen processes: as an agent tests them, but in memory alone.
 */
#ifndef WEFT_AGENT_PROCESSES_H
#define WEFT_AGENT_PROCESSES_H

#include "agent/alerts.h"

struct weft__agent_processes {
	struct weft__agent_alerts alerts;
	struct weft__agent_ledger ledger; /* its times are milliseconds of CLOCK_MONOTONIC */
};

/* 0 or WEFT_ERROR_MEMORY. */
int weft__agent_processes_init(struct weft__agent_processes *processes);

/* Watches a process; one that is watched already is left as it is. */
void weft__agent_processes_add(
	struct weft__agent_processes *processes, pid_t pid, const char *program);

/* Reads the values of all that live, and tests the rules. */
void weft__agent_processes_look(struct weft__agent_processes *processes);

/* Restores levels; with `reports` says which rules have watched nothing. */
void weft__agent_processes_finish(struct weft__agent_processes *processes, bool reports);

#endif
