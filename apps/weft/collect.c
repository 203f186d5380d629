/* SPDX-License-Identifier: ISC
 *
 * weft collect: saves what guests of Xen record, from dom0.
 */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "record/record.h"
#include "runs/guests/guest.h"
#include "runs/message.h"
#include "runs/saving/name.h"

static const char usage[] =
	"usage: weft collect [-o FILE] [--once] [--wait] [--rotate BYTES[:N]] [--max-size BYTES] [--zstd]\n"
	"                    xen:DOMAIN[/BUFFER]|xen:all\n"
	"\n"
	"Saves what a guest of Xen records, while it runs and from what is there when it crashed, until\n"
	"Ctrl-C. DOMAIN is a name or a number of `xl list`; a domain that reboots or comes back under\n"
	"its name is followed, into another file. `all` follows all domains as they come and go. Reads\n"
	"the pages that the guests share, in dom0, and changes nothing in them.\n"
	"\n"
	"  -o, --output FILE  the file for the trace, or its directory; default: DOMAIN-NUMBER.weft in\n"
	"                     the current directory. `-`: standard output\n"
	"  --once             end when the domain ends; with /BUFFER, when that buffer does\n"
	"  --wait             wait for the domain if it does not exist yet\n"
	"  --rotate BYTES[:N] begin a new file after BYTES: FILE.0001.weft and so on; with N keep only\n"
	"                     the newest N files\n"
	"  --max-size BYTES   the limit for all files of one domain together, 8M at least; its stream\n"
	"                     then ends with a message. Default: 16G, or half of the free disk space if\n"
	"                     that is less. 0: no limit\n"
	"  --zstd             compress; a FILE that ends in .zst implies it\n"
	"  --help             this text\n";

struct collect_arguments {
	struct weft__runs_guests_options guests;
	struct weft__runs_stream_options streaming;
	bool has_made_directory;
};

static int check(const char *command, struct collect_arguments *a)
{
	const char *output = a->streaming.output;
	const char *domain = weft__runs_guest_domain(a->guests.operand);
	if (!domain || !*domain)
		return cli_usage_error(command, "\"%s\" names no guest; write xen:DOMAIN or xen:all",
			weft__runs_shown(a->guests.operand));
	if (output && !*output)
		return cli_usage_error(command, "-o: the file's name is empty");
	bool is_all = strcmp(domain, "all") == 0;
	if (is_all && weft__runs_is_stdout(output))
		return cli_usage_error(command, "the traces of all domains need a directory; use -o DIR");
	if (weft__runs_is_stdout(output) && isatty(STDOUT_FILENO))
		return cli_usage_error(
			command, "refusing to write a binary trace to a terminal; use -o FILE or a pipe");
	if (is_all && output) {
		a->has_made_directory = mkdir(output, 0777) == 0;
		if (!a->has_made_directory && errno != EEXIST) {
			cli_error("%s: %s", weft__runs_shown(output), strerror(errno));
			return CLI_NO;
		}
	}
	return record_streaming_check(command, &a->streaming);
}

static bool take_option(const char *command, int option, struct collect_arguments *a)
{
	switch (option) {
	case 'o':
		a->streaming.output = optarg;
		return true;
	case 'e':
		return a->guests.once = true;
	case 'w':
		return a->guests.waits = true;
	case '?':
		return false;
	default:
		return record_streaming_take(command, option, optarg, &a->streaming);
	}
}

int cli_collect(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"max-size", required_argument, NULL, 'm'},
		{"once", no_argument, NULL, 'e'},
		{"output", required_argument, NULL, 'o'},
		{"rotate", required_argument, NULL, 'R'},
		{"wait", no_argument, NULL, 'w'},
		{"zstd", no_argument, NULL, 'z'},
		{NULL, 0, NULL, 0},
	};
	struct collect_arguments a = {.guests = {.operand = NULL}};
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (!take_option(argv[0], option, &a))
			return CLI_USAGE;
	}
	if (!(a.guests.operand = cli_only_operand(argc, argv, "xen:DOMAIN")))
		return CLI_USAGE;
	int status = check(argv[0], &a);
	if (!status && !weft__runs_can_save(a.streaming.output))
		status = CLI_NO;
	if (!status && !record_stream_guests(&a.guests, &a.streaming))
		status = CLI_UNREADABLE;
	if (status && a.has_made_directory)
		rmdir(a.streaming.output); /* unless it has traces */
	return status;
}
