/* SPDX-License-Identifier: ISC
 *
 * See webhook.h.
 */
#include "agent/webhook.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/labels.h"
#include "runs/message.h"

#define PROCESSES_MAX 4
#define AGE_MAX_S     86400.0

/* ---- Reading ---- */

static const char alerts_sql[] =
	"SELECT json_extract(value, '$.labels.alertname'), json_extract(value, '$.labels'),"
	" coalesce(json_extract(value, '$.annotations.value'), json_extract(value, "
	"'$.annotations.summary'), json_extract(value, '$.annotations.description'), ''),"
	" json_extract(value, '$.fingerprint'), json_extract(value, '$.startsAt'),"
	" (julianday('now') - julianday(json_extract(value, '$.startsAt'))) * 86400.0"
	" FROM json_each(?1, '$.alerts') WHERE json_extract(value, '$.status') = 'firing' LIMIT ?2";

static void copy_column(sqlite3_stmt *row, int column, char *to, size_t size)
{
	const unsigned char *text = sqlite3_column_text(row, column);
	snprintf(to, size, "%s", text ? (const char *)text : "");
}

/* Alerts of one group begin at one time: without a fingerprint they are not known to be the same.
 */
static void copy_key(struct weft__agent_call *it, sqlite3_stmt *row)
{
	if (sqlite3_column_type(row, 3) != SQLITE_TEXT || sqlite3_column_type(row, 4) != SQLITE_TEXT)
		return;
	copy_column(row, 3, it->key, sizeof(it->key) / 2);
	size_t used = strlen(it->key);
	copy_column(row, 4, it->key + used, sizeof(it->key) - used);
}

static bool add(struct weft__agent_calls *calls, sqlite3_stmt *row)
{
	const unsigned char *labels = sqlite3_column_text(row, 1);
	struct weft__agent_call *list = realloc(calls->list, (calls->count + 1) * sizeof(*list));
	if (!list)
		return false;
	calls->list = list;
	struct weft__agent_call *it = &list[calls->count];
	*it = (struct weft__agent_call){.alert.task = WEFT_TASK_NONE, .age_s = NAN};
	copy_column(row, 0, it->alert.name, sizeof(it->alert.name));
	copy_column(row, 1, it->alert.rule, sizeof(it->alert.rule));
	copy_column(row, 2, it->alert.value, sizeof(it->alert.value));
	copy_key(it, row);
	if (sqlite3_column_type(row, 5) != SQLITE_NULL)
		it->age_s = sqlite3_column_double(row, 5);
	it->labels = strdup(labels ? (const char *)labels : "");
	calls->count += it->labels != NULL;
	return it->labels;
}

/* A statement with the body as its first parameter; NULL if the body is no JSON. */
static sqlite3_stmt *prepare(sqlite3 *database, const char *sql, const char *body, size_t size)
{
	sqlite3_stmt *row;
	if (size > INT32_MAX || sqlite3_prepare_v2(database, sql, -1, &row, NULL))
		return NULL;
	sqlite3_bind_text(row, 1, body, (int)size, SQLITE_STATIC);
	sqlite3_bind_int(row, 2, WEFT__AGENT_CALLS_MAX);
	return row;
}

static const char *check(sqlite3 *database, const char *body, size_t size)
{
	const char *problem = NULL;
	sqlite3_stmt *row =
		prepare(database, "SELECT json_valid(?1), json_type(?1, '$.alerts')", body, size);
	if (!row || sqlite3_step(row) != SQLITE_ROW || !sqlite3_column_int(row, 0))
		problem = "the body is not JSON";
	else if (strcmp(sqlite3_column_type(row, 1) == SQLITE_TEXT
						? (const char *)sqlite3_column_text(row, 1)
						: "",
				 "array") != 0)
		problem = "the body has no list of alerts";
	sqlite3_finalize(row);
	row = problem ? NULL : prepare(database, "SELECT json_extract(?1, '$.version')", body, size);
	if (!problem && (!row || sqlite3_step(row) != SQLITE_ROW || sqlite3_column_int(row, 0) != 4))
		problem = "only version 4 of the message is known";
	sqlite3_finalize(row);
	return problem;
}

const char *weft__agent_webhook_parse(
	sqlite3 *database, const char *body, size_t size, struct weft__agent_calls *ret)
{
	*ret = (struct weft__agent_calls){0};
	const char *problem = check(database, body, size);
	if (problem)
		return problem;
	sqlite3_stmt *row = prepare(database, alerts_sql, body, size);
	int step = SQLITE_DONE;
	while (row && !problem && (step = sqlite3_step(row)) == SQLITE_ROW)
		problem = add(ret, row) ? NULL : "memory is short";
	if (!problem && (!row || step != SQLITE_DONE))
		problem = "an alert is not an object";
	sqlite3_finalize(row);
	return problem;
}

void weft__agent_calls_finish(struct weft__agent_calls *calls)
{
	for (size_t i = 0; i < calls->count; i++)
		free(calls->list[i].labels);
	free(calls->list);
	*calls = (struct weft__agent_calls){0};
}

/* ---- Which programs ---- */

/* How a program's series answer to a label. */
enum answer {
	SILENT, /* none has that label */
	DENIES, /* all that have it have other values */
	FITS,
};

static enum answer ask_region(const struct weft__agent_region *region,
	const struct weft__agent_all_series *all, const char *key, const char *value)
{
	enum answer answer = SILENT;
	for (size_t i = 0; i < region->item_count && answer != FITS; i++) {
		const char *at = weft__agent_series_key(all, region->items[i].series).labels;
		char own_key[256], own_value[256];
		while (answer != FITS && weft__agent_labels_next(&at, own_key, own_value))
			if (strcmp(own_key, key) == 0)
				answer = strcmp(own_value, value) == 0 ? FITS : DENIES;
	}
	return answer;
}

/* A program has a region for its counters and one for its metrics. */
static enum answer ask_series(
	const struct weft__agent_ledger *ledger, pid_t pid, const char *key, const char *value)
{
	enum answer answer = SILENT;
	for (size_t i = 0; i < ledger->regions.count && answer != FITS; i++) {
		const struct weft__agent_region *region = ledger->regions.list[i];
		if (region->pid != pid || region->is_dead)
			continue;
		const enum answer own = ask_region(region, &ledger->series, key, value);
		answer = own == SILENT ? answer : own;
	}
	return answer;
}

static enum answer ask(const struct weft__agent_region *region,
	const struct weft__agent_ledger *ledger, const char *key, const char *value)
{
	char pid[16];
	snprintf(pid, sizeof(pid), "%d", (int)region->pid);
	if (strcmp(key, "program") == 0)
		return strcmp(value, region->program) == 0 ? FITS : DENIES;
	if (strcmp(key, "uid") == 0) {
		char uid[24];
		snprintf(uid, sizeof(uid), "%llu", (unsigned long long)region->user);
		return strcmp(value, uid) == 0 ? SILENT : DENIES;
	}
	if (strcmp(key, "pid") == 0)
		return strcmp(value, pid) == 0 ? FITS : DENIES;
	return ask_series(ledger, region->pid, key, value);
}

/* True if some label names the region's program, and none another one. */
static bool is_named(const struct weft__agent_region *region,
	const struct weft__agent_ledger *ledger, const char *labels)
{
	char key[256], value[256];
	bool is_any = false;
	while (weft__agent_labels_next(&labels, key, value)) {
		enum answer answer = ask(region, ledger, key, value);
		if (answer == DENIES)
			return false;
		is_any |= answer == FITS;
	}
	return is_any;
}

/* ---- Acting ---- */

static uint64_t time_of(const struct weft__agent_call *call)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	const uint64_t ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (isnan(call->age_s) || call->age_s < 0 || call->age_s > AGE_MAX_S)
		return ns;
	const uint64_t age_ns = (uint64_t)(call->age_s * 1e9);
	return age_ns < ns ? ns - age_ns : ns;
}

static void report(const struct weft__agent_call *call, const char *what)
{
	struct weft_text text = {0};
	weft_text_add_quoted(&text, call->alert.name, strlen(call->alert.name));
	weft__runs_report("alert %.*s%s", (int)text.size, text.size ? text.bytes : "", what);
	weft_text_finish(&text);
}

bool weft__agent_webhook_act(struct weft__agent_alerts *alerts,
	const struct weft__agent_ledger *ledger, const struct weft__agent_call *call)
{
	struct weft_trace_alert alert = call->alert;
	pid_t taken[PROCESSES_MAX];
	size_t count = 0;
	bool is_any_saved = false;
	alert.time_ns = time_of(call);
	for (size_t i = 0; i < ledger->regions.count && count < PROCESSES_MAX; i++) {
		const struct weft__agent_region *region = ledger->regions.list[i];
		bool is_taken = false;
		for (size_t k = 0; k < count; k++)
			is_taken |= taken[k] == region->pid;
		if (is_taken || region->is_dead || !is_named(region, ledger, call->labels) ||
			!weft__agent_region_is_of(region))
			continue;
		taken[count++] = region->pid;
		is_any_saved |= weft__agent_capture(&alerts->capture, region->pid, region->program, &alert);
	}
	if (!count)
		report(call, ": no running program has its labels");
	return is_any_saved;
}
