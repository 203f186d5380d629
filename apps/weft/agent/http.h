/* SPDX-License-Identifier: ISC
 *
 * The agent's HTTP side:
 *
 *     POST /alert     Alertmanager's webhook, version 4
 *     GET /metrics    totals and gauges from the database, as Prometheus reads them
 *
 * Each needs the token, as "Authorization: Bearer TOKEN"; with one that is bound to labels,
 * /metrics has what they belong to. A thread of its own reads requests; the agent acts on them
 * between its looks.
 */
#ifndef WEFT_APPS_AGENT_HTTP_H
#define WEFT_APPS_AGENT_HTTP_H

#include "agent/agent.h"

/* Sent to this process when alerts have come. */
#define AGENT_HTTP_SIGNAL SIGUSR1

struct agent_http;

struct agent_http_options {
	char host[64], port[8]; /* an empty host: none */
	const char *token_file; /* NULL: a token is drawn, and printed */
	const char *tokens;     /* a file of tokens that are bound to labels, or NULL */
	size_t depth;           /* labels of a series at most */
};

/* Splits "[::1]:80", "127.0.0.1:80" and ":80". False if it is none of these, or
 * has no address. */
bool agent_split_address(const char *text, char ret_host[64], char ret_port[8]);

/* Reads the tokens, and takes the address. NULL after a message. */
struct agent_http *agent_http_open(const struct agent_http_options *options);
/* Answers from then on. False after a message. */
bool agent_http_start(struct agent_http *http, const char *database);
/* Takes snapshots for the alerts that have come since. */
void agent_http_act(struct agent_http *http, struct weft__agent *agent);
/* NULL is allowed. */
void agent_http_stop(struct agent_http *http);

#endif
