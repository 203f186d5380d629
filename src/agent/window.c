/* SPDX-License-Identifier: ISC
 *
 * See window.h. The totals of a level contain those of the levels below it. So a group adds up the
 * series with the fewest labels of each program: of those that have the label by which is grouped.
 */
#include "agent/window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/database.h"
#include "agent/exemplars.h"
#include "agent/history.h"

/* ---- Values at times ---- */

struct asking {
	sqlite3 *database;
	sqlite3_stmt *value, *range;
	struct weft__agent_window *window;
	int64_t resolution; /* of the values that are kept for the whole window, in seconds */
};

/* A row's value, and its time; the value is NULL if there is none. */
struct known {
	int64_t time;
	int type; /* of SQLite */
	int64_t integer;
	double real;
};

/* The latest value until then, of all resolutions the finest. */
static struct known value_at(const struct asking *a, int64_t series, int64_t time)
{
	struct known latest = {.time = INT64_MIN, .type = SQLITE_NULL};
	for (unsigned i = 0; i < WEFT__AGENT_RESOLUTIONS; i++) {
		sqlite3_bind_int64(a->value, 1, weft__agent_resolutions[i].seconds);
		sqlite3_bind_int64(a->value, 2, series);
		sqlite3_bind_int64(a->value, 3, time);
		if (sqlite3_step(a->value) == SQLITE_ROW && sqlite3_column_int64(a->value, 0) > latest.time)
			latest =
				(struct known){sqlite3_column_int64(a->value, 0), sqlite3_column_type(a->value, 1),
					sqlite3_column_int64(a->value, 1), sqlite3_column_double(a->value, 1)};
		sqlite3_reset(a->value);
	}
	return latest;
}

/* ---- Groups ---- */

static char *copy_of(const unsigned char *text)
{
	return strdup(text ? (const char *)text : "");
}

/* Values of different units or kinds cannot be added. */
static bool is_of(const struct weft__agent_group *group, sqlite3_stmt *row)
{
	const char *name = (const char *)sqlite3_column_text(row, 6);
	const char *unit = (const char *)sqlite3_column_text(row, 4);
	return strcmp(group->name, name ? name : "") == 0 &&
		   strcmp(group->unit, unit ? unit : "") == 0 &&
		   group->exponent == sqlite3_column_int(row, 5) &&
		   (int)group->kind == sqlite3_column_int(row, 7);
}

/* Rows come in the order of the groups. The columns are those of ask's statement. */
static struct weft__agent_group *group_of(struct weft__agent_window *window, sqlite3_stmt *row)
{
	struct weft__agent_group *last = window->count ? &window->groups[window->count - 1] : NULL;
	if (last && is_of(last, row))
		return last;
	struct weft__agent_group *groups =
		realloc(window->groups, (window->count + 1) * sizeof(*groups));
	if (!groups)
		return NULL;
	window->groups = groups;
	last = &groups[window->count];
	*last = (struct weft__agent_group){.name = copy_of(sqlite3_column_text(row, 6)),
		.unit = copy_of(sqlite3_column_text(row, 4)),
		.exponent = sqlite3_column_int(row, 5),
		.kind = sqlite3_column_int(row, 7)};
	if (!last->name || !last->unit) {
		free(last->name);
		free(last->unit);
		return NULL;
	}
	window->count++;
	return last;
}

static bool add_cell(struct weft__agent_group *group, double bound, int64_t count)
{
	size_t at = 0;
	while (at < group->cell_count && group->cells[at].bound < bound)
		at++;
	if (at == group->cell_count || group->cells[at].bound > bound) {
		struct weft__agent_cell *cells =
			realloc(group->cells, (group->cell_count + 1) * sizeof(*cells));
		if (!cells)
			return false;
		memmove(cells + at + 1, cells + at, (group->cell_count - at) * sizeof(*cells));
		cells[at] = (struct weft__agent_cell){bound, 0};
		group->cells = cells;
		group->cell_count++;
	}
	group->cells[at].count += count;
	group->count += count;
	return true;
}

/* Counters begin at 0, so one without an earlier value did. */
static int64_t growth(const struct asking *a, int64_t series)
{
	int64_t from = value_at(a, series, a->window->from).integer;
	return value_at(a, series, a->window->to).integer - from;
}

static void add_gauge(const struct asking *a, struct weft__agent_group *group, int64_t series)
{
	struct known last = value_at(a, series, a->window->to);
	struct known first = value_at(a, series, a->window->from);
	double low = first.type == SQLITE_NULL ? INFINITY : first.real, high = -INFINITY;
	if (first.type != SQLITE_NULL)
		high = first.real;
	sqlite3_bind_int64(a->range, 1, series);
	sqlite3_bind_int64(a->range, 2, a->window->from);
	sqlite3_bind_int64(a->range, 3, a->window->to);
	sqlite3_bind_int64(a->range, 4, a->resolution);
	if (sqlite3_step(a->range) == SQLITE_ROW && sqlite3_column_type(a->range, 0) != SQLITE_NULL) {
		low = fmin(low, sqlite3_column_double(a->range, 0));
		high = fmax(high, sqlite3_column_double(a->range, 1));
	}
	sqlite3_reset(a->range);
	if (low > high)
		return;
	group->is_known = true;
	group->value += last.real;
	group->low += low;
	group->high += high;
}

static bool add_series(const struct asking *a, sqlite3_stmt *row)
{
	const int64_t series = sqlite3_column_int64(row, 0);
	const char *part = (const char *)sqlite3_column_text(row, 1);
	struct weft__agent_group *group = group_of(a->window, row);
	if (!group || !part)
		return false;
	if (group->kind == WEFT__AGENT_GROUP_GAUGE) {
		add_gauge(a, group, series);
		return true;
	}
	int64_t amount = growth(a, series);
	if (strncmp(part, "le:", 3) == 0)
		return add_cell(group, sqlite3_column_double(row, 2), amount);
	group->amount += amount;
	return true;
}

/* ---- Exactness ---- */

/* The resolution of the history at the begin; or, if that is longer, the time between two looks
 * then, or the gap in which no agent looked. A result of SQLite. */
static int measure_exactness(struct asking *a)
{
	struct weft__agent_window *window = a->window;
	int64_t stop = 0, next = 0, step = 0;
	const struct {
		const char *sql;
		int64_t *number;
	} questions[] = {
		{"SELECT min(start) FROM watched", &window->watched_since},
		{"SELECT max(stop) FROM watched WHERE start <= ?", &stop},
		{"SELECT min(start) FROM watched WHERE start > ?", &next},
		{"SELECT step FROM watched WHERE start <= ? ORDER BY start DESC LIMIT 1", &step},
	};
	unsigned resolution = 0;
	int result = SQLITE_OK;
	for (size_t i = 0; result == SQLITE_OK && i < sizeof(questions) / sizeof(*questions); i++)
		result = weft__agent_database_ask(
			a->database, questions[i].sql, window->from, questions[i].number);
	while (resolution + 1 < WEFT__AGENT_RESOLUTIONS &&
		   window->to - window->from > weft__agent_resolutions[resolution].kept)
		resolution++;
	a->resolution = weft__agent_resolutions[resolution].seconds;
	window->exact_to_s = a->resolution;
	if (stop && next && stop < window->from && step < next - stop)
		step = next - stop;
	if (step > window->exact_to_s)
		window->exact_to_s = step;
	return result;
}

/* ---- The question ---- */

static const char series_sql[] =
	"WITH c AS (SELECT *, (SELECT count(*) FROM json_each(labels)) AS depth,"
	" (SELECT value FROM json_each(labels) WHERE key = ?2) AS label FROM series WHERE metric = ?1"
	" AND (?2 IN ('', 'program', 'user') OR label IS NOT NULL))"
	" SELECT id, part, bound, type, unit, scale, CASE ?2 WHEN '' THEN '' WHEN 'program' THEN program"
	" WHEN 'user' THEN user ELSE label END AS name,"
	" CASE type WHEN 'gauge' THEN 1 WHEN 'real' THEN 1 WHEN 'histogram' THEN 2 ELSE 0 END AS kind"
	" FROM c WHERE depth = (SELECT min(depth) FROM c AS d"
	" WHERE d.user = c.user AND d.program = c.program) ORDER BY name, unit, scale, kind, bound";

static int prepare(struct asking *a, sqlite3_stmt **ret_row)
{
	int result = sqlite3_prepare_v2(a->database, series_sql, -1, ret_row, NULL);
	if (!result)
		result = sqlite3_prepare_v2(a->database,
			"SELECT time, value FROM history WHERE resolution = ? AND series = ? AND time <= ?"
			" ORDER BY time DESC LIMIT 1",
			-1, &a->value, NULL);
	if (!result)
		result = sqlite3_prepare_v2(a->database,
			"SELECT min(low), max(high) FROM history WHERE series = ?1 AND time > ?2 AND time <= ?3"
			" AND resolution IN (1, 10, 60, 3600) AND resolution <= ?4",
			-1, &a->range, NULL);
	return result;
}

/* ---- Exemplars ---- */

/* Also those of the levels below a group. Beside max(), SQLite has the other columns of that row.
 */
static const char exemplar_sql[] =
	"SELECT max(value) AS " WEFT__AGENT_EXEMPLAR_COLUMNS ", unit, scale, CASE ?2 WHEN '' THEN ''"
	" WHEN 'program' THEN program WHEN 'user' THEN user"
	" ELSE (SELECT value FROM json_each(labels) WHERE key = ?2) END AS name"
	" FROM series JOIN extremes ON extremes.series = series.id AND resolution IN (60, 3600)"
	" AND time >= ?3 AND unix_ns / 1000000000 BETWEEN ?3 AND ?4"
	" WHERE metric = ?1 GROUP BY name, unit, scale";

static void take_exemplar(struct weft__agent_window *window, sqlite3_stmt *row)
{
	const char *unit = (const char *)sqlite3_column_text(row, 5);
	const char *name = (const char *)sqlite3_column_text(row, 7);
	for (size_t i = 0; unit && name && i < window->count; i++) {
		struct weft__agent_group *group = &window->groups[i];
		if (strcmp(group->name, name) == 0 && strcmp(group->unit, unit) == 0 &&
			group->exponent == sqlite3_column_int(row, 6))
			group->exemplar = weft__agent_exemplars_read(row, &group->exemplar_pid);
	}
}

static int find_exemplars(sqlite3 *database, const struct weft__agent_question *question,
	struct weft__agent_window *window)
{
	sqlite3_stmt *row = NULL;
	int step = SQLITE_DONE, result = sqlite3_prepare_v2(database, exemplar_sql, -1, &row, NULL);
	if (!result) {
		sqlite3_bind_text(row, 1, question->metric, -1, SQLITE_STATIC);
		sqlite3_bind_text(row, 2, question->by, -1, SQLITE_STATIC);
		sqlite3_bind_int64(row, 3, window->from);
		sqlite3_bind_int64(row, 4, window->to);
		while ((step = sqlite3_step(row)) == SQLITE_ROW)
			take_exemplar(window, row);
	}
	sqlite3_finalize(row);
	return result ? result : step == SQLITE_DONE ? SQLITE_OK : step;
}

int weft__agent_window_ask(
	sqlite3 *database, const struct weft__agent_question *question, struct weft__agent_window *ret)
{
	struct asking a = {.database = database, .window = ret};
	sqlite3_stmt *row = NULL;
	int step = SQLITE_DONE;
	*ret = (struct weft__agent_window){.from = question->from};
	/* All from one moment. */
	int result = sqlite3_exec(database, "BEGIN", NULL, NULL, NULL);
	if (!result)
		result = weft__agent_database_ask(database, "SELECT max(stop) FROM watched", 0, &ret->to);
	if (!result)
		result = prepare(&a, &row);
	if (!result)
		result = measure_exactness(&a);
	if (!result) {
		sqlite3_bind_text(row, 1, question->metric, -1, SQLITE_STATIC);
		sqlite3_bind_text(row, 2, question->by, -1, SQLITE_STATIC);
		while (!result && (step = sqlite3_step(row)) == SQLITE_ROW)
			result = add_series(&a, row) ? SQLITE_OK : SQLITE_NOMEM;
	}
	if (!result && step == SQLITE_DONE)
		result = find_exemplars(database, question, ret);
	sqlite3_finalize(a.value);
	sqlite3_finalize(a.range);
	int end = sqlite3_finalize(row);
	sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
	return result ? result : step == SQLITE_DONE ? end : step;
}

void weft__agent_window_finish(struct weft__agent_window *window)
{
	for (size_t i = 0; i < window->count; i++) {
		free(window->groups[i].name);
		free(window->groups[i].unit);
		free(window->groups[i].cells);
	}
	free(window->groups);
	*window = (struct weft__agent_window){0};
}

double weft__agent_window_quantile(const struct weft__agent_group *group, double part)
{
	int64_t rank = (int64_t)ceil(part * (double)group->count), below = 0;
	for (size_t i = 0; i < group->cell_count; i++) {
		below += group->cells[i].count;
		if (below >= rank && below > 0)
			return group->cells[i].bound;
	}
	return NAN;
}

static bool is_same_day(time_t left, time_t right)
{
	struct tm l, r;
	return localtime_r(&left, &l) && localtime_r(&right, &r) && l.tm_yday == r.tm_yday &&
		   l.tm_year == r.tm_year;
}

/* By looking at each minute: no rule about when clocks are set is needed. */
int64_t weft__agent_window_midnight(int64_t now)
{
	time_t at = now - now % 60;
	for (int minutes = 0; minutes < 26 * 60 && is_same_day(at - 60, now); minutes++)
		at -= 60;
	return at;
}

/* A clock that is set forward leaves out times of a day, and one that is set back shows some twice.
 */
int64_t weft__agent_window_clock(int64_t now, int hour, int minute)
{
	time_t at = now - now % 60;
	struct tm shown;
	for (int minutes = 0; minutes < 50 * 60 && localtime_r(&at, &shown) &&
						  (shown.tm_hour != hour || shown.tm_min != minute);
		 minutes++)
		at -= 60;
	return at;
}
