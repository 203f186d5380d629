/* SPDX-License-Identifier: ISC
 *
 * The agent's rules about metrics (weft-trigger(5)): tested at each look, for each group alone. A
 * rule fires once when it has held for its time, and again only after it has ceased to hold.
 */
#ifndef WEFT_AGENT_ALERTS_H
#define WEFT_AGENT_ALERTS_H

#include "agent/capture.h"
#include "agent/levels.h"
#include "agent/watched.h"

struct weft__agent_alert_group {
	bool holds, has_fired;
	uint64_t since_ns;
};

struct weft__agent_alert_rule {
	struct weft__metric_rule it;
	struct weft__agent_watched watched;
	struct weft__agent_alert_group *groups;
	size_t group_count;
	bool was_reported; /* that it watches nothing */
};

struct weft__agent_alerts {
	struct weft__agent_capture_options capture;
	struct weft__agent_alert_rule *rules;
	size_t count;
	struct weft__agent_levels levels;
	/* Takes the snapshots instead; NULL: they go into the folder of `capture`. */
	void (*takes)(void *context, pid_t pid, const struct weft_trace_alert *alert);
	bool (*is_busy)(void *context); /* rules that hold fire later; NULL: never */
	void *context;
};

/* True if the text begins like a rule about metrics. */
bool weft__agent_alerts_is_rule(const char *rule);

/* Adds a rule. As weft_triggers_add. */
int weft__agent_alerts_add(
	struct weft__agent_alerts *alerts, const char *rule, struct weft_trigger_error *ret_error);

/* Tests all rules after a look. */
void weft__agent_alerts_test(
	struct weft__agent_alerts *alerts, const struct weft__agent_ledger *ledger, int64_t now);

/* Reports rules that watch nothing, and each of them once: such a rule never fires, which nobody
 * would notice. */
void weft__agent_alerts_report_unused(
	struct weft__agent_alerts *alerts, const struct weft__agent_ledger *ledger);

/* Restores all levels. */
void weft__agent_alerts_finish(struct weft__agent_alerts *alerts);

#endif
