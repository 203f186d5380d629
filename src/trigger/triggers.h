/* SPDX-License-Identifier: ISC
 *
 * Declarations that the files of triggers share.
 *
 *     rule.c      the language of rules
 *     waiters.c   the tasks that wait, the longest first
 *     words.c     words, numbers and times, for both languages
 *     metric_rule.c  the language of rules about metrics, for weft agent
 *     tests.c     a listener of the state: tests the rules
 *     trigger.c   takes events; forgets tasks
 */
#ifndef WEFT_TRIGGER_TRIGGERS_H
#define WEFT_TRIGGER_TRIGGERS_H

#include <weft/trigger.h>

#include "model/state.h"
#include "trigger/rule.h"
#include "trigger/waiters.h"

/* The task that runs on a thread. */
struct weft__runner {
	uint32_t task; /* WEFT_NONE: no live task */
	uint64_t since_ns;
	uint64_t tested; /* see struct weft__waiter */
};

struct weft_triggers {
	struct rule rules[WEFT_TRIGGERS_MAX];
	unsigned count;
	bool wants_tasks; /* some rule is about a duration */
	uint64_t fired;
	unsigned first_fired;
	struct weft_trace_alert alert; /* of that rule */

	struct weft__identities identities;
	struct weft__state state;
	struct weft__waiters waiters;
	struct weft__runner *runners;
	size_t runner_count;
	struct weft__strings kinds;                 /* names of kinds, see weft__model_number_kind */
	const struct weft_event *event;             /* the event being taken */
	uint64_t event_ns, event_ticks, event_task; /* of the last event */
	uint64_t until_forgetting;                  /* events */
};

extern const struct weft__listener weft__trigger_listener;

void weft__trigger_test_tag(struct weft_triggers *triggers, const struct weft_event *event);

/* True if `value` is beyond the rule's limit. */
bool weft__trigger_holds(const struct rule *rule, struct weft_number value);

#endif
