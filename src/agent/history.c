/* SPDX-License-Identifier: ISC
 *
 * See history.h. A coarser value is made from the finer ones in one statement, in the transaction
 * that notes until when that is done: so an agent that was killed goes on where it stopped.
 */
#include "agent/history.h"

#include <string.h>

#include "agent/exemplars.h"

#define MINUTE       INT64_C(60)
#define WATCH_EACH_S 5
#define DAY          (24 * 60 * MINUTE)

#define INCIDENTS_KEPT 100000

const struct weft__agent_resolution weft__agent_resolutions[WEFT__AGENT_RESOLUTIONS] = {
	{1, 60 * MINUTE}, {10, DAY}, {MINUTE, 31 * DAY}, {60 * MINUTE, 3650 * DAY}};

#define RUN(ledger, statement, ...)                                     \
	weft__agent_database_run(&(ledger)->database, (statement),          \
		(const struct weft__agent_value[]){__VA_ARGS__},                \
		(int)(sizeof((const struct weft__agent_value[]){__VA_ARGS__}) / \
			  sizeof(struct weft__agent_value)))

int weft__agent_history_load(struct weft__agent_history *history, struct weft__agent_ledger *ledger)
{
	static const char *const sql[WEFT__AGENT_RESOLUTIONS] = {
		"SELECT max(stop) FROM watched",
		"SELECT time FROM rolled WHERE resolution = 10",
		"SELECT time FROM rolled WHERE resolution = 60",
		"SELECT time FROM rolled WHERE resolution = 3600",
	};
	int result = SQLITE_OK;
	*history = (struct weft__agent_history){.expired = 0};
	for (unsigned i = 0; i < WEFT__AGENT_RESOLUTIONS && !result; i++)
		result = weft__agent_database_ask(ledger->database.it, sql[i], 0, &history->rolled[i]);
	ledger->last = history->rolled[0];
	return result;
}

/* ---- Samples ---- */

/* A gauge of which no process lives has no value. */
static struct weft__agent_value sample_of(const struct weft__agent_series *series)
{
	if (weft__agent_series_is_billed(series->type))
		return WEFT__AGENT_I(series->next);
	if (!series->is_live)
		return (struct weft__agent_value){.type = WEFT__AGENT_NULL};
	return (struct weft__agent_value){.type = WEFT__AGENT_REAL, .real = series->now};
}

/* A difference of real values below any step of a double does not count as one. */
static bool is_same(const struct weft__agent_value *left, const struct weft__agent_value *right)
{
	return left->type == right->type && left->integer == right->integer &&
		   memcmp(&left->real, &right->real, sizeof(left->real)) == 0;
}

static int write_samples(struct weft__agent_ledger *ledger, int64_t now)
{
	int result = SQLITE_OK;
	for (uint32_t i = 0; i < ledger->series.keys.count && !result; i++) {
		struct weft__agent_series *series = &ledger->series.list[i];
		const int64_t row = (int64_t)i + 1;
		series->next_sample = sample_of(series);
		if (series->has_sample && is_same(&series->sample, &series->next_sample))
			continue;
		if (!series->is_known && weft__agent_series_is_billed(series->type))
			result = RUN(ledger, WEFT__AGENT_ADD_BASE, WEFT__AGENT_I(row),
				WEFT__AGENT_I(series->base), WEFT__AGENT_I(0));
		if (!result)
			result = RUN(ledger, WEFT__AGENT_ADD_SAMPLE, WEFT__AGENT_I(row), WEFT__AGENT_I(now),
				series->next_sample);
	}
	return result;
}

/* ---- Resolutions ---- */

static int roll_up(
	struct weft__agent_history *history, struct weft__agent_ledger *ledger, int64_t now)
{
	int result = SQLITE_OK;
	for (unsigned i = 1; i < WEFT__AGENT_RESOLUTIONS && !result; i++) {
		const int64_t fine = weft__agent_resolutions[i - 1].seconds;
		const int64_t coarse = weft__agent_resolutions[i].seconds, to = now / coarse * coarse;
		history->next[i] = history->rolled[i];
		if (to <= history->rolled[i])
			continue;
		result = RUN(ledger, WEFT__AGENT_ROLL_UP, WEFT__AGENT_I(fine), WEFT__AGENT_I(coarse),
			WEFT__AGENT_I(history->rolled[i]), WEFT__AGENT_I(to));
		if (!result)
			result = RUN(ledger, WEFT__AGENT_SET_ROLLED, WEFT__AGENT_I(coarse), WEFT__AGENT_I(to));
		history->next[i] = to;
	}
	return result;
}

/* A coarser value may end later than a time at which a finer one was known. So each is kept for one
 * more period of the next resolution. */
static int64_t kept_from(unsigned resolution, int64_t now)
{
	const bool is_last = resolution + 1 == WEFT__AGENT_RESOLUTIONS;
	return now - weft__agent_resolutions[resolution].kept -
		   (is_last ? 0 : weft__agent_resolutions[resolution + 1].seconds);
}

static int expire(
	struct weft__agent_history *history, struct weft__agent_ledger *ledger, int64_t now)
{
	int result = SQLITE_OK;
	if (now < history->expired + MINUTE)
		return result;
	for (unsigned i = 0; i < WEFT__AGENT_RESOLUTIONS && !result; i++) {
		const struct weft__agent_value resolution =
			WEFT__AGENT_I(weft__agent_resolutions[i].seconds);
		const struct weft__agent_value from = WEFT__AGENT_I(kept_from(i, now));
		result = RUN(ledger, WEFT__AGENT_EXPIRE, resolution, from);
		if (!result)
			result = RUN(ledger, WEFT__AGENT_EXPIRE_EXEMPLARS, resolution, from);
	}
	history->expired = now;
	return result ? result
				  : RUN(ledger, WEFT__AGENT_EXPIRE_INCIDENTS, WEFT__AGENT_I(INCIDENTS_KEPT));
}

/* ---- The times of looking ---- */

/* Writes the end each few seconds, or with other changes, so that an idle agent hardly writes. */
static int watch(struct weft__agent_history *history, struct weft__agent_ledger *ledger,
	int64_t now, int64_t gap, bool is_due)
{
	struct weft__agent_watch *next = &history->next_watch;
	*next = history->watch;
	if (!next->start || now - ledger->last > gap || now < ledger->last) {
		*next = (struct weft__agent_watch){now, now, 0};
		return RUN(ledger, WEFT__AGENT_WATCH_FROM, WEFT__AGENT_I(now));
	}
	if (now - ledger->last > next->step)
		next->step = now - ledger->last;
	if (!is_due && now < next->stop + WATCH_EACH_S)
		return SQLITE_OK;
	next->stop = now;
	return RUN(ledger, WEFT__AGENT_WATCH_TO, WEFT__AGENT_I(next->start), WEFT__AGENT_I(now),
		WEFT__AGENT_I(next->step));
}

int weft__agent_history_write(struct weft__agent_history *history,
	struct weft__agent_ledger *ledger, int64_t now, int64_t gap)
{
	int before = sqlite3_total_changes(ledger->database.it);
	int result = write_samples(ledger, now);
	if (!result)
		result = weft__agent_exemplars_write(ledger);
	bool is_due = sqlite3_total_changes(ledger->database.it) != before;
	if (!result)
		result = roll_up(history, ledger, now);
	if (!result)
		result = expire(history, ledger, now);
	return result ? result : watch(history, ledger, now, gap, is_due);
}

void weft__agent_history_commit(
	struct weft__agent_history *history, struct weft__agent_ledger *ledger)
{
	weft__agent_exemplars_commit(ledger);
	memcpy(history->rolled, history->next, sizeof(history->rolled));
	history->watch = history->next_watch;
	for (uint32_t i = 0; i < ledger->series.keys.count; i++) {
		ledger->series.list[i].sample = ledger->series.list[i].next_sample;
		ledger->series.list[i].has_sample = true;
	}
}

int weft__agent_history_turn_back(
	struct weft__agent_history *history, struct weft__agent_ledger *ledger, int64_t now)
{
	static const enum weft__agent_statement statements[] = {WEFT__AGENT_UNDO_FUTURE,
		WEFT__AGENT_UNDO_EXEMPLARS, WEFT__AGENT_UNDO_ROLLED, WEFT__AGENT_UNDO_WATCHED,
		WEFT__AGENT_CUT_WATCHED};
	int result = SQLITE_OK;
	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements) && !result; i++)
		result = RUN(ledger, statements[i], WEFT__AGENT_I(now));
	for (unsigned i = 1; i < WEFT__AGENT_RESOLUTIONS; i++) {
		int64_t to = now / weft__agent_resolutions[i].seconds * weft__agent_resolutions[i].seconds;
		if (history->rolled[i] > to)
			history->rolled[i] = to;
	}
	for (uint32_t i = 0; i < ledger->series.keys.count; i++)
		ledger->series.list[i].has_sample = false;
	history->watch.start = 0;
	history->expired = 0;
	return result;
}
