/* SPDX-License-Identifier: ISC
 *
 * weft index: notes what is alive at times of a trace, in a file beside it, so that parts of it are
 * read without the rest.
 */
#include <getopt.h>
#include <inttypes.h>

#include "cli/cli.h"
#include "make.h"

static const char usage[] =
	"usage: weft index FILE... [--spacing N] [--max-size SIZE]\n"
	"\n"
	"Notes what is alive at times of the trace FILE, in FILE.weft-index: from then on `weft cut`\n"
	"reads only the part of a large trace that it writes, with the same result, and ranges that are\n"
	"read alone begin with what is alive. A trace that has changed since is read as a whole again.\n"
	"\n"
	"  --spacing N      at least N events between two such times; default: 262144\n"
	"  --max-size SIZE  refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                   times its own size\n"
	"  --help           this text\n";

enum {
	OPTION_HELP = 256,
	OPTION_SPACING,
};

static const struct option long_options[] = {
	{"help", no_argument, NULL, OPTION_HELP},
	{"spacing", required_argument, NULL, OPTION_SPACING},
	CLI_MAX_SIZE_OPTION,
	{NULL, 0, NULL, 0},
};

static void report(const char *path, uint64_t spacing, const struct index_summary *made)
{
	if (made->checkpoints)
		cli_inform("%s.weft-index: %zu checkpoints, %.1f MB", path, made->checkpoints,
			(double)made->bytes / 1e6);
	else if (made->events <= spacing)
		cli_inform("%s has %" PRIu64 " events, no more than --spacing: it needs no checkpoints",
			path, made->events);
	else
		cli_inform("%s has no time at which all that is alive is certain: no checkpoints", path);
}

static int make_index(const char *path, uint64_t spacing)
{
	struct index_summary made;
	int status = index_make(path, spacing, false, &made);
	if (!status)
		report(path, spacing, &made);
	return status;
}

int cli_index(int argc, char **argv)
{
	uint64_t spacing = INDEX_SPACING;
	for (int code; (code = cli_next_option(argc, argv, long_options)) != -1;) {
		if (code == OPTION_HELP)
			return cli_help(usage);
		if (code != OPTION_SPACING ||
			!cli_parse_number("index", "--spacing", optarg, 1, UINT32_MAX, &spacing))
			return CLI_USAGE;
	}
	const int count = cli_count_operands(argc, argv, "FILE");
	int status = count ? CLI_DONE : CLI_USAGE;
	cli_progress_start();
	for (int i = 0; i < count && !status; i++)
		status = make_index(argv[optind + i], spacing);
	cli_progress_end();
	cli_progress_die_if_interrupted();
	return status;
}
