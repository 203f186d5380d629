/* SPDX-License-Identifier: ISC
 *
 * The history: what each series was at which time. Values are kept each second for an hour, each 10
 * seconds for a day, each minute for 31 days, and each hour for 10 years. A value that stays takes
 * no room.
 */
#ifndef WEFT_AGENT_HISTORY_H
#define WEFT_AGENT_HISTORY_H

#include "agent/ledger.h"

#define WEFT__AGENT_RESOLUTIONS 4

/* A resolution and how long its values are kept, in seconds. */
struct weft__agent_resolution {
	int64_t seconds, kept;
};
extern const struct weft__agent_resolution weft__agent_resolutions[WEFT__AGENT_RESOLUTIONS];

/* The agent looked from then on; 0: not yet. `step` is the longest time between two looks. */
struct weft__agent_watch {
	int64_t start, stop, step;
};

struct weft__agent_history {
	int64_t rolled[WEFT__AGENT_RESOLUTIONS]; /* until when each is complete */
	int64_t next[WEFT__AGENT_RESOLUTIONS];   /* the same, being written */
	int64_t expired;                         /* when old values were removed last */
	struct weft__agent_watch watch;          /* in the database */
	struct weft__agent_watch next_watch;     /* the same, being written */
};

/* Reads where the history ended. A result of SQLite, like all here. */
int weft__agent_history_load(
	struct weft__agent_history *history, struct weft__agent_ledger *ledger);

/* Writes the values of a look, inside its transaction. `gap`: after so many seconds without a look
 * the agent was not looking. */
int weft__agent_history_write(struct weft__agent_history *history,
	struct weft__agent_ledger *ledger, int64_t now, int64_t gap);

/* Once the transaction is committed. */
void weft__agent_history_commit(
	struct weft__agent_history *history, struct weft__agent_ledger *ledger);

/* The clock was set back to `now`: forgets what comes later, inside a transaction. The ledger is
 * not concerned. */
int weft__agent_history_turn_back(
	struct weft__agent_history *history, struct weft__agent_ledger *ledger, int64_t now);

#endif
