/* SPDX-License-Identifier: ISC
 *
 * weft export: writes a trace in another program's format.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <weft/export.h>

#include "cli/cli.h"
#include "chrome_file.h"
#include "copy.h"
#include "ctf_directory.h"
#include "query/export.h"

static const char usage[] =
	"usage: weft export --to ctf [--force] [--max-size SIZE] FILE... DIR\n"
	"       weft export --to sqlite [--force] [--max-size SIZE] FILE... DATABASE\n"
	"       weft export --to chrome [--max-size SIZE] FILE... [-o OUT]\n"
	"\n"
	"Writes the trace FILE in another format. Several files of one boot, or a directory of\n"
	"traces, are one trace.\n"
	"\n"
	"  --to ctf         a directory DIR in the Common Trace Format 1.8, for babeltrace, Trace\n"
	"                   Compass and other tools\n"
	"  --to sqlite      a file DATABASE of SQLite, with the tables of `weft query`\n"
	"  --to chrome      Chrome's trace events, JSON, for ui.perfetto.dev and chrome://tracing\n"
	"  -o, --output OUT the file for these; default: standard output\n"
	"  --force          replace an earlier export\n"
	"  --max-size SIZE  refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                   times its own size, and 4G for a pipe\n"
	"  --cpu-hz HZ      the rate of the cycles in a trace of Xen (2596.15M); default: estimated\n"
	"  --help           this text\n"
	"\n"
	"DIR is created; it may exist if it is empty. If the export fails, no file remains in it.\n";

enum target {
	TO_CTF,
	TO_SQLITE,
	TO_CHROME,
	TARGETS
};

static const char *const targets[] = {"ctf", "sqlite", "chrome", NULL};

struct export_arguments {
	char **files;
	int file_count;
	const char *output; /* the directory, or the file */
	enum target target;
	bool force;
};

/* Takes the output, which is the last of the arguments but for Chrome's format. CLI_DONE, or the
 * exit status after a message. */
static int take_output(int argc, char **argv, struct export_arguments *a)
{
	const bool is_option = a->target == TO_CHROME;
	const int needed = is_option ? 1 : 2;
	if (!is_option && (a->output || argc - optind < needed))
		return a->output ? cli_usage_error(argv[0], "-o is for --to chrome")
						 : cli_usage_error(argv[0], "FILE and %s are both needed",
							   a->target == TO_SQLITE ? "DATABASE" : "DIR");
	if (is_option && a->force)
		return cli_usage_error(argv[0], "--force is not for --to chrome, which replaces OUT");
	if (is_option && !cli_count_operands(argc, argv, "FILE"))
		return CLI_USAGE;
	a->files = argv + optind;
	a->file_count = argc - optind - (needed - 1);
	if (!is_option)
		a->output = argv[argc - 1];
	else if (!a->output)
		a->output = "-";
	return CLI_DONE;
}

/* Parses the arguments. CLI_DONE, or the exit status if `ret_run` is false. */
static int parse(int argc, char **argv, struct export_arguments *ret_arguments, bool *ret_run)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"to", required_argument, NULL, 't'},
		{"output", required_argument, NULL, 'o'},
		{"force", no_argument, NULL, 'f'},
		CLI_MAX_SIZE_OPTION,
		CLI_CPU_HZ_OPTION,
		{NULL, 0, NULL, 0},
	};
	struct export_arguments arguments = {0};
	const char *format = NULL;
	*ret_run = false;
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (option == 't')
			format = optarg;
		else if (option == 'o')
			arguments.output = optarg;
		else if (option == 'f')
			arguments.force = true;
		else
			return CLI_USAGE;
	}
	if (!format)
		return cli_usage_error(
			argv[0], "--to is missing: `--to ctf`, `--to sqlite` or `--to chrome`");
	while (arguments.target < TARGETS && strcmp(format, targets[arguments.target]) != 0)
		arguments.target++;
	if (arguments.target == TARGETS)
		return cli_unknown_value(argv[0], "--to:", format, targets);
	int status = take_output(argc, argv, &arguments);
	*ret_arguments = arguments;
	*ret_run = status == CLI_DONE;
	return status;
}

static int add_ctf(
	void *ctf, const struct weft_event *event, const struct weft_trace_description *description)
{
	return weft_export_ctf_add(ctf, event, description);
}

static int finish_ctf(void *ctf, const struct weft_trace_description *description)
{
	return weft_export_ctf_finish(ctf, description);
}

static void report_summary(const struct cli_trace *trace, struct weft_export_ctf_summary summary)
{
	cli_trace_report(trace);
	if (summary.events == 0)
		cli_error("%s holds no events", trace->name);
	if (summary.late_times)
		cli_error(
			"%" PRIu64
			" events are too late for readers of CTF, which count signed ns; they get the latest possible time",
			summary.late_times);
}

static int write_directory(const struct cli_trace *trace, int status, struct weft_event *event,
	struct ctf_directory *directory)
{
	const struct weft_export_ctf_sink sink = {ctf_directory_append, directory};
	struct weft_export_ctf *ctf = NULL;
	struct export_outcome outcome = {.write_error = weft_export_ctf_create(&sink, &ctf)};
	const struct export_writer writer = {add_ctf, finish_ctf, ctf};
	if (!outcome.write_error)
		outcome = export_copy(trace, status, event, &writer);
	if (outcome.read_error || outcome.write_error) {
		ctf_directory_abandon(directory);
		weft_export_ctf_destroy(ctf);
		return export_fail(trace, directory->path, &outcome);
	}
	report_summary(trace, weft_export_ctf_summarize(ctf));
	weft_export_ctf_destroy(ctf);
	if (!ctf_directory_commit(directory))
		return CLI_NO;
	export_end_if_interrupted(directory->path, &outcome);
	return CLI_DONE;
}

/* The first event is read before anything is written, so that DIR stays unchanged if FILE is not a
 * trace. */
static int run_export(const struct export_arguments *arguments, const struct cli_trace *trace)
{
	struct ctf_directory directory;
	struct weft_event event;
	int status = weft_decoder_next(trace->decoder, &event);
	if (status < 0) {
		cli_trace_report(trace);
		return cli_trace_fail(trace, status);
	}
	if (!ctf_directory_open(arguments->output, arguments->files, arguments->file_count,
			arguments->force, &directory))
		return CLI_NO;
	return write_directory(trace, status, &event, &directory);
}

int cli_export(int argc, char **argv)
{
	struct export_arguments arguments;
	struct cli_trace trace;
	bool wanted;
	int status = parse(argc, argv, &arguments, &wanted);
	if (!wanted)
		return status;
	status = cli_trace_open_all(arguments.files, arguments.file_count, &trace);
	if (status != CLI_DONE)
		return status;
	if (arguments.target == TO_SQLITE)
		status = query_export(&trace, arguments.output, arguments.force);
	else if (arguments.target == TO_CHROME)
		status = chrome_export(&trace, arguments.output);
	else
		status = run_export(&arguments, &trace);
	cli_trace_close(&trace);
	return status;
}
