/* SPDX-License-Identifier: ISC
 *
 * Windows of time in a build without SQLite.
 */
#include "cli/cli.h"
#include "window.h"

int metrics_show_window(
	const char *command, const struct metrics_window *window, char *const *names, int count)
{
	(void)command;
	(void)window;
	(void)names;
	(void)count;
	cli_error("this weft was built without SQLite (libsqlite3-dev)");
	return CLI_NO;
}
