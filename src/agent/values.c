/* SPDX-License-Identifier: ISC
 *
 * Reads the values of all regions (ledger.h). Whether a process has ended is looked at before its
 * values are read: so those of the dead are the last ones.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/exemplars.h"
#include "agent/ledger.h"
#include "runs/attach/metrics.h"
#include "runs/guests/usage.h"

/* A region has as many values as this at most: more than programs have. */
#define ITEMS_MAX 16384

/* ---- Items ---- */

static uint64_t hash_item(const struct weft__hash_key *key, const void *region, uint32_t item)
{
	const struct weft__agent_region *it = region;
	return weft__hash_bytes(key, &it->items[item].series, sizeof(it->items[item].series));
}

static struct weft__agent_item *add_item(struct weft__agent_region *region, uint32_t series)
{
	size_t count = region->item_count;
	if (count >= ITEMS_MAX || (!region->index.slots && weft__index_init(&region->index)))
		return NULL;
	/* The capacity is the next power of two. */
	if ((count & (count - 1)) == 0) {
		size_t capacity = count ? 2 * count : 1;
		struct weft__agent_item *items = realloc(region->items, capacity * sizeof(*items));
		if (!items)
			return NULL;
		region->items = items;
	}
	region->items[count] = (struct weft__agent_item){.series = series};
	if (weft__index_add(&region->index, (uint32_t)count, hash_item, region))
		return NULL;
	return &region->items[region->item_count++];
}

static struct weft__agent_item *find_item(struct weft__agent_region *region, uint32_t series)
{
	const struct weft__index *index = &region->index;
	uint32_t slot, item;
	if (!index->slots)
		return add_item(region, series);
	slot = weft__index_start(index, weft__hash_bytes(&index->key, &series, sizeof(series)));
	while ((item = index->slots[slot]) != WEFT__INDEX_EMPTY) {
		if (region->items[item].series == series)
			return &region->items[item];
		slot = weft__index_next(index, slot);
	}
	return add_item(region, series);
}

/* Reads which part of the region's values is in the ledger already. */
static int load_seen(struct weft__agent_ledger *ledger, struct weft__agent_region *region)
{
	sqlite3_stmt *row;
	int step = SQLITE_DONE, result = sqlite3_prepare_v2(ledger->database.it,
								"SELECT series, value FROM seen WHERE region = ?", -1, &row, NULL);
	if (!result)
		result = sqlite3_bind_text(row, 1, region->name, 32, SQLITE_STATIC);
	while (!result && (step = sqlite3_step(row)) == SQLITE_ROW) {
		int64_t number = sqlite3_column_int64(row, 0) - 1;
		bool is_there = number >= 0 && number < ledger->series.keys.count;
		struct weft__agent_item *item = is_there ? add_item(region, (uint32_t)number) : NULL;
		if (!item)
			result = is_there ? SQLITE_NOMEM : SQLITE_CORRUPT;
		else
			item->seen = item->now = sqlite3_column_int64(row, 1);
	}
	int end = sqlite3_finalize(row);
	region->is_loaded = !result && step == SQLITE_DONE;
	region->is_known = region->item_count > 0;
	return result ? result : step == SQLITE_DONE ? end : step;
}

/* ---- Types ---- */

static bool agree_on_type(const struct weft__agent_series *series, enum weft__agent_type type)
{
	if (series->type == type)
		return true;
	if (type == WEFT__AGENT_TYPE_UNKNOWN)
		return series->type != WEFT__AGENT_TYPE_HISTOGRAM;
	/* A real value that is 0 looks like an integer. */
	return series->type == WEFT__AGENT_TYPE_REAL ||
		   (series->type == WEFT__AGENT_TYPE_GAUGE && type == WEFT__AGENT_TYPE_REAL);
}

/* True if a counter may go on with the series. Only a series of which nobody said what it is may
 * become something else, and only a counter that does not say it may have any unit. */
static bool agree(struct weft__agent_all_series *all, struct weft__agent_series *series,
	const struct weft__runs_counter *counter)
{
	const enum weft__agent_type type = weft__agent_series_type(counter);
	if (series->type == WEFT__AGENT_TYPE_UNKNOWN && type != WEFT__AGENT_TYPE_UNKNOWN) {
		series->type = type;
		weft__agent_series_set_unit(all, series, counter);
		series->is_retyped = true;
		return true;
	}
	return agree_on_type(series, type) &&
		   (type == WEFT__AGENT_TYPE_UNKNOWN || weft__agent_series_has_unit(all, series, counter));
}

/* ---- Reading ---- */

struct reading {
	struct weft__agent_ledger *ledger;
	struct weft__agent_region *region;
	int64_t now;
	int64_t base; /* a time at which new series were 0 */
	bool is_full; /* a value had no room */
	struct weft__agent_name name;
};

/* A new series had no value at the last look, or when the program began. */
static int64_t base_of(
	const struct weft__agent_ledger *ledger, const struct weft__agent_region *region, int64_t now)
{
	int64_t base = region->is_known || region->digest ? ledger->last : (int64_t)region->born;
	return base > 0 && base < now ? base : now - 1;
}

/* Takes a part of the counter that `reading` names. */
static void take_value(struct reading *reading, const struct weft__agent_part *part, int64_t value)
{
	const struct weft__runs_counter *counter = reading->name.counter;
	struct weft__agent_ledger *ledger = reading->ledger;
	struct weft__agent_region *region = reading->region;
	uint32_t number = weft__agent_series_find(&ledger->series, &reading->name, part);
	struct weft__agent_item *item = number == WEFT__AGENT_NONE ? NULL : find_item(region, number);
	if (!item) {
		if (!reading->is_full)
			weft__agent_ledger_refuse(ledger, reading->now, region,
				"there is no room for its counter \"%s\", or more", counter->name);
		reading->is_full = region->is_damaged = true;
		return;
	}
	struct weft__agent_series *series = &ledger->series.list[number];
	item->is_refused = !agree(&ledger->series, series, counter);
	if (item->is_refused)
		weft__agent_ledger_refuse(ledger, reading->now, region,
			"its counter \"%s\" has another type or unit than it had in this program before",
			counter->name);
	if (!series->base)
		series->base = reading->base;
	item->now = (item->is_read ? (int64_t)((uint64_t)item->now + (uint64_t)value) : value);
	item->real =
		(item->is_read ? item->real : 0) + (counter->is_real ? counter->real : (double)value);
	item->is_read = true;
	if (!item->is_refused && isnan(part->bound))
		weft__agent_exemplars_take(ledger, region, item, &counter->exemplar, reading->now);
}

/* Cells are named after 8 times the exponent of their largest value. */
static void take_histogram(struct reading *reading, const struct weft__runs_counter *counter)
{
	const struct weft__runs_histogram *it = &counter->histogram;
	struct weft__agent_part part = {.name = "sum", .bound = NAN};
	take_value(reading, &part, (int64_t)it->sum);
	for (uint32_t i = 0; i < it->cell_count; i++) {
		if (!it->cells[i])
			continue;
		int eighths = 8 * it->first_exponent + (int)i;
		bool is_last = i + 1 == it->cell_count;
		part.bound = is_last ? INFINITY : exp2(eighths / 8.0);
		snprintf(part.name, sizeof(part.name), is_last ? "le:inf" : "le:%d", eighths);
		take_value(reading, &part, (int64_t)it->cells[i]);
	}
}

/* Frees the counters. */
static void take_counters(struct reading *reading, struct weft__runs_counters *counters)
{
	const struct weft__agent_part value = {.name = "value", .bound = NAN};
	for (size_t i = 0; i < reading->region->item_count; i++)
		reading->region->items[i].is_read = false;
	for (size_t i = 0; i < counters->count; i++) {
		const struct weft__runs_counter *counter = &counters->list[i];
		weft__agent_series_name(
			&reading->name, reading->region->user, reading->region->program, counter);
		if (counter->type == WEFT__RUNS_HISTOGRAM)
			take_histogram(reading, counter);
		else
			take_value(reading, &value, counter->integer);
	}
	weft_text_finish(&reading->name.key);
	weft__runs_counters_finish(counters);
}

static void parse(struct reading *reading)
{
	struct weft__agent_ledger *ledger = reading->ledger;
	struct weft__runs_counters counters;
	int error = reading->region->kind == WEFT__AGENT_METRICS
					? weft__runs_metrics_parse(ledger->regions.memory, &counters)
					: weft__runs_counters_parse(ledger->regions.memory, &counters);
	if (error) {
		reading->region->is_damaged = true;
		weft__agent_ledger_refuse(
			ledger, reading->now, reading->region, "its counters are damaged");
		return;
	}
	take_counters(reading, &counters);
}

/* The last values of a process or domain that has ended are those of the last look. */
static void ask_domain(struct reading *reading)
{
	const struct weft__agent_region *region = reading->region;
	struct weft__runs_counters counters;
	if (!region->is_away &&
		weft__runs_usage_read_one(reading->ledger->regions.xen, region->domain, &counters) == 0)
		take_counters(reading, &counters);
}

/* Another process may have its number by now. */
static void ask(struct reading *reading)
{
	struct weft__agent_region *region = reading->region;
	const struct weft__agent_regions *regions = &reading->ledger->regions;
	struct weft__runs_counters counters;
	const bool is_early = region->asked && reading->now >= region->asked &&
						  reading->now - region->asked < regions->ask_each;
	if (region->is_dead || is_early || regions->reads(region->pid, &counters))
		return;
	region->asked = reading->now;
	if (weft__agent_regions_has_ended(region->pid, region->started))
		weft__runs_counters_finish(&counters);
	else
		take_counters(reading, &counters);
}

/* A damaged region of a dead process is read again each minute: there may be room for it then. */
static bool is_resting(const struct weft__agent_region *region, int64_t now)
{
	return region->is_dead && region->is_damaged && (now - region->dead_since) % 60 != 0;
}

static int read_region(
	struct weft__agent_ledger *ledger, struct weft__agent_region *region, int64_t now)
{
	if (region->is_dead && !region->dead_since)
		region->dead_since = now;
	if (is_resting(region, now))
		return SQLITE_OK;
	int result = region->is_loaded || !ledger->database.it ? SQLITE_OK : load_seen(ledger, region);
	const bool is_memory = !result && region->kind < WEFT__AGENT_KINDS;
	const char *damage = is_memory ? weft__agent_regions_read(&ledger->regions, region) : NULL;
	if (damage)
		weft__agent_ledger_refuse(ledger, now, region, "%s", damage);
	region->is_damaged = damage;
	if (result || damage || !region->is_begun)
		return result;
	struct reading reading = {
		.ledger = ledger, .region = region, .now = now, .base = base_of(ledger, region, now)};
	if (region->kind == WEFT__AGENT_DOMAIN)
		ask_domain(&reading);
	else if (!is_memory)
		ask(&reading);
	else if (weft__agent_regions_differs(&ledger->regions, region))
		parse(&reading);
	return SQLITE_OK;
}

/* ---- Sums ---- */

/* If a value of which nobody said what it is goes back, it is a gauge. */
static void look_for_fall(struct weft__agent_ledger *ledger, struct weft__agent_region *region,
	const struct weft__agent_item *item, int64_t now)
{
	struct weft__agent_series *series = &ledger->series.list[item->series];
	if (series->type != WEFT__AGENT_TYPE_UNKNOWN || item->now >= item->seen)
		return;
	series->type = WEFT__AGENT_TYPE_GAUGE;
	series->is_retyped = true;
	weft__agent_ledger_refuse(ledger, now, region,
		"its counter \"%s\" went back, so it is a gauge from now on, and not in the ledger",
		weft__agent_series_key(&ledger->series, item->series).metric);
}

static void sum_up(struct weft__agent_ledger *ledger, int64_t now)
{
	for (uint32_t i = 0; i < ledger->series.keys.count; i++) {
		ledger->series.list[i].is_live = false;
		ledger->series.list[i].now = 0;
	}
	for (size_t i = 0; i < ledger->regions.count; i++) {
		struct weft__agent_region *region = ledger->regions.list[i];
		for (size_t k = 0; k < region->item_count; k++) {
			const struct weft__agent_item *item = &region->items[k];
			struct weft__agent_series *series = &ledger->series.list[item->series];
			look_for_fall(ledger, region, item, now);
			if (region->is_dead || region->is_away || item->is_refused)
				continue;
			series->is_live = true;
			series->now += item->real;
		}
	}
}

int weft__agent_ledger_read(struct weft__agent_ledger *ledger, int64_t now)
{
	int result = SQLITE_OK;
	weft__agent_regions_look(&ledger->regions);
	for (size_t i = 0; i < ledger->regions.count && !result; i++)
		result = read_region(ledger, ledger->regions.list[i], now);
	if (!result)
		sum_up(ledger, now);
	return result;
}
