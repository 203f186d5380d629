/* SPDX-License-Identifier: ISC
 *
 * See series.h. Series are only added, and the database numbers them as we do.
 */
#include "agent/series.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/parse.h>
#include <weft/text.h>

#include "base/array.h"

static const char *const type_names[WEFT__AGENT_TYPES] = {
	[WEFT__AGENT_TYPE_UNKNOWN] = "unknown",
	[WEFT__AGENT_TYPE_COUNTER] = "counter",
	[WEFT__AGENT_TYPE_HISTOGRAM] = "histogram",
	[WEFT__AGENT_TYPE_GAUGE] = "gauge",
	[WEFT__AGENT_TYPE_REAL] = "real",
};

const char *weft__agent_series_type_name(enum weft__agent_type type)
{
	return type_names[type];
}

enum weft__agent_type weft__agent_series_type(const struct weft__runs_counter *counter)
{
	if (counter->type == WEFT__RUNS_HISTOGRAM)
		return WEFT__AGENT_TYPE_HISTOGRAM;
	if (counter->is_real)
		return WEFT__AGENT_TYPE_REAL;
	return counter->type == WEFT__RUNS_COUNTER ? WEFT__AGENT_TYPE_COUNTER
		   : counter->type == WEFT__RUNS_GAUGE ? WEFT__AGENT_TYPE_GAUGE
											   : WEFT__AGENT_TYPE_UNKNOWN;
}

/* ---- Keys ---- */

static int by_key(const void *left, const void *right)
{
	const struct weft__runs_label *l = left, *r = right;
	int order = strcmp(l->key, r->key);
	return order ? order : strcmp(l->value, r->value);
}

/* {"customer":"acme","vm":"3"}, in the order of the names. */
static void add_labels(struct weft_text *text, const struct weft__runs_counter *counter)
{
	struct weft__runs_label *labels = calloc(counter->label_count + 1, sizeof(*labels));
	if (!labels) {
		text->error = ENOMEM;
		return;
	}
	if (counter->label_count) {
		memcpy(labels, counter->labels, counter->label_count * sizeof(*labels));
		qsort(labels, counter->label_count, sizeof(*labels), by_key);
	}
	weft_text_add_string(text, "{");
	for (size_t i = 0; i < counter->label_count; i++) {
		weft_text_add_string(text, i ? "," : "");
		weft_text_add_json(text, labels[i].key, strlen(labels[i].key));
		weft_text_add_string(text, ":");
		weft_text_add_json(text, labels[i].value, strlen(labels[i].value));
	}
	weft_text_add_string(text, "}");
	free(labels);
}

/* With its NUL. */
static void add_piece(struct weft_text *text, const char *piece)
{
	weft_text_add(text, piece, strlen(piece) + 1);
}

struct weft__agent_key weft__agent_series_key(
	const struct weft__agent_all_series *all, uint32_t number)
{
	struct weft__agent_key key;
	const char **const pieces[] = {&key.user, &key.program, &key.metric, &key.labels, &key.part};
	const char *at = weft__strings_bytes(&all->keys, number);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		*pieces[i] = at;
		at += strlen(at) + 1;
	}
	return key;
}

/* ---- The table ---- */

int weft__agent_series_init(struct weft__agent_all_series *all)
{
	const size_t limit = all->limit;
	*all = (struct weft__agent_all_series){.limit = limit};
	if (weft__strings_init(&all->keys))
		return SQLITE_NOMEM;
	if (weft__strings_init(&all->texts)) {
		weft__strings_finish(&all->keys);
		return SQLITE_NOMEM;
	}
	uint32_t none; /* is 0 */
	return weft__strings_intern(&all->texts, "", 0, &none) ? SQLITE_NOMEM : SQLITE_OK;
}

void weft__agent_series_finish(struct weft__agent_all_series *all)
{
	weft__strings_finish(&all->keys);
	weft__strings_finish(&all->texts);
	free(all->users);
	free(all->list);
	*all = (struct weft__agent_all_series){0};
}

static bool make_room(struct weft__agent_all_series *all)
{
	if (all->keys.count < all->capacity)
		return true;
	size_t capacity = weft__array_next_capacity(all->capacity, all->keys.count + (size_t)1);
	if (weft__array_resize(&all->list, capacity, sizeof(*all->list)))
		return false;
	all->capacity = capacity;
	return true;
}

/* A key begins with its user. */
static struct weft__agent_user *find_user(struct weft__agent_all_series *all, const char *key)
{
	uint64_t id;
	if (weft_parse_number(key, strlen(key), &id) != WEFT_PARSE_OK)
		return NULL;
	for (size_t i = 0; i < all->user_count; i++)
		if (all->users[i].id == id)
			return &all->users[i];
	struct weft__agent_user *users = realloc(all->users, (all->user_count + 1) * sizeof(*users));
	if (!users)
		return NULL;
	all->users = users;
	users[all->user_count] = (struct weft__agent_user){.id = id};
	return &users[all->user_count++];
}

/* One user cannot take all the room. */
static bool has_room(struct weft__agent_all_series *all, const char *key)
{
	const struct weft__agent_user *user = find_user(all, key);
	return user && all->keys.count < all->limit && user->series < all->limit / 8;
}

static uint32_t number_of(const struct weft__agent_all_series *all, const struct weft_text *key)
{
	_Static_assert(WEFT__AGENT_NONE == WEFT__INDEX_EMPTY, "it is returned as it is");
	return key->error ? WEFT__AGENT_NONE
					  : weft__strings_find(&all->keys, key->bytes, key->size - 1);
}

/* The number of a key, and the series if it is new. */
static uint32_t intern(
	struct weft__agent_all_series *all, const struct weft_text *key, bool *ret_new)
{
	uint32_t number, before = all->keys.count;
	struct weft__agent_user *user = key->error ? NULL : find_user(all, key->bytes);
	/* The piece at the end has its NUL from the table. */
	if (!user || !make_room(all) ||
		weft__strings_intern(&all->keys, key->bytes, key->size - 1, &number) != 0)
		return WEFT__AGENT_NONE;
	*ret_new = number == before;
	if (*ret_new) {
		all->list[number] = (struct weft__agent_series){.bound = NAN};
		user->series++;
	}
	return number;
}

static uint32_t text_of(struct weft__agent_all_series *all, const char *text)
{
	uint32_t number = 0;
	if (weft__strings_intern(&all->texts, text, strlen(text), &number))
		number = 0;
	return number;
}

bool weft__agent_series_has_unit(const struct weft__agent_all_series *all,
	const struct weft__agent_series *series, const struct weft__runs_counter *counter)
{
	return series->scale == counter->scale &&
		   strcmp(weft__strings_bytes(&all->texts, series->unit), counter->unit) == 0;
}

void weft__agent_series_set_unit(struct weft__agent_all_series *all,
	struct weft__agent_series *series, const struct weft__runs_counter *counter)
{
	series->unit = text_of(all, counter->unit);
	series->scale = counter->scale;
}

void weft__agent_series_name(struct weft__agent_name *name, uint64_t user, const char *program,
	const struct weft__runs_counter *counter)
{
	struct weft_text *key = &name->key;
	key->size = 0;
	weft_text_add_u64(key, user);
	weft_text_add(key, "", 1);
	add_piece(key, program);
	add_piece(key, counter->name);
	add_labels(key, counter);
	weft_text_add(key, "", 1);
	name->counter = counter;
	name->size = key->size;
}

uint32_t weft__agent_series_find(struct weft__agent_all_series *all, struct weft__agent_name *name,
	const struct weft__agent_part *part)
{
	struct weft_text *key = &name->key;
	const struct weft__runs_counter *counter = name->counter;
	bool is_new = false;
	key->size = name->size;
	add_piece(key, part->name);
	uint32_t number = number_of(all, key);
	if (number == WEFT__AGENT_NONE && !key->error && has_room(all, key->bytes))
		number = intern(all, key, &is_new);
	if (is_new) {
		struct weft__agent_series *series = &all->list[number];
		series->type = weft__agent_series_type(counter);
		series->bound = part->bound;
		weft__agent_series_set_unit(all, series, counter);
		series->help = text_of(all, counter->help);
		series->is_billable = counter->is_billable;
	}
	return number;
}

/* ---- The database ---- */

static enum weft__agent_type type_named(const char *name)
{
	for (enum weft__agent_type type = 0; type < WEFT__AGENT_TYPES; type++)
		if (name && strcmp(name, type_names[type]) == 0)
			return type;
	return WEFT__AGENT_TYPE_REAL;
}

static void add_column(struct weft_text *text, sqlite3_stmt *row, int column)
{
	const char *piece = (const char *)sqlite3_column_text(row, column);
	add_piece(text, piece ? piece : "");
}

/* The columns are those of load's statement. */
static int load_row(struct weft__agent_all_series *all, sqlite3_stmt *row)
{
	struct weft_text key = {0};
	bool is_new = false;
	for (int i = 0; i < 5; i++)
		add_column(&key, row, i);
	uint32_t number = intern(all, &key, &is_new);
	weft_text_finish(&key);
	if (number == WEFT__AGENT_NONE)
		return SQLITE_NOMEM;
	if (!is_new || sqlite3_column_int64(row, 5) != (int64_t)number + 1)
		return SQLITE_CORRUPT;
	struct weft__agent_series *series = &all->list[number];
	series->is_known = true;
	series->type = type_named((const char *)sqlite3_column_text(row, 6));
	series->total = series->next = sqlite3_column_int64(row, 7);
	series->entered = sqlite3_column_int64(row, 8);
	const char *unit = (const char *)sqlite3_column_text(row, 9);
	series->unit = text_of(all, unit ? unit : "");
	series->scale = sqlite3_column_int(row, 10);
	if (sqlite3_column_type(row, 11) != SQLITE_NULL)
		series->bound = sqlite3_column_double(row, 11);
	return SQLITE_OK;
}

int weft__agent_series_load(struct weft__agent_all_series *all, sqlite3 *database)
{
	static const char sql[] =
		"SELECT user, program, metric, labels, part, id, type, coalesce(ledger.total, 0),"
		" coalesce((SELECT e.total FROM entries AS e WHERE e.series = id"
		" ORDER BY number DESC LIMIT 1), 0), unit, scale, bound"
		" FROM series LEFT JOIN ledger ON ledger.series = id ORDER BY id";
	sqlite3_stmt *row;
	int result = weft__agent_series_init(all), step = SQLITE_DONE;
	if (!result)
		result = sqlite3_prepare_v2(database, sql, -1, &row, NULL);
	if (result)
		return result;
	while (!result && (step = sqlite3_step(row)) == SQLITE_ROW)
		result = load_row(all, row);
	int end = sqlite3_finalize(row);
	return result ? result : step == SQLITE_DONE ? end : step;
}

static struct weft__agent_value text_value(const struct weft__agent_all_series *all, uint32_t text)
{
	return WEFT__AGENT_T(text < all->texts.count ? weft__strings_bytes(&all->texts, text) : "");
}

int weft__agent_series_save(const struct weft__agent_all_series *all, uint32_t number,
	struct weft__agent_database *database)
{
	const struct weft__agent_series *series = &all->list[number];
	const struct weft__agent_key key = weft__agent_series_key(all, number);
	const struct weft__agent_value bound = {
		isnan(series->bound) ? WEFT__AGENT_NULL : WEFT__AGENT_REAL, 0, series->bound, NULL};
	const struct weft__agent_value values[] = {WEFT__AGENT_T(key.user), WEFT__AGENT_T(key.program),
		WEFT__AGENT_T(key.metric), WEFT__AGENT_T(key.labels), WEFT__AGENT_T(key.part), bound,
		WEFT__AGENT_T(type_names[series->type]), text_value(all, series->unit),
		WEFT__AGENT_I(series->scale), text_value(all, series->help),
		WEFT__AGENT_I(series->is_billable), WEFT__AGENT_I((int64_t)number + 1)};
	return weft__agent_database_run(
		database, WEFT__AGENT_ADD_SERIES, values, sizeof(values) / sizeof(*values));
}
