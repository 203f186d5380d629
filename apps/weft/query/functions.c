/* SPDX-License-Identifier: ISC
 *
 * SQL functions that SQLite lacks.
 *
 *   duration(NS)           "1.2 ms"
 *   percentile(VALUE, P)   of a group: the least value that P percent of the values do not exceed
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/duration.h>

#include "query.h"

static void format_duration(sqlite3_context *to, int count, sqlite3_value **values)
{
	char text[40] = "-", *digits = text;
	(void)count;
	if (sqlite3_value_type(values[0]) == SQLITE_NULL)
		return;
	int64_t ns = sqlite3_value_int64(values[0]);
	if (ns < 0)
		digits++;
	weft_format_duration(ns < 0 ? -(uint64_t)ns : (uint64_t)ns, 4, digits);
	sqlite3_result_text(to, text, -1, SQLITE_TRANSIENT);
}

/* ---- percentile() ---- */

/* The values of a group so far. */
struct values {
	double *list;
	size_t count, room;
	double percent;
};

static void add_value(sqlite3_context *of, int count, sqlite3_value **arguments)
{
	struct values *values = sqlite3_aggregate_context(of, (int)sizeof(*values));
	(void)count;
	if (!values || sqlite3_value_type(arguments[0]) == SQLITE_NULL)
		return;
	if (values->count == values->room) {
		size_t room = values->room ? 2 * values->room : 64;
		double *list = sqlite3_realloc64(values->list, room * sizeof(*list));
		if (!list) {
			sqlite3_result_error_nomem(of);
			return;
		}
		values->list = list;
		values->room = room;
	}
	values->list[values->count++] = sqlite3_value_double(arguments[0]);
	values->percent = sqlite3_value_double(arguments[1]);
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

static void finish_values(sqlite3_context *of)
{
	struct values *values = sqlite3_aggregate_context(of, 0);
	if (!values || !values->count)
		return;
	if (!(values->percent >= 0 && values->percent <= 100)) {
		sqlite3_result_error(of, "percentile(): a percentage is 0 to 100", -1);
	} else {
		qsort(values->list, values->count, sizeof(*values->list), compare);
		double rank = ceil((double)values->count * values->percent / 100);
		double value = values->list[rank < 1 ? 0 : (size_t)rank - 1];
		if (value == floor(value) && fabs(value) < 9e15)
			sqlite3_result_int64(of, (sqlite3_int64)value);
		else
			sqlite3_result_double(of, value);
	}
	sqlite3_free(values->list);
}

int query_add_functions(sqlite3 *database)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
	int result =
		sqlite3_create_function(database, "duration", 1, flags, NULL, format_duration, NULL, NULL);
	return result ? result
				  : sqlite3_create_function(
						database, "percentile", 2, flags, NULL, NULL, add_value, finish_values);
}
