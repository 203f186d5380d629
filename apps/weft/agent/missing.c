/* SPDX-License-Identifier: ISC
 *
 * weft agent in a build without SQLite.
 */
#include "cli/cli.h"

int cli_agent(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	cli_error("this weft was built without SQLite (libsqlite3-dev)");
	return CLI_NO;
}
