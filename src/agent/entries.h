/* SPDX-License-Identifier: ISC
 *
 * The ledger's entries: how much each series was charged in each hour, as a chain. The hash of an
 * entry is that of the hash before it, a newline, the entry's line, and a newline; so no entry can
 * be changed or removed without changing all later hashes. A line of CSV:
 *
 *     NUMBER,TIME,USER,PROGRAM,METRIC,LABELS,PART,AMOUNT,TOTAL
 */
#ifndef WEFT_AGENT_ENTRIES_H
#define WEFT_AGENT_ENTRIES_H

#include "agent/ledger.h"
#include <weft/text.h>

/* The hash before the first entry. */
#define WEFT__AGENT_FIRST_HASH "0000000000000000000000000000000000000000000000000000000000000000"

struct weft__agent_entries {
	int64_t number; /* of the last one */
	int64_t time;
	char hash[65];
	int64_t next_number;
	char next_hash[65];
};

/* Reads where the chain ended. A result of SQLite, like all here. */
int weft__agent_entries_load(struct weft__agent_entries *entries, sqlite3 *database);

/* Makes entries of what was charged since the last ones, once an hour, inside a transaction. */
int weft__agent_entries_write(
	struct weft__agent_entries *entries, struct weft__agent_ledger *ledger, int64_t now);
void weft__agent_entries_commit(
	struct weft__agent_entries *entries, struct weft__agent_ledger *ledger, int64_t now);

/* Prints all entries, and after them what has no entry yet; in CSV or as lines of JSON. Checks the
 * chain: *ret_broken is the number of the first entry that does not fit, or 0. */
int weft__agent_entries_print(
	sqlite3 *database, bool is_json, struct weft_text *text, int64_t *ret_broken);

#endif
