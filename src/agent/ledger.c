/* SPDX-License-Identifier: ISC
 *
 * See ledger.h. In memory, what was seen and the totals change when the transaction is committed:
 * after one that failed, the next look writes the same changes again.
 */
#include "agent/ledger.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs/message.h"

/* A damaged region is kept so long, for people to look at. */
#define DAMAGED_KEPT_S (7 * 24 * 3600)

/* Programs may be hostile: what they do wrong must fill neither the database nor the log. */
#define INCIDENTS_OF_LOOK   512
#define INCIDENTS_OF_REGION 16

/* ---- Incidents ---- */

static void keep_incident(struct weft__agent_ledger *ledger, struct weft__agent_incident incident)
{
	if (ledger->incident_count == ledger->incident_capacity) {
		size_t capacity = ledger->incident_capacity ? 2 * ledger->incident_capacity : 16;
		struct weft__agent_incident *list = realloc(ledger->incidents, capacity * sizeof(*list));
		if (!list) {
			free(incident.what);
			return;
		}
		ledger->incidents = list;
		ledger->incident_capacity = capacity;
	}
	ledger->incidents[ledger->incident_count++] = incident;
}

void weft__agent_ledger_refuse(struct weft__agent_ledger *ledger, int64_t now,
	struct weft__agent_region *region, const char *format, ...)
{
	struct weft__agent_incident incident = {.time = now};
	va_list arguments;
	/* The half is left for what no region causes. */
	if (ledger->incident_count >= (region ? INCIDENTS_OF_LOOK / 2 : INCIDENTS_OF_LOOK) ||
		(region && region->trouble_count >= INCIDENTS_OF_REGION))
		return;
	va_start(arguments, format);
	int size = vasprintf(&incident.what, format, arguments);
	va_end(arguments);
	if (size < 0)
		return;
	if (region) {
		bool is_known = strncmp(region->trouble, incident.what, sizeof(region->trouble) - 1) == 0;
		snprintf(region->trouble, sizeof(region->trouble), "%s", incident.what);
		if (is_known) {
			free(incident.what);
			return;
		}
		memcpy(incident.region, region->name, sizeof(incident.region));
		bool is_last = ++region->trouble_count == INCIDENTS_OF_REGION;
		weft__runs_report("program \"%s\" of user %llu, region %s: %s%s", region->program,
			(unsigned long long)region->user, region->name, incident.what,
			is_last ? "; later incidents of this region are not noted" : "");
	} else {
		weft__runs_report("%s", incident.what);
	}
	keep_incident(ledger, incident);
}

static void clear_incidents(struct weft__agent_ledger *ledger)
{
	for (size_t i = 0; i < ledger->incident_count; i++)
		free(ledger->incidents[i].what);
	ledger->incident_count = 0;
}

/* ---- Writing ---- */

#define RUN(ledger, statement, ...)                                     \
	weft__agent_database_run(&(ledger)->database, (statement),          \
		(const struct weft__agent_value[]){__VA_ARGS__},                \
		(int)(sizeof((const struct weft__agent_value[]){__VA_ARGS__}) / \
			  sizeof(struct weft__agent_value)))

static int forget(struct weft__agent_ledger *ledger, const char *region)
{
	int result = RUN(ledger, WEFT__AGENT_FORGET_SEEN, WEFT__AGENT_T(region));
	return result ? result : RUN(ledger, WEFT__AGENT_FORGET_REGION, WEFT__AGENT_T(region));
}

static int save_region(struct weft__agent_ledger *ledger, const struct weft__agent_region *region)
{
	const struct weft__agent_value born = {WEFT__AGENT_REAL, 0, region->born, NULL};
	return RUN(ledger, WEFT__AGENT_ADD_REGION, WEFT__AGENT_T(region->name),
		WEFT__AGENT_I((int64_t)region->user), WEFT__AGENT_T(region->program),
		WEFT__AGENT_I(region->pid), born,
		WEFT__AGENT_T(region->started ? "" : ledger->regions.path),
		WEFT__AGENT_I((int64_t)region->started), WEFT__AGENT_T(ledger->boot));
}

/* Adds what an item has changed to the total that will be written. False after an incident. */
static bool add_change(struct weft__agent_ledger *ledger, struct weft__agent_region *region,
	const struct weft__agent_item *item, int64_t now)
{
	struct weft__agent_series *series = &ledger->series.list[item->series];
	const char *metric = weft__agent_series_key(&ledger->series, item->series).metric;
	int64_t change, total;
	if (__builtin_sub_overflow(item->now, item->seen, &change) || change < 0) {
		weft__agent_ledger_refuse(ledger, now, region,
			"its counter \"%s\" went back from %lld to %lld", metric, (long long)item->seen,
			(long long)item->now);
		return false;
	}
	if (__builtin_add_overflow(series->next, change, &total)) {
		weft__agent_ledger_refuse(
			ledger, now, region, "the total of its counter \"%s\" would be too large", metric);
		return false;
	}
	series->next = total;
	series->is_changed = true;
	return true;
}

/* True if the total that will be written has changed. */
static bool count_item(struct weft__agent_ledger *ledger, struct weft__agent_region *region,
	struct weft__agent_item *item, int64_t now)
{
	const struct weft__agent_series *series = &ledger->series.list[item->series];
	item->is_written = !item->is_refused && item->now != item->seen &&
					   weft__agent_series_is_billed(series->type) &&
					   add_change(ledger, region, item, now);
	return item->is_written;
}

void weft__agent_ledger_count(struct weft__agent_ledger *ledger, int64_t now)
{
	for (size_t i = 0; i < ledger->regions.count; i++) {
		struct weft__agent_region *region = ledger->regions.list[i];
		for (size_t k = 0; k < region->item_count; k++)
			count_item(ledger, region, &region->items[k], now);
	}
}

static int write_item(struct weft__agent_ledger *ledger, struct weft__agent_region *region,
	struct weft__agent_item *item, int64_t now)
{
	if (!count_item(ledger, region, item, now))
		return SQLITE_OK;
	return RUN(ledger, WEFT__AGENT_SET_SEEN, WEFT__AGENT_T(region->name),
		WEFT__AGENT_I((int64_t)item->series + 1), WEFT__AGENT_I(item->now));
}

/* A damaged one stays for days, and must not be written in each look. */
static bool is_ending(const struct weft__agent_region *region, int64_t now)
{
	return region->is_dead && region->item_count &&
		   (!region->is_damaged || region->dead_since == now);
}

static int write_region(
	struct weft__agent_ledger *ledger, struct weft__agent_region *region, int64_t now)
{
	int result = SQLITE_OK;
	if (!region->is_known && region->item_count)
		result = save_region(ledger, region);
	for (size_t i = 0; i < region->item_count && !result; i++)
		result = write_item(ledger, region, &region->items[i], now);
	if (!result && is_ending(region, now))
		result =
			RUN(ledger, WEFT__AGENT_END_REGION, WEFT__AGENT_T(region->name), WEFT__AGENT_I(now));
	return result;
}

static int write_series(struct weft__agent_ledger *ledger, uint32_t number)
{
	struct weft__agent_series *series = &ledger->series.list[number];
	const int64_t row = (int64_t)number + 1;
	int result = SQLITE_OK;
	if (!series->is_known)
		result = weft__agent_series_save(&ledger->series, number, &ledger->database);
	else if (series->is_retyped)
		result = RUN(ledger, WEFT__AGENT_SET_TYPE, WEFT__AGENT_I(row),
			WEFT__AGENT_T(weft__agent_series_type_name(series->type)),
			WEFT__AGENT_T(weft__strings_bytes(&ledger->series.texts, series->unit)),
			WEFT__AGENT_I(series->scale));
	if (!result && series->is_changed)
		result =
			RUN(ledger, WEFT__AGENT_SET_TOTAL, WEFT__AGENT_I(row), WEFT__AGENT_I(series->next));
	if (!result && series->is_retyped && !weft__agent_series_is_billed(series->type))
		result = RUN(ledger, WEFT__AGENT_DROP_TOTAL, WEFT__AGENT_I(row));
	return result;
}

static int write_incidents(struct weft__agent_ledger *ledger)
{
	int result = SQLITE_OK;
	for (size_t i = 0; i < ledger->incident_count && !result; i++)
		result = RUN(ledger, WEFT__AGENT_ADD_INCIDENT, WEFT__AGENT_I(ledger->incidents[i].time),
			WEFT__AGENT_T(ledger->incidents[i].region), WEFT__AGENT_T(ledger->incidents[i].what));
	return result;
}

int weft__agent_ledger_write(struct weft__agent_ledger *ledger, int64_t now)
{
	int result = SQLITE_OK;
	for (size_t i = 0; i < ledger->forgotten_count && !result; i++)
		result = forget(ledger, ledger->forgotten[i]);
	for (size_t i = 0; i < ledger->regions.count && !result; i++)
		result = write_region(ledger, ledger->regions.list[i], now);
	for (uint32_t i = 0; i < ledger->series.keys.count && !result; i++)
		result = write_series(ledger, i);
	return result ? result : write_incidents(ledger);
}

bool weft__agent_ledger_has_dead(const struct weft__agent_ledger *ledger, int64_t now)
{
	for (size_t i = 0; i < ledger->regions.count; i++)
		if (is_ending(ledger->regions.list[i], now))
			return true;
	return false;
}

/* ---- After the transaction ---- */

static bool will_forget(struct weft__agent_ledger *ledger, const char *region)
{
	if (ledger->forgotten_count == ledger->forgotten_capacity) {
		size_t capacity = ledger->forgotten_capacity ? 2 * ledger->forgotten_capacity : 16;
		char(*list)[33] = realloc(ledger->forgotten, capacity * sizeof(*list));
		if (!list)
			return false;
		ledger->forgotten = list;
		ledger->forgotten_capacity = capacity;
	}
	memcpy(ledger->forgotten[ledger->forgotten_count++], region, 33);
	return true;
}

/* Removes a dead region. True if it is not in the list any more. */
static bool remove_dead(struct weft__agent_ledger *ledger, size_t number, int64_t now)
{
	struct weft__agent_region *region = ledger->regions.list[number];
	if (!region->is_dead || (region->is_damaged && now - region->dead_since < DAMAGED_KEPT_S))
		return false;
	if (!weft__agent_regions_remove(&ledger->regions, region)) {
		weft__agent_ledger_refuse(
			ledger, now, region, "its file cannot be removed: %s", strerror(errno));
		return false;
	}
	if (region->item_count && !will_forget(ledger, region->name))
		return false; /* the next look removes it, and tries that again */
	weft__agent_regions_drop(&ledger->regions, number);
	return true;
}

void weft__agent_ledger_commit(struct weft__agent_ledger *ledger, int64_t now)
{
	ledger->forgotten_count = 0;
	clear_incidents(ledger);
	for (uint32_t i = 0; i < ledger->series.keys.count; i++) {
		struct weft__agent_series *series = &ledger->series.list[i];
		series->total = series->next;
		series->is_known = true;
		series->is_changed = series->is_retyped = false;
	}
	for (size_t i = 0; i < ledger->regions.count; i++) {
		struct weft__agent_region *region = ledger->regions.list[i];
		region->is_known = region->is_known || region->item_count;
		for (size_t k = 0; k < region->item_count; k++)
			if (region->items[k].is_written)
				region->items[k].seen = region->items[k].now;
	}
	for (size_t i = 0; i < ledger->regions.count;)
		i += !remove_dead(ledger, i, now);
	ledger->last = now;
}

void weft__agent_ledger_undo(struct weft__agent_ledger *ledger)
{
	for (uint32_t i = 0; i < ledger->series.keys.count; i++) {
		ledger->series.list[i].next = ledger->series.list[i].total;
		ledger->series.list[i].is_changed = false;
	}
}

/* ---- Lost regions ---- */

/* The columns are those of forget_lost's statement. */
static void look_at_lost(struct weft__agent_ledger *ledger, sqlite3_stmt *row, int64_t now)
{
	const char *name = (const char *)sqlite3_column_text(row, 0);
	const char *folder = (const char *)sqlite3_column_text(row, 1);
	const char *boot = (const char *)sqlite3_column_text(row, 4);
	if (!name || strlen(name) != 32 || !folder || !boot ||
		weft__agent_regions_named(&ledger->regions, name))
		return;
	bool is_older = strcmp(boot, ledger->boot) != 0, is_named = *folder;
	if (sqlite3_column_int64(row, 3) == WEFT__AGENT_DOMAIN_STARTED && !is_older &&
		!ledger->regions.has_found_domains)
		return;
	bool is_gone = is_named ? strcmp(folder, ledger->regions.path) == 0 &&
								  weft__agent_regions_is_gone(&ledger->regions, name)
							: weft__agent_regions_has_ended((pid_t)sqlite3_column_int64(row, 2),
								  (uint64_t)sqlite3_column_int64(row, 3));
	/* A file that is there may only have been impossible to open. */
	if (!is_gone && (is_named || !is_older))
		return;
	if (!is_older && is_named && sqlite3_column_type(row, 5) == SQLITE_NULL)
		weft__agent_ledger_refuse(ledger, now, NULL,
			"region %s: its file was removed by somebody else; the last value that was seen stands",
			name);
	will_forget(ledger, name);
}

int weft__agent_ledger_forget_lost(struct weft__agent_ledger *ledger, int64_t now)
{
	static const char sql[] = "SELECT region, folder, pid, started, boot, ended FROM regions";
	sqlite3_stmt *row;
	int step = SQLITE_DONE, result = sqlite3_prepare_v2(ledger->database.it, sql, -1, &row, NULL);
	if (result)
		return result;
	while ((step = sqlite3_step(row)) == SQLITE_ROW)
		look_at_lost(ledger, row, now);
	result = sqlite3_finalize(row);
	return step == SQLITE_DONE ? result : step;
}

void weft__agent_ledger_finish(struct weft__agent_ledger *ledger)
{
	clear_incidents(ledger);
	free(ledger->incidents);
	free(ledger->exemplars);
	free(ledger->forgotten);
	weft__agent_series_finish(&ledger->series);
	weft__agent_regions_close(&ledger->regions);
	weft__agent_database_close(&ledger->database);
	*ledger = (struct weft__agent_ledger){.regions.folder = -1};
}
