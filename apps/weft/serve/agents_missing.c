/* SPDX-License-Identifier: ISC
 *
 * A build without SQLite has no agent.
 */
#include "agents.h"

const char *serve_agents_data(void)
{
	return NULL;
}

enum serve_agent serve_agents_write(const char *data, const struct serve_metrics_request *request,
	void (*write)(const struct serve_metrics_request *request,
		const struct weft__metrics_sample *samples, size_t count, struct weft_text *text),
	struct weft_text *text)
{
	(void)data;
	(void)request;
	(void)write;
	(void)text;
	return SERVE_AGENT_GONE;
}
