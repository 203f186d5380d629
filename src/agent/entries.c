/* SPDX-License-Identifier: ISC
 *
 * See entries.h.
 */
#include "agent/entries.h"

#include <string.h>

#include "agent/sha256.h"

#define HOUR 3600

/* An entry's fields. */
struct entry {
	int64_t number, time, amount, total;
	struct weft__agent_key key;
};

/* ---- Lines ---- */

/* As RFC 4180 has it: in quotation marks if necessary, which are doubled. */
static void add_field(struct weft_text *text, const char *field)
{
	if (!field[strcspn(field, "\",\r\n")]) {
		weft_text_add_string(text, field);
		return;
	}
	weft_text_add_string(text, "\"");
	for (; *field; field++)
		weft_text_add(text, *field == '"' ? "\"\"" : field, *field == '"' ? 2 : 1);
	weft_text_add_string(text, "\"");
}

static void add_line(struct weft_text *text, const struct entry *entry)
{
	const char *const fields[] = {
		entry->key.user, entry->key.program, entry->key.metric, entry->key.labels, entry->key.part};
	weft_text_add_i64(text, entry->number);
	weft_text_add_string(text, ",");
	weft_text_add_i64(text, entry->time);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		weft_text_add_string(text, ",");
		add_field(text, fields[i]);
	}
	weft_text_add_string(text, ",");
	weft_text_add_i64(text, entry->amount);
	weft_text_add_string(text, ",");
	weft_text_add_i64(text, entry->total);
}

/* Replaces a hash by that of the next entry. False without memory. */
static bool chain(char hash[65], const struct entry *entry)
{
	struct weft_text text = {0};
	weft_text_add_string(&text, hash);
	weft_text_add_string(&text, "\n");
	add_line(&text, entry);
	weft_text_add_string(&text, "\n");
	bool good = !text.error;
	if (good)
		weft__agent_sha256(text.bytes, text.size, hash);
	weft_text_finish(&text);
	return good;
}

/* ---- Writing ---- */

int weft__agent_entries_load(struct weft__agent_entries *entries, sqlite3 *database)
{
	sqlite3_stmt *row;
	*entries = (struct weft__agent_entries){.hash = WEFT__AGENT_FIRST_HASH};
	int result = sqlite3_prepare_v2(database,
		"SELECT number, time, hash FROM entries ORDER BY number DESC LIMIT 1", -1, &row, NULL);
	if (result)
		return result;
	if (sqlite3_step(row) == SQLITE_ROW) {
		const char *hash = (const char *)sqlite3_column_text(row, 2);
		entries->number = sqlite3_column_int64(row, 0);
		entries->time = sqlite3_column_int64(row, 1);
		if (hash && strlen(hash) == 64)
			memcpy(entries->hash, hash, sizeof(entries->hash));
	}
	return sqlite3_finalize(row);
}

static bool has_change(const struct weft__agent_series *series)
{
	return weft__agent_series_is_billed(series->type) && series->next != series->entered;
}

static int write_entry(struct weft__agent_entries *entries, struct weft__agent_ledger *ledger,
	uint32_t number, int64_t now)
{
	const struct weft__agent_series *series = &ledger->series.list[number];
	const struct entry entry = {.number = ++entries->next_number,
		.time = now,
		.amount = series->next - series->entered,
		.total = series->next,
		.key = weft__agent_series_key(&ledger->series, number)};
	if (!chain(entries->next_hash, &entry))
		return SQLITE_NOMEM;
	const struct weft__agent_value values[] = {WEFT__AGENT_I(entry.number),
		WEFT__AGENT_I(entry.time), WEFT__AGENT_I((int64_t)number + 1), WEFT__AGENT_I(entry.amount),
		WEFT__AGENT_I(entry.total), WEFT__AGENT_T(entries->next_hash)};
	return weft__agent_database_run(&ledger->database, WEFT__AGENT_ADD_ENTRY, values, 6);
}

/* Also when the clock was set back into an earlier hour: the chain must not stop until it comes
 * again. */
static bool is_due(const struct weft__agent_entries *entries, int64_t now)
{
	return now / HOUR != entries->time / HOUR;
}

int weft__agent_entries_write(
	struct weft__agent_entries *entries, struct weft__agent_ledger *ledger, int64_t now)
{
	int result = SQLITE_OK;
	entries->next_number = entries->number;
	memcpy(entries->next_hash, entries->hash, sizeof(entries->hash));
	if (!entries->time)
		entries->time = now; /* the first hour begins with the first look */
	if (!is_due(entries, now))
		return result;
	for (uint32_t i = 0; i < ledger->series.keys.count && !result; i++)
		if (has_change(&ledger->series.list[i]))
			result = write_entry(entries, ledger, i, now);
	return result;
}

void weft__agent_entries_commit(
	struct weft__agent_entries *entries, struct weft__agent_ledger *ledger, int64_t now)
{
	if (!is_due(entries, now))
		return;
	for (uint32_t i = 0; i < ledger->series.keys.count; i++)
		if (has_change(&ledger->series.list[i]))
			ledger->series.list[i].entered = ledger->series.list[i].next;
	entries->number = entries->next_number;
	entries->time = now;
	memcpy(entries->hash, entries->next_hash, sizeof(entries->hash));
}

/* ---- Printing ---- */

static void add_member(struct weft_text *text, const char *name, const char *value)
{
	weft_text_add_string(text, ",\"");
	weft_text_add_string(text, name);
	weft_text_add_string(text, "\":");
	weft_text_add_json(text, value, strlen(value));
}

static void add_number(struct weft_text *text, const char *name, int64_t number)
{
	weft_text_add_string(text, ",\"");
	weft_text_add_string(text, name);
	weft_text_add_string(text, "\":");
	weft_text_add_i64(text, number);
}

static void add_json(
	struct weft_text *text, const struct entry *entry, bool is_open, const char *hash)
{
	weft_text_add_string(text, "{\"number\":");
	weft_text_add_i64(text, entry->number);
	add_number(text, "time", entry->time);
	weft_text_add_string(text, ",\"user\":");
	weft_text_add_string(text, entry->key.user);
	add_member(text, "program", entry->key.program);
	add_member(text, "metric", entry->key.metric);
	weft_text_add_string(text, ",\"labels\":");
	weft_text_add_string(text, entry->key.labels);
	add_member(text, "part", entry->key.part);
	add_number(text, "amount", entry->amount);
	add_number(text, "total", entry->total);
	weft_text_add_string(text, is_open ? ",\"open\":true" : ",\"open\":false");
	add_member(text, "hash", hash);
	weft_text_add_string(text, "}\n");
}

static void add_csv(
	struct weft_text *text, const struct entry *entry, bool is_open, const char *hash)
{
	add_line(text, entry);
	weft_text_add_string(text, is_open ? ",open," : ",closed,");
	weft_text_add_string(text, hash);
	weft_text_add_string(text, "\n");
}

static const char *column(sqlite3_stmt *row, int number)
{
	const char *text = (const char *)sqlite3_column_text(row, number);
	return text ? text : "";
}

/* Closed entries have a number. An open one gets the next, and its time is the latest known. */
static struct entry entry_of(sqlite3_stmt *row, int64_t number)
{
	return (struct entry){.number = number,
		.time = sqlite3_column_int64(row, 1),
		.amount = sqlite3_column_int64(row, 7),
		.total = sqlite3_column_int64(row, 8),
		.key = {column(row, 2), column(row, 3), column(row, 4), column(row, 5), column(row, 6)}};
}

static bool print_row(struct weft_text *text, sqlite3_stmt *row, bool is_json, int64_t *number,
	char hash[65], int64_t *broken)
{
	const bool is_open = sqlite3_column_type(row, 0) == SQLITE_NULL;
	const struct entry entry = entry_of(row, is_open ? *number + 1 : sqlite3_column_int64(row, 0));
	if (!chain(hash, &entry))
		return false;
	const char *stored = is_open ? hash : column(row, 9);
	if (!*broken && (entry.number != *number + 1 || strcmp(stored, hash) != 0))
		*broken = entry.number;
	(is_json ? add_json : add_csv)(text, &entry, is_open, stored);
	*number = entry.number;
	return true;
}

int weft__agent_entries_print(
	sqlite3 *database, bool is_json, struct weft_text *text, int64_t *ret_broken)
{
	static const char sql[] =
		"SELECT * FROM (SELECT number, time, user, program, metric, labels, part, amount, total,"
		" hash FROM entries JOIN series ON series.id = entries.series ORDER BY number)"
		" UNION ALL SELECT * FROM (SELECT NULL, (SELECT max(stop) FROM watched), user, program,"
		" metric, labels, part, total - known, total, '' FROM (SELECT l.series AS series, l.total"
		" AS total, coalesce((SELECT e.total FROM entries AS e WHERE e.series = l.series ORDER BY"
		" number DESC LIMIT 1), 0) AS known FROM ledger AS l) AS o JOIN series"
		" ON series.id = o.series WHERE total <> known ORDER BY series.id)";
	sqlite3_stmt *row;
	char hash[65] = WEFT__AGENT_FIRST_HASH;
	int64_t number = 0, broken = 0;
	int step, result = sqlite3_prepare_v2(database, sql, -1, &row, NULL);
	if (result)
		return result;
	if (!is_json)
		weft_text_add_string(
			text, "number,time,user,program,metric,labels,part,amount,total,state,hash\n");
	while ((step = sqlite3_step(row)) == SQLITE_ROW && !result)
		result = print_row(text, row, is_json, &number, hash, &broken) ? SQLITE_OK : SQLITE_NOMEM;
	int end = sqlite3_finalize(row);
	*ret_broken = broken;
	return result ? result : step == SQLITE_DONE ? end : step;
}
