/* SPDX-License-Identifier: ISC */
#include "agent/exemplars.h"

#include <stdlib.h>

#define PENDING_MAX 65536 /* while the disk is full */
#define HOUR        3600

/* A program may claim any time: one beyond those that are being looked at has no row. */
static bool is_of_now(const struct weft__runs_exemplar *it, int64_t now)
{
	const int64_t time = (int64_t)(it->unix_ns / 1000000000);
	return time > now - HOUR && time <= now + 1;
}

void weft__agent_exemplars_take(struct weft__agent_ledger *ledger,
	const struct weft__agent_region *region, struct weft__agent_item *item,
	const struct weft__runs_exemplar *exemplar, int64_t now)
{
	const size_t count = ledger->exemplar_count;
	if (!exemplar->is_there || exemplar->monotonic_ns == item->exemplar_ns)
		return;
	item->exemplar_ns = exemplar->monotonic_ns;
	if (!is_of_now(exemplar, now) || exemplar->value > INT64_MAX || count >= PENDING_MAX)
		return;
	/* The capacity is the next power of two. */
	if ((count & (count - 1)) == 0) {
		struct weft__agent_exemplar *list =
			realloc(ledger->exemplars, (count ? 2 * count : 1) * sizeof(*list));
		if (!list)
			return;
		ledger->exemplars = list;
	}
	ledger->exemplars[ledger->exemplar_count++] =
		(struct weft__agent_exemplar){*exemplar, item->series, region->pid};
}

static int write_one(struct weft__agent_ledger *ledger, int64_t resolution,
	const struct weft__agent_exemplar *exemplar)
{
	const struct weft__runs_exemplar *it = &exemplar->it;
	const struct weft__agent_value none = {.type = WEFT__AGENT_NULL};
	const struct weft__agent_value values[] = {WEFT__AGENT_I(resolution),
		WEFT__AGENT_I((int64_t)exemplar->series + 1),
		WEFT__AGENT_I((int64_t)(it->unix_ns / 1000000000)), WEFT__AGENT_I((int64_t)it->value),
		it->task == UINT64_MAX ? none : WEFT__AGENT_I((int64_t)it->task),
		WEFT__AGENT_I((int64_t)it->monotonic_ns), WEFT__AGENT_I((int64_t)it->unix_ns),
		WEFT__AGENT_I(exemplar->pid)};
	return weft__agent_database_run(&ledger->database, WEFT__AGENT_ADD_EXEMPLAR, values,
		(int)(sizeof(values) / sizeof(*values)));
}

int weft__agent_exemplars_write(struct weft__agent_ledger *ledger)
{
	int result = SQLITE_OK;
	for (size_t i = 0; i < ledger->exemplar_count && !result; i++) {
		result = write_one(ledger, 60, &ledger->exemplars[i]);
		if (!result)
			result = write_one(ledger, HOUR, &ledger->exemplars[i]);
	}
	return result;
}

void weft__agent_exemplars_commit(struct weft__agent_ledger *ledger)
{
	free(ledger->exemplars);
	ledger->exemplars = NULL;
	ledger->exemplar_count = 0;
}

struct weft__runs_exemplar weft__agent_exemplars_read(sqlite3_stmt *row, int64_t *ret_pid)
{
	const bool has_task = sqlite3_column_type(row, 1) != SQLITE_NULL;
	*ret_pid = sqlite3_column_int64(row, 4);
	return (struct weft__runs_exemplar){
		.is_there = true,
		.value = (uint64_t)sqlite3_column_int64(row, 0),
		.task = has_task ? (uint64_t)sqlite3_column_int64(row, 1) : UINT64_MAX,
		.monotonic_ns = (uint64_t)sqlite3_column_int64(row, 2),
		.unix_ns = (uint64_t)sqlite3_column_int64(row, 3),
	};
}
