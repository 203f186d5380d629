/* SPDX-License-Identifier: ISC
 *
 * weft agent ledger: prints the entries of an agent's ledger.
 */
#include "command.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "agent/entries.h"
#include "cli/cli.h"
#include "runs/message.h"

static const char usage[] =
	"usage: weft agent ledger [OPTION]...\n"
	"\n"
	"Prints what each counter was charged in each hour, and its total, from the database of\n"
	"`weft agent`. Each entry has a hash that depends on all entries before it.\n"
	"\n"
	"  --csv        lines of CSV, with a head; the default\n"
	"  --json       one JSON object on each line\n"
	"  --data FILE  the database. Default: that of `weft agent`\n"
	"  --help       this text\n"
	"\n"
	"Exit status: 1 if an entry does not fit to its hash, 3 if the database cannot be read.\n";

static int print(sqlite3 *database, const char *file, bool is_json)
{
	struct weft_text text = {0};
	int64_t broken = 0;
	int result = weft__agent_entries_print(database, is_json, &text, &broken);
	if (result || text.error) {
		cli_error(
			"%s: %s", weft__runs_shown(file), result ? sqlite3_errmsg(database) : strerror(ENOMEM));
		weft_text_finish(&text);
		return CLI_UNREADABLE;
	}
	cli_write(&text);
	weft_text_finish(&text);
	if (!broken)
		return CLI_DONE;
	cli_error("%s: entry %lld does not fit to its hash, or entries before it are missing",
		weft__runs_shown(file), (long long)broken);
	return CLI_NO;
}

int agent_ledger(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"csv", no_argument, NULL, 'c'},
		{"json", no_argument, NULL, 'j'},
		{"data", required_argument, NULL, 'd'},
		{NULL, 0, NULL, 0},
	};
	char own[PATH_MAX];
	const char *file = NULL;
	bool is_json = false;
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (option == '?')
			return CLI_USAGE;
		if (option == 'd')
			file = optarg;
		else
			is_json = option == 'j';
	}
	if (optind < argc)
		return cli_usage_error("agent", "unknown operand \"%s\"", argv[optind]);
	if (!file && !agent_default_file(own))
		return CLI_UNREADABLE;
	if (!file)
		file = own;
	sqlite3 *database = NULL;
	int result = weft__agent_database_open_readonly(file, &database);
	if (result)
		cli_error("%s: %s", weft__runs_shown(file), sqlite3_errstr(result));
	int status = result ? CLI_UNREADABLE : print(database, file, is_json);
	sqlite3_close(database);
	return status;
}
