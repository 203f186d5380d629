/* SPDX-License-Identifier: ISC
 *
 * Alerts that an Alertmanager sends (its webhook, version 4): each names by its labels the programs
 * that it is about.
 */
#ifndef WEFT_AGENT_WEBHOOK_H
#define WEFT_AGENT_WEBHOOK_H

#include <sqlite3.h>

#include "agent/alerts.h"

#define WEFT__AGENT_CALLS_MAX 64 /* in one message; further ones are left out */

struct weft__agent_call {
	struct weft_trace_alert alert; /* without its time */
	double age_s;                  /* since it began; NAN: unknown */
	char key[160]; /* of this beginning of the alert, which is sent again and again; "": unknown */
	char *labels;  /* JSON, as in labels.h */
};

struct weft__agent_calls {
	struct weft__agent_call *list; /* those that fire */
	size_t count;
};

/* Reads a message with SQLite's functions for JSON, in any database. NULL, or why it is refused.
 * The caller calls finish in any case. */
const char *weft__agent_webhook_parse(
	sqlite3 *database, const char *body, size_t size, struct weft__agent_calls *ret);
void weft__agent_calls_finish(struct weft__agent_calls *calls);

/* Takes snapshots of the running programs that have the labels of an alert: `program`, `pid`, and
 * those of their metrics. True if there is one. */
bool weft__agent_webhook_act(struct weft__agent_alerts *alerts,
	const struct weft__agent_ledger *ledger, const struct weft__agent_call *call);

#endif
