/* SPDX-License-Identifier: ISC
 *
 * The series that Prometheus reads from the agent: one for each user, program and level of labels,
 * which goes on when processes end and start again. Counters have the totals of the ledger, gauges
 * the last value that the agent saw, if a process with it lives.
 */
#ifndef WEFT_AGENT_ROLLUP_H
#define WEFT_AGENT_ROLLUP_H

#include <sqlite3.h>

#include "metrics/value.h"

struct weft__agent_rollup_row;

struct weft__agent_rollup {
	struct weft__metrics_sample *samples; /* for weft__metrics_expose() */
	size_t count;
	struct weft__agent_rollup_row *rows;
	size_t row_count;
};

/* Reads all series that have these labels, "KEY=VALUE": `program` and `uid` are among the keys. A
 * result of SQLite. The caller calls finish in any case. */
int weft__agent_rollup_read(
	sqlite3 *database, const char *const *only, size_t only_count, struct weft__agent_rollup *ret);
void weft__agent_rollup_finish(struct weft__agent_rollup *rollup);

#endif
