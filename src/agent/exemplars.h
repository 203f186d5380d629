/* SPDX-License-Identifier: ISC
 *
 * Exemplars (weft/metrics.h) over time: for each series the largest one of each minute, and of each
 * hour, which are kept as long as its values of these resolutions.
 */
#ifndef WEFT_AGENT_EXEMPLARS_H
#define WEFT_AGENT_EXEMPLARS_H

#include "agent/ledger.h"

/* Takes the exemplar of a counter that a region has, if it is a new one of this time. */
void weft__agent_exemplars_take(struct weft__agent_ledger *ledger,
	const struct weft__agent_region *region, struct weft__agent_item *item,
	const struct weft__runs_exemplar *exemplar, int64_t now);

/* Writes those that were taken, inside a transaction. A result of SQLite. */
int weft__agent_exemplars_write(struct weft__agent_ledger *ledger);

/* Once the transaction is committed. */
void weft__agent_exemplars_commit(struct weft__agent_ledger *ledger);

/* The columns of a SELECT that weft__agent_exemplars_read takes. */
#define WEFT__AGENT_EXEMPLAR_COLUMNS "value, task, monotonic_ns, unix_ns, pid"

struct weft__runs_exemplar weft__agent_exemplars_read(sqlite3_stmt *row, int64_t *ret_pid);

#endif
