/* SPDX-License-Identifier: ISC
 *
 * See rules.h. The agent's code reads the values and tests the rules, so both mean the same.
 */
#include "rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/processes.h"
#include "cli/cli.h"
#include "cli/trigger.h"
#include "runs/directory/rings.h"

/* Values are read this often, and in at most 1/20 of a processor's time. */
static const uint64_t EACH_NS = 250000000;
static const uint64_t SHARE = 20;

struct record_rules {
	struct weft__agent_processes processes;
	struct weft__runs_snapshots *snapshots; /* while it is looked */
	uint64_t next_ns;
	bool has_looked;
};

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool record_rules_is_one(const char *rule)
{
	return weft__agent_alerts_is_rule(rule);
}

bool record_rules_add(const char *command, const char *rule, struct record_rules **rules)
{
	struct weft_trigger_error wrong = {0};
	int error = 0;
	if (!*rules) {
		*rules = calloc(1, sizeof(**rules));
		error = *rules ? weft__agent_processes_init(&(*rules)->processes) : WEFT_ERROR_MEMORY;
	}
	if (!error)
		error = weft__agent_alerts_add(&(*rules)->processes.alerts, rule, &wrong);
	return !error || cli_trigger_refuse(command, "--trigger", rule, error, &wrong);
}

static void take(void *context, pid_t pid, const struct weft_trace_alert *alert)
{
	const struct record_rules *rules = context;
	weft__runs_snapshots_take(rules->snapshots, pid, alert);
}

static bool is_busy(void *context)
{
	const struct record_rules *rules = context;
	return weft__runs_snapshots_is_quiet(rules->snapshots);
}

/* A ring is named PROGRAM-PID.weft. */
static void add_process(struct record_rules *rules, const struct weft__runs_ring *ring)
{
	const char *end = strrchr(ring->name, '-');
	char program[NAME_MAX + 1];
	snprintf(
		program, sizeof(program), "%.*s", end ? (int)(end - ring->name) : NAME_MAX, ring->name);
	weft__agent_processes_add(&rules->processes, ring->pid, program);
}

/* A process has a ring for each program that it became: the last one is that of the present one. */
static void add_processes(struct record_rules *rules, const struct weft__runs_snapshots *snapshots)
{
	const struct weft__runs_ring *ring, *later;
	for (size_t i = 0; (ring = weft__runs_snapshots_ring(snapshots, i)); i++) {
		size_t k = i + 1;
		while ((later = weft__runs_snapshots_ring(snapshots, k)) && later->pid != ring->pid)
			k++;
		if (!later)
			add_process(rules, ring);
	}
}

static void look(void *context, struct weft__runs_snapshots *snapshots)
{
	struct record_rules *rules = context;
	if (read_clock(CLOCK_MONOTONIC) < rules->next_ns)
		return;
	const uint64_t start = read_clock(CLOCK_THREAD_CPUTIME_ID);
	rules->snapshots = snapshots;
	rules->has_looked = true;
	add_processes(rules, snapshots);
	weft__agent_processes_look(&rules->processes);
	const uint64_t pause = (read_clock(CLOCK_THREAD_CPUTIME_ID) - start) * SHARE;
	rules->next_ns = read_clock(CLOCK_MONOTONIC) + (pause > EACH_NS ? pause : EACH_NS);
}

void record_rules_use(struct record_rules *rules, struct weft__runs_snapshot_options *snapshots)
{
	if (!rules)
		return;
	rules->processes.alerts.takes = take;
	rules->processes.alerts.is_busy = is_busy;
	rules->processes.alerts.context = rules;
	/* The program starts after this look, so its first values are growth. */
	if (!snapshots->program)
		weft__agent_processes_look(&rules->processes);
	snapshots->looks = look;
	snapshots->context = rules;
}

void record_rules_finish(struct record_rules *rules)
{
	if (!rules)
		return;
	weft__agent_processes_finish(&rules->processes, rules->has_looked);
	free(rules);
}
