/* SPDX-License-Identifier: ISC
 *
 * The agent's HTTP side in a weft that was built without libmicrohttpd.
 */
#include "http.h"

#include "cli/cli.h"

struct agent_http *agent_http_open(const struct agent_http_options *options)
{
	(void)options;
	cli_error("--http: this weft was built without a server: it needs the package "
			  "libmicrohttpd-dev when it is built");
	return NULL;
}

bool agent_http_start(struct agent_http *http, const char *database)
{
	(void)http;
	(void)database;
	return false;
}

void agent_http_act(struct agent_http *http, struct weft__agent *agent)
{
	(void)http;
	(void)agent;
}

void agent_http_stop(struct agent_http *http)
{
	(void)http;
}
