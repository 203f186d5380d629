/* SPDX-License-Identifier: ISC
 *
 * Rules about metrics in a build without SQLite, which has no agent: see rules.h. The parser of
 * other rules refuses them.
 */
#include "rules.h"

bool record_rules_is_one(const char *rule)
{
	(void)rule;
	return false;
}

bool record_rules_add(const char *command, const char *rule, struct record_rules **rules)
{
	(void)command;
	(void)rule;
	(void)rules;
	return false;
}

void record_rules_use(struct record_rules *rules, struct weft__runs_snapshot_options *snapshots)
{
	(void)rules;
	(void)snapshots;
}

void record_rules_finish(struct record_rules *rules)
{
	(void)rules;
}
