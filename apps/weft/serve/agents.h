/* SPDX-License-Identifier: ISC
 *
 * The values that an agent on this machine has seen, from its database.
 */
#ifndef WEFT_APPS_SERVE_AGENTS_H
#define WEFT_APPS_SERVE_AGENTS_H

#include "metrics.h"

enum serve_agent {
	SERVE_AGENT_LOOKS,
	SERVE_AGENT_GONE,   /* there is no database that can be read, or its agent does not look */
	SERVE_AGENT_FAILED, /* memory is short */
};

/* The database of this user's agent; NULL: there can be none. */
const char *serve_agents_data(void);

/* Passes on the values of the last look, if it looks now. */
enum serve_agent serve_agents_write(const char *data, const struct serve_metrics_request *request,
	void (*write)(const struct serve_metrics_request *request,
		const struct weft__metrics_sample *samples, size_t count, struct weft_text *text),
	struct weft_text *text);

#endif
