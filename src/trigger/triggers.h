/* SPDX-License-Identifier: ISC
 *
 * What the parts of triggers share.
 *
 *     rule.c      the language of rules
 *     waiters.c   the tasks that wait, the longest first
 *     tests.c     a listener of the state: tests the rules
 *     trigger.c   takes events; forgets tasks
 */
#ifndef WEFT_TRIGGER_TRIGGERS_H
#define WEFT_TRIGGER_TRIGGERS_H

#include <weft/trigger.h>

#include "model/state.h"
#include "trigger/rule.h"
#include "trigger/waiters.h"

/* What runs on a thread. */
struct weft__runner {
	uint32_t task; /* WEFT_NONE: none that lives */
	uint64_t since_ns;
	uint64_t tested; /* as a waiter's */
};

struct weft_triggers {
	struct rule rules[WEFT_TRIGGERS_MAX];
	unsigned count;
	bool wants_tasks; /* some rule is of time */
	uint64_t fired;
	unsigned first_fired;

	struct weft__identities identities;
	struct weft__state state;
	struct weft__waiters waiters;
	struct weft__runner *runners;
	size_t runner_count;
	const struct weft_event *event; /* that is being taken */
	uint64_t until_forgetting;      /* events */
};

extern const struct weft__listener weft__trigger_listener;

void weft__trigger_test_tag(struct weft_triggers *triggers, const struct weft_event *event);

/* Is the counter beyond the rule's limit? */
bool weft__trigger_holds(const struct rule *rule, int64_t value);

#endif
