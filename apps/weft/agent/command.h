/* SPDX-License-Identifier: ISC
 *
 * Shared by the files of weft agent, and by commands that read its database.
 */
#ifndef WEFT_APPS_AGENT_COMMAND_H
#define WEFT_APPS_AGENT_COMMAND_H

#include <limits.h>
#include <stdbool.h>

#include "agent/alerts.h"

/* The file of the database: root's is /var/lib/weft/agent.db, that of a user is in XDG_STATE_HOME.
 * False after a message. */
bool agent_default_file(char ret_file[PATH_MAX]);
/* The same without a message. */
bool agent_find_default_file(char ret_file[PATH_MAX]);

/* Add a rule, or those of a file. CLI_DONE, or CLI_USAGE after a message. */
int agent_add_rule(struct weft__agent_alerts *alerts, const char *rule);
int agent_add_rules(struct weft__agent_alerts *alerts, const char *path);

/* weft agent ledger. */
int agent_ledger(int argc, char **argv);

#endif
