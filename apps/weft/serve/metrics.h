/* SPDX-License-Identifier: ISC
 *
 * The counters that `weft serve` shows. Any thread may call.
 */
#ifndef WEFT_APPS_SERVE_METRICS_H
#define WEFT_APPS_SERVE_METRICS_H

#include "metrics/format.h"
#include "tokens.h"

struct serve_metrics_request {
	const struct serve_token *bound; /* shows what has its labels; NULL: everything */
	enum metrics_format format;
	size_t depth; /* labels of a series at most */
};

/* Sets the agent's database, which must stay valid. NULL: that of this user's agent, as soon as one
 * looks. */
void serve_metrics_init(const char *data);

/* Writes the counters. NULL, or why there are none. */
const char *serve_metrics(const struct serve_metrics_request *request, struct weft_text *text);

#endif
