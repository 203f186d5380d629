/* SPDX-License-Identifier: ISC
 *
 * The ledger: the total of each series over all processes that there ever were. It gets the change
 * of each region's value since it was last seen, in the transaction that also notes what has been
 * seen. So a region's value is counted once, however often the agent or the program is killed.
 *
 *     a process lives     total += now − seen; seen = now      (at each look)
 *     it has ended        the same for the last time, durably; then its file is removed; then
 *                         `seen` is forgotten
 *
 * A counter that went back, a sum that would overflow and a damaged region are refused and noted as
 * incidents.
 */
#ifndef WEFT_AGENT_LEDGER_H
#define WEFT_AGENT_LEDGER_H

#include "agent/database.h"
#include "agent/regions.h"
#include "agent/series.h"

struct weft__agent_incident {
	int64_t time;
	char region[33];
	char *what;
};

/* An exemplar that a process has, for the next transaction. */
struct weft__agent_exemplar {
	struct weft__runs_exemplar it;
	uint32_t series;
	pid_t pid;
};

struct weft__agent_ledger {
	struct weft__agent_database database;
	struct weft__agent_all_series series;
	struct weft__agent_regions regions;
	char boot[37];
	char (*forgotten)[33]; /* regions whose files are removed: the next transaction forgets them */
	size_t forgotten_count, forgotten_capacity;
	struct weft__agent_incident *incidents; /* for the next transaction */
	size_t incident_count, incident_capacity;
	struct weft__agent_exemplar *exemplars;
	size_t exemplar_count;
	int64_t last; /* the time of the last look that was written; 0: there was none */
};

/* Reads the values of all regions; new regions get what was seen of them before. A result of
 * SQLite. */
int weft__agent_ledger_read(struct weft__agent_ledger *ledger, int64_t now);

/* True if files will be removed after the commit, which therefore has to be durable. */
bool weft__agent_ledger_has_dead(const struct weft__agent_ledger *ledger, int64_t now);

/* Writes all changes, inside a transaction. A result of SQLite. */
int weft__agent_ledger_write(struct weft__agent_ledger *ledger, int64_t now);

/* Adds all changes to the totals in memory alone. */
void weft__agent_ledger_count(struct weft__agent_ledger *ledger, int64_t now);

/* Once the transaction is committed: takes what was written as seen, and removes the files of
 * processes that have ended. */
void weft__agent_ledger_commit(struct weft__agent_ledger *ledger, int64_t now);

/* Instead of commit: all is as before the write. */
void weft__agent_ledger_undo(struct weft__agent_ledger *ledger);

/* Forgets regions of the database that cannot come back: call it after the first search. A result
 * of SQLite. */
int weft__agent_ledger_forget_lost(struct weft__agent_ledger *ledger, int64_t now);

/* Notes and reports something that was refused; not twice in a row for a region, which may be NULL,
 * and not more than some of a region or look. */
void weft__agent_ledger_refuse(struct weft__agent_ledger *ledger, int64_t now,
	struct weft__agent_region *region, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

void weft__agent_ledger_finish(struct weft__agent_ledger *ledger);

#endif
