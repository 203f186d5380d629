/* SPDX-License-Identifier: ISC
 *
 * The series that a rule about metrics watches, in groups: how much each group's value is, or grew
 * in the time that the rule says. As the totals of a level contain those below it, a group has of
 * each program the series with the fewest labels.
 */
#ifndef WEFT_AGENT_WATCHED_H
#define WEFT_AGENT_WATCHED_H

#include "agent/ledger.h"
#include "base/strings.h"
#include "trigger/metric_rule.h"

/* Earlier values of a series: so the time within which growth is known is exact to 1/15 of it. */
#define WEFT__AGENT_SLOTS 16

struct weft__agent_watched_series {
	uint32_t series, group; /* WEFT__AGENT_NONE: left out */
	uint32_t program, depth;
	unsigned side; /* of a ratio */
	double past[WEFT__AGENT_SLOTS];
};

/* The value of a group; NAN: none is known. */
struct weft__agent_watched {
	struct weft__agent_watched_series *list; /* by series */
	size_t count, capacity;
	uint32_t bound;                /* series that were looked at */
	struct weft__strings programs; /* of users */
	struct weft__strings groups;   /* their names: the value of the label by which is grouped */
	double *values;                /* by group */
	size_t value_count;
	bool is_mistaken; /* a metric of that name has another type than the rule needs */
	struct {
		uint64_t ns; /* 0: not used */
		int64_t unix_s;
	} slots[WEFT__AGENT_SLOTS];
};

/* 0 or WEFT_ERROR_MEMORY. */
int weft__agent_watched_init(struct weft__agent_watched *watched);
void weft__agent_watched_finish(struct weft__agent_watched *watched);

/* Finds the rule's series among all, and sets the value of each group. `now_ns`: CLOCK_MONOTONIC.
 * 0 or WEFT_ERROR_MEMORY. */
int weft__agent_watched_look(struct weft__agent_watched *watched,
	const struct weft__metric_rule *rule, const struct weft__agent_all_series *all, uint64_t now_ns,
	int64_t now);

#endif
