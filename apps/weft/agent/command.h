/* SPDX-License-Identifier: ISC
 *
 * Shared by the files of weft agent, and by commands that read its database.
 */
#ifndef WEFT_APPS_AGENT_COMMAND_H
#define WEFT_APPS_AGENT_COMMAND_H

#include <limits.h>
#include <stdbool.h>

/* The file of the database: root's is /var/lib/weft/agent.db, that of a user is in XDG_STATE_HOME.
 * False after a message. */
bool agent_default_file(char ret_file[PATH_MAX]);

/* weft agent ledger. */
int agent_ledger(int argc, char **argv);

#endif
