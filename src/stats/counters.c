/* SPDX-License-Identifier: ISC
 *
 * The changes of a counter in a range of time.
 */
#include "base/export.h"
#include "base/search.h"
#include "stats/stats.h"

/* Integers are compared as such, because doubles are not exact beyond 2^53. */
static bool is_less(struct weft_number a, struct weft_number b)
{
	return a.is_real || b.is_real ? a.real < b.real : a.integer < b.integer;
}

WEFT__EXPORT struct weft_stats_counter weft_stats_counter_of(
	const struct weft_stats *stats, uint32_t counter)
{
	const struct weft_model *model = stats->story->model;
	const struct weft_counter *c = &model->counters[counter];
	const uint64_t *time = model->samples.time;
	uint32_t end = c->first + c->count;
	uint32_t from = weft__search(time, c->first, end, weft__is_less_u64, stats->options.start_ns);
	uint32_t to = weft__search(time, from, end, weft__is_less_u64, stats->options.end_ns);
	struct weft_stats_counter found = {.before = c->start};
	if (from > c->first)
		found.before = weft_counter_number(model, c, from - 1);
	else if (c->begins_total && to > from)
		found.before = weft_counter_number(model, c, from++);
	else
		found.has_no_before = c->begins_set;
	found.changes = to - from;
	found.has_no_value = found.has_no_before && !found.changes;
	found.after = found.min = found.max = found.before;
	if (found.has_no_before && found.changes)
		found.min = found.max = weft_counter_number(model, c, from);
	for (uint32_t i = from; i < to; i++) {
		found.after = weft_counter_number(model, c, i);
		found.min = is_less(found.after, found.min) ? found.after : found.min;
		found.max = is_less(found.max, found.after) ? found.after : found.max;
	}
	return found;
}

WEFT__EXPORT struct weft_number weft_stats_change(const struct weft_stats_counter *counter)
{
	struct weft_number before = counter->before, after = counter->after;
	struct weft_number change = {.real = after.real - before.real};
	change.is_real = after.is_real || before.is_real;
	if (__builtin_sub_overflow(after.integer, before.integer, &change.integer))
		change.integer = after.integer > before.integer ? INT64_MAX : INT64_MIN;
	return change;
}
