/* SPDX-License-Identifier: ISC
 *
 * See alerts.h.
 */
#include "agent/alerts.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "base/search.h"
#include "runs/message.h"

/* If more processes make a rule true, those with the largest values have snapshots. */
#define PROCESSES_MAX 4

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool weft__agent_alerts_is_rule(const char *rule)
{
	return weft__trigger_is_metric_rule(rule, strlen(rule));
}

int weft__agent_alerts_add(
	struct weft__agent_alerts *alerts, const char *rule, struct weft_trigger_error *ret_error)
{
	struct weft__agent_alert_rule *rules =
		realloc(alerts->rules, (alerts->count + 1) * sizeof(*rules));
	if (!rules)
		return WEFT_ERROR_MEMORY;
	alerts->rules = rules;
	struct weft__agent_alert_rule *it = &rules[alerts->count];
	*it = (struct weft__agent_alert_rule){.was_reported = false};
	int error = weft__trigger_metric_rule_parse(&it->it, rule, strlen(rule), ret_error);
	if (!error && weft__agent_watched_init(&it->watched)) {
		weft__trigger_metric_rule_finish(&it->it);
		error = WEFT_ERROR_MEMORY;
	}
	alerts->count += !error;
	return error;
}

void weft__agent_alerts_finish(struct weft__agent_alerts *alerts)
{
	weft__agent_levels_finish(&alerts->levels);
	for (size_t i = 0; i < alerts->count; i++) {
		struct weft__agent_alert_rule *rule = &alerts->rules[i];
		free(rule->groups);
		weft__agent_watched_finish(&rule->watched);
		weft__trigger_metric_rule_finish(&rule->it);
	}
	free(alerts->rules);
	*alerts = (struct weft__agent_alerts){.capture = alerts->capture,
		.takes = alerts->takes,
		.is_busy = alerts->is_busy,
		.context = alerts->context};
}

/* ---- Rules that watch nothing ---- */

/* Letters and digits alone, small, since people err in the others. */
static void simplify(const char *name, size_t size, char ret_simple[64])
{
	size_t length = 0;
	for (size_t i = 0; i < size && length < 63; i++)
		if (isalnum((unsigned char)name[i]))
			ret_simple[length++] = (char)tolower((unsigned char)name[i]);
	ret_simple[length] = '\0';
}

/* True for a part that is at least half of the other one, and for names that differ in at most two
 * letters next to each other. */
static bool is_like(const char *left, const char *right)
{
	const size_t l = strlen(left), r = strlen(right);
	const size_t least = l < r ? l : r, most = l < r ? r : l;
	size_t begin = 0, end = 0;
	if (strstr(left, right) || strstr(right, left))
		return least > 0 && 2 * least >= most;
	while (begin < least && left[begin] == right[begin])
		begin++;
	while (end < least - begin && left[l - end - 1] == right[r - end - 1])
		end++;
	return begin + end >= 3 && begin + end + 2 >= most;
}

/* A metric whose name is like the one that the rule has; NULL: there is none. */
static const char *find_similar(
	const struct weft__agent_all_series *all, const struct weft_slice name)
{
	char wanted[64], simple[64];
	simplify(name.bytes, name.size, wanted);
	for (uint32_t i = 0; i < all->keys.count; i++) {
		const char *metric = weft__agent_series_key(all, i).metric;
		simplify(metric, strlen(metric), simple);
		if (is_like(simple, wanted))
			return metric;
	}
	return NULL;
}

static bool is_watched(const struct weft__agent_watched *watched, unsigned side)
{
	for (size_t i = 0; i < watched->count; i++)
		if (watched->list[i].side == side)
			return true;
	return false;
}

static bool has_metric(const struct weft__agent_all_series *all, const struct weft_slice name)
{
	for (uint32_t i = 0; i < all->keys.count; i++) {
		const char *metric = weft__agent_series_key(all, i).metric;
		if (strlen(metric) == name.size && memcmp(metric, name.bytes, name.size) == 0)
			return true;
	}
	return false;
}

/* Why no series of that name is watched. */
static void add_reason(struct weft_text *text, const struct weft__agent_alert_rule *rule,
	const struct weft_slice name, const struct weft__agent_all_series *all)
{
	if (rule->watched.is_mistaken) {
		weft_text_add_string(text,
			"its metric has another type; value() is for counters and gauges, p99() for "
			"histograms");
		return;
	}
	const bool is_known = has_metric(all, name);
	const char *similar = is_known ? NULL : find_similar(all, name);
	weft_text_add_string(text, is_known ? "no program has these labels so far of its metric "
										: "no program has such a metric so far: ");
	weft_text_add_quoted(text, name.bytes, name.size);
	if (similar) {
		weft_text_add_string(text, "; there is ");
		weft_text_add_quoted(text, similar, strlen(similar));
	}
}

/* Counters and histograms never fall. */
static bool can_never_hold(
	const struct weft__agent_alert_rule *rule, const struct weft__agent_all_series *all)
{
	const struct weft__metric_rule *it = &rule->it;
	if (it->is_above || it->limit > 0 || (it->limit == 0 && it->or_equal))
		return false;
	for (size_t i = 0; i < rule->watched.count; i++) {
		const enum weft__agent_type type = all->list[rule->watched.list[i].series].type;
		if (type != WEFT__AGENT_TYPE_COUNTER && type != WEFT__AGENT_TYPE_HISTOGRAM)
			return false;
	}
	return true;
}

static void report_if_unused(
	struct weft__agent_alert_rule *rule, const struct weft__agent_all_series *all)
{
	const unsigned sides = rule->it.function == WEFT__METRIC_RATIO ? 2 : 1;
	for (unsigned side = 0; side < sides && !rule->was_reported; side++) {
		struct weft_text text = {0};
		const bool is_used = is_watched(&rule->watched, side);
		if (is_used && !can_never_hold(rule, all))
			continue;
		weft_text_add_quoted(&text, rule->it.text, rule->it.size);
		weft_text_add_string(&text, ": ");
		if (is_used)
			weft_text_add_string(&text, "it can never fire, because its metric never falls");
		else
			add_reason(&text, rule, rule->it.of[side].name, all);
		weft__runs_report("rule %.*s", (int)text.size, text.size ? text.bytes : "");
		weft_text_finish(&text);
		rule->was_reported = true;
	}
	rule->was_reported = true;
}

void weft__agent_alerts_report_unused(
	struct weft__agent_alerts *alerts, const struct weft__agent_ledger *ledger)
{
	for (size_t i = 0; i < alerts->count; i++)
		if (!alerts->rules[i].was_reported)
			report_if_unused(&alerts->rules[i], &ledger->series);
}

/* ---- Firing ---- */

struct process {
	const struct weft__agent_region *region;
	double value;
};

static bool is_before(const void *watched, uint32_t row, uint64_t series)
{
	return ((const struct weft__agent_watched *)watched)->list[row].series < series;
}

/* A ratio may have a series on both sides. */
static bool is_in_group(const struct weft__agent_watched *watched, uint32_t series, uint32_t group)
{
	const uint32_t count = (uint32_t)watched->count;
	for (uint32_t i = weft__search(watched, 0, count, is_before, series);
		 i < count && watched->list[i].series == series; i++)
		if (watched->list[i].group == group)
			return true;
	return false;
}

/* Keeps the largest, in order. */
static size_t insert(struct process *list, size_t count, struct process it)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].region->pid == it.region->pid)
			return count;
	size_t at = count < PROCESSES_MAX ? count : PROCESSES_MAX;
	while (at > 0 && list[at - 1].value < it.value) {
		if (at < PROCESSES_MAX)
			list[at] = list[at - 1];
		at--;
	}
	if (at < PROCESSES_MAX)
		list[at] = it;
	return count < PROCESSES_MAX ? count + 1 : PROCESSES_MAX;
}

/* The running processes that have values in the group. */
static size_t find_processes(const struct weft__agent_alert_rule *rule, uint32_t group,
	const struct weft__agent_ledger *ledger, struct process ret[PROCESSES_MAX])
{
	size_t count = 0;
	for (size_t i = 0; i < ledger->regions.count; i++) {
		const struct weft__agent_region *region = ledger->regions.list[i];
		double value = -1;
		for (size_t k = 0; k < region->item_count && !region->is_dead; k++)
			if (is_in_group(&rule->watched, region->items[k].series, group))
				value = fmax(value, fabs(region->items[k].real));
		if (value >= 0 && weft__agent_region_is_of(region))
			count = insert(ret, count, (struct process){region, value});
	}
	return count;
}

static void describe(const struct weft__agent_alert_rule *rule, uint32_t group, uint64_t time_ns,
	struct weft_trace_alert *ret)
{
	char number[WEFT__NUMBER_BYTES];
	const struct weft__metric_rule *it = &rule->it;
	const char *name = weft__strings_bytes(&rule->watched.groups, group);
	*ret = (struct weft_trace_alert){.time_ns = time_ns, .task = WEFT_TASK_NONE};
	snprintf(ret->rule, sizeof(ret->rule), "%s", it->text);
	snprintf(ret->value, sizeof(ret->value), "%s%s%s%.*s%s%s",
		weft__number_general(rule->watched.values[group], 6, number),
		it->function == WEFT__METRIC_RATE ? "/s" : "", it->by.size ? ", " : "", (int)it->by.size,
		it->by.size ? it->by.bytes : "", it->by.size ? " " : "", it->by.size ? name : "");
}

/* Names a group of a rule. */
static uint64_t owner_of(const struct weft__agent_alerts *alerts,
	const struct weft__agent_alert_rule *rule, uint32_t group)
{
	return (uint64_t)(rule - alerts->rules) << 32 | group;
}

static void fire(struct weft__agent_alerts *alerts, struct weft__agent_alert_rule *rule,
	uint32_t group, const struct weft__agent_ledger *ledger, uint64_t time_ns)
{
	struct process processes[PROCESSES_MAX];
	struct weft_trace_alert alert;
	struct weft_text text = {0};
	size_t count = find_processes(rule, group, ledger, processes);
	describe(rule, group, time_ns, &alert);
	weft_text_add_quoted(&text, alert.rule, strlen(alert.rule));
	weft_text_add_string(&text, " fired: ");
	weft_text_add_shown(&text, alert.value, strlen(alert.value));
	weft__runs_report("rule %.*s", (int)text.size, text.size ? text.bytes : "");
	weft_text_finish(&text);
	for (size_t i = 0; i < count; i++) {
		const struct weft__agent_region *region = processes[i].region;
		if (alerts->takes)
			alerts->takes(alerts->context, region->pid, &alert);
		else
			weft__agent_capture(&alerts->capture, region->pid, region->program, &alert);
		if (rule->it.category.size)
			weft__agent_levels_set(&alerts->levels, owner_of(alerts, rule, group), region->pid,
				rule->it.category, (enum weft_level)rule->it.level);
	}
}

/* ---- Testing ---- */

static bool reserve_groups(struct weft__agent_alert_rule *rule)
{
	size_t count = rule->watched.value_count;
	if (count <= rule->group_count)
		return true;
	struct weft__agent_alert_group *groups = realloc(rule->groups, count * sizeof(*groups));
	if (!groups)
		return false;
	memset(groups + rule->group_count, 0, (count - rule->group_count) * sizeof(*groups));
	rule->groups = groups;
	rule->group_count = count;
	return true;
}

static void test_group(struct weft__agent_alerts *alerts, struct weft__agent_alert_rule *rule,
	uint32_t number, const struct weft__agent_ledger *ledger, uint64_t time_ns)
{
	struct weft__agent_alert_group *group = &rule->groups[number];
	const double value = rule->watched.values[number];
	bool holds =
		!isnan(value) && weft__trigger_metric_rule_holds(&rule->it, value, group->has_fired);
	if (!holds) {
		weft__agent_levels_restore(&alerts->levels, owner_of(alerts, rule, number));
		*group = (struct weft__agent_alert_group){.holds = false};
		return;
	}
	if (!group->holds)
		group->since_ns = time_ns;
	group->holds = true;
	if (group->has_fired || time_ns - group->since_ns < rule->it.for_ns ||
		(alerts->is_busy && alerts->is_busy(alerts->context)))
		return;
	group->has_fired = true;
	fire(alerts, rule, number, ledger, time_ns);
}

void weft__agent_alerts_test(
	struct weft__agent_alerts *alerts, const struct weft__agent_ledger *ledger, int64_t now)
{
	const uint64_t time_ns = now_ns();
	for (size_t i = 0; i < alerts->count; i++) {
		struct weft__agent_alert_rule *rule = &alerts->rules[i];
		if (weft__agent_watched_look(&rule->watched, &rule->it, &ledger->series, time_ns, now) ||
			!reserve_groups(rule))
			continue; /* without memory it is tested later */
		for (uint32_t k = 0; k < rule->watched.value_count; k++)
			test_group(alerts, rule, k, ledger, time_ns);
	}
}
