/* SPDX-License-Identifier: ISC
 *
 * The arguments of weft agent, and the parts that act on them.
 */
#ifndef WEFT_APPS_AGENT_ARGUMENTS_H
#define WEFT_APPS_AGENT_ARGUMENTS_H

#include <limits.h>
#include <stdbool.h>
#include <time.h>

#include "http.h"
#include "spans.h"

#include "agent/agent.h"
#include "agent/mmv.h"

struct agent_arguments {
	struct weft__agent_options options;
	char folder[PATH_MAX], file[PATH_MAX], snapshots[PATH_MAX], spool[PATH_MAX];
	time_t every_s;
	bool is_once;
	bool has_made_folder;
	bool has_push_option;           /* --spans, --spool-size or --timeout */
	struct agent_http_options http; /* no host: none */
	struct push_options push;       /* no URL: none */
	bool folds;                     /* of the spans, only those of requests and their parts */
	struct weft__agent_mmv mmv;
};

/* Makes the folders of the database, the snapshots, the spool and the counters, and sets their
 * paths. False after a message. */
bool agent_make_folders(struct agent_arguments *arguments);

/* Looks until a signal comes. Nothing is made if a file of tokens or an address cannot be used. The
 * exit status. */
int agent_run(struct agent_arguments *arguments);

#endif
