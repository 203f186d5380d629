/* SPDX-License-Identifier: ISC
 *
 * weft query and weft export --to sqlite in a build without SQLite.
 */
#include "cli/cli.h"
#include "export.h"

static int fail(void)
{
	cli_error("this weft was built without SQLite (libsqlite3-dev)");
	return CLI_NO;
}

int cli_query(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return fail();
}

int query_export(const struct cli_trace *trace, const char *file, bool force)
{
	(void)trace;
	(void)file;
	(void)force;
	return fail();
}
