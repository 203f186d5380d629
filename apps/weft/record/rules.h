/* SPDX-License-Identifier: ISC
 *
 * --trigger with rules about metrics: the values of the run's processes are read from outside while
 * they run.
 */
#ifndef WEFT_APPS_RECORD_RULES_H
#define WEFT_APPS_RECORD_RULES_H

#include "runs/saving/snapshots.h"

/* All rules of that kind; NULL: there are none. */
struct record_rules;

/* True if the text is meant as such a rule, whether or not it is right. */
bool record_rules_is_one(const char *rule);

/* Adds a rule, to new ones if `*rules` is NULL. False after a message. */
bool record_rules_add(const char *command, const char *rule, struct record_rules **rules);

/* Lets the snapshots be taken when a rule fires. NULL is allowed. */
void record_rules_use(struct record_rules *rules, struct weft__runs_snapshot_options *snapshots);

/* Reports rules that have watched nothing, if there was a run. NULL is allowed. */
void record_rules_finish(struct record_rules *rules);

#endif
