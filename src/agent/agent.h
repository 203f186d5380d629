/* SPDX-License-Identifier: ISC
 *
 * The agent of a host: looks at the counters of all programs again and again, and keeps them in its
 * database: totals in the ledger, values at times in the history. One process, one thread.
 */
#ifndef WEFT_AGENT_AGENT_H
#define WEFT_AGENT_AGENT_H

#include "agent/alerts.h"
#include "agent/entries.h"
#include "agent/history.h"
#include "agent/ledger.h"

struct weft__agent_options {
	const char *folder;               /* of regions; NULL: only nameless memory */
	const char *file;                 /* the database */
	bool searches;                    /* also for nameless memory */
	struct weft_host *xen;            /* whose domains are counted, too; or NULL. Is taken over */
	struct weft__agent_alerts alerts; /* becomes the agent's */
	int64_t gap; /* after so many seconds without a look the agent was not looking */
};

struct weft__agent {
	struct weft__agent_options options;
	struct weft__agent_ledger ledger;
	struct weft__agent_history history;
	struct weft__agent_entries entries;
	struct weft__agent_alerts alerts;
	int lock; /* beside the database; -1: there is none */
	bool has_looked;
	int folder_error;      /* the errno of the last search of the folder */
	int64_t pending_since; /* the first change that the disk may not have; 0: it has all */
	int failure;           /* the result of SQLite that was reported last */
};

/* Opens folder and database. False after a report; then the agent is closed. */
bool weft__agent_open(struct weft__agent *agent, const struct weft__agent_options *options);

/* Looks once, at that time in seconds since 1970. False after a report: the database could not be
 * written. Nothing is lost: the next look writes it. */
bool weft__agent_look(struct weft__agent *agent, int64_t now);

void weft__agent_close(struct weft__agent *agent);

#endif
