/* SPDX-License-Identifier: ISC
 *
 * weft export: writes a trace in another program's format.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weft/export.h>

#include "cli/cli.h"
#include "chrome_file.h"
#include "copy.h"
#include "ctf_directory.h"
#include "otlp_file.h"
#include "otlp_follow.h"
#include "perfetto_file.h"
#include "profile_file.h"
#include "start_time.h"
#include "query/export.h"

static const char usage[] =
	"usage: weft export --to ctf [--force] [--max-size SIZE] FILE... DIR\n"
	"       weft export --to sqlite [--force] [--start TIME] [--duration T] [--max-size SIZE]\n"
	"                   FILE... DATABASE\n"
	"       weft export --to chrome [--max-size SIZE] FILE... [-o OUT]\n"
	"       weft export --to perfetto [--max-size SIZE] FILE... [-o OUT]\n"
	"       weft export --to collapsed|pprof [--of waits|cpu] [--start TIME] [--duration T]\n"
	"                   [--max-size SIZE] FILE... [-o OUT]\n"
	"       weft export --to collapsed --diff [--of waits|cpu] [--max-size SIZE] A B [-o OUT]\n"
	"       weft export --to zipkin [--spans all|requests] [--pending none|omit-end]\n"
	"                   [--start-time TIME] [--max-size SIZE] FILE... [-o OUT]\n"
	"       weft export --to otlp|otlp-json [--spans all|requests] [--signal traces|metrics|all]\n"
	"                   [--pending none|omit-end|logfire] [--start-time TIME] [--max-size SIZE]\n"
	"                   FILE... [-o OUT | --url URL [--spool DIR]]\n"
	"       weft export --to otlp|otlp-json --follow [--spans all|requests] [--pending HOW]\n"
	"                   FILE|PID [-o OUT | --url URL [--spool DIR]]\n"
	"\n"
	"Writes the trace FILE in another format. Several files, or a directory of\n"
	"traces, are one trace.\n"
	"\n"
	"  --to ctf         a directory DIR in the Common Trace Format 1.8, for babeltrace, Trace\n"
	"                   Compass and other tools\n"
	"  --to sqlite      a file DATABASE of SQLite, with the tables of `weft query`\n"
	"  --to chrome      Chrome's trace events, JSON, for ui.perfetto.dev and chrome://tracing\n"
	"  --to perfetto    Perfetto's protobuf, for ui.perfetto.dev and trace_processor\n"
	"  --to collapsed   where in the code threads waited, or, with --of cpu, what they ran: lines for\n"
	"                   tools that draw flame graphs; the numbers are ns\n"
	"  --diff           with --to collapsed: the ns of A and those of B, as difffolded.pl has them\n"
	"  --to pprof       the same in pprof's protobuf\n"
	"  --to zipkin      spans only, JSON of Zipkin, version 2\n"
	"  --to otlp-json   spans and metrics of OpenTelemetry: OTLP's JSON, a message a line\n"
	"  --to otlp        the same in protobuf\n"
	"  -o, --output OUT the file for these; default: standard output\n"
	"  --spans WHICH    of OpenTelemetry's: all tasks (default), or requests: those that have a\n"
	"                   name or are work of a kind of their own, with the rest inside of them\n"
	"  --pending HOW    spans that still run: none (default), omit-end, or logfire\n"
	"  --signal WHICH   traces, metrics, or all (default); of protobuf traces (default) or metrics\n"
	"  --url URL        send them to a receiver by HTTP: http://localhost:4318\n"
	"  --spool DIR      keep there what the receiver does not take; without FILE, only send it\n"
	"  --spool-size S   the most bytes in it (500M, 4G); default: 256M\n"
	"  --queue-size S   with --follow: the most bytes that wait in memory; default: 32M\n"
	"  --timeout T      wait so long for an answer; default: 10s\n"
	"  --retry-for T    try so long to send a message; default: 300s\n"
	"  --follow         of a running program: each span when it has ended, until the program ends\n"
	"                   or Ctrl-C\n"
	"  --start TIME, --duration T\n"
	"                   with --to sqlite, collapsed and pprof: export only a range, as in\n"
	"                   weft-query(1); for other formats, use weft cut first\n"
	"  --start-time T   when a trace without a time of day begins: 2026-11-29T14:37:40Z\n"
	"  --force          replace an earlier export\n"
	"  --max-size SIZE  refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                   times its own size, and 4G for a pipe\n"
	"  --cpu-hz HZ      the rate of the cycles in a trace of Xen (2596.15M); default: estimated\n"
	"  --no-align       leave the clocks of several hosts as they are\n"
	"  --help           this text\n"
	"\n"
	"DIR is created; it may exist if it is empty. If the export fails, no file remains in it.\n";

#define NS_PER_S UINT64_C(1000000000)

enum target {
	TO_CTF,
	TO_SQLITE,
	TO_CHROME,
	TO_OTLP_JSON,
	TO_OTLP,
	TO_PERFETTO,
	TO_ZIPKIN,
	TO_COLLAPSED,
	TO_PPROF,
	TARGETS
};

static const char *const targets[] = {"ctf", "sqlite", "chrome", "otlp-json", "otlp", "perfetto",
	"zipkin", "collapsed", "pprof", NULL};

struct export_arguments {
	enum flame_source source; /* of a profile */
	bool has_source, is_diff;
	char **files;
	int file_count;
	const char *output; /* the directory, or the file */
	enum target target;
	bool force;
	bool is_of_spans; /* has an option that is for spans only */
	bool is_of_push;  /* has one that is for --url only */
	bool follows;
	struct otlp_arguments otlp;
};

static bool is_for_spans(enum target target)
{
	return target == TO_OTLP_JSON || target == TO_OTLP || target == TO_ZIPKIN;
}

/* Those that write one file, which may be standard output. */
static bool is_stream(enum target target)
{
	return target == TO_CHROME || target == TO_PERFETTO || target == TO_COLLAPSED ||
		   target == TO_PPROF || is_for_spans(target);
}

static bool is_unreadable(const struct export_arguments *a)
{
	const bool is_binary =
		a->target == TO_PERFETTO || a->target == TO_OTLP || a->target == TO_PPROF;
	return is_binary && !a->otlp.push.url && strcmp(a->output, "-") == 0 && isatty(STDOUT_FILENO);
}

/* Takes the output, which is the last of the arguments or that of -o. CLI_DONE, or the exit status
 * after a message. */
static int take_output(int argc, char **argv, struct export_arguments *a)
{
	const bool is_option = is_stream(a->target);
	const int needed = is_option ? 1 : 2;
	if (!is_option && (a->output || argc - optind < needed))
		return a->output ? cli_usage_error(argv[0], "-o is not for --to %s", targets[a->target])
						 : cli_usage_error(argv[0], "FILE and %s are both needed",
							   a->target == TO_SQLITE ? "DATABASE" : "DIR");
	if (is_option && a->force)
		return cli_usage_error(
			argv[0], "--force is not for --to %s, which replaces OUT", targets[a->target]);
	if (a->follows && !cli_only_operand(argc, argv, "FILE or PID"))
		return CLI_USAGE;
	if (is_option && !(a->otlp.push.spool && optind == argc) &&
		!cli_count_operands(argc, argv, "FILE"))
		return CLI_USAGE;
	if (a->is_diff && argc - optind != 2)
		return cli_usage_error(argv[0], "--diff compares two traces: A and B");
	a->files = argv + optind;
	a->file_count = argc - optind - (needed - 1);
	if (!is_option)
		a->output = argv[argc - 1];
	else if (!a->output)
		a->output = "-";
	return is_unreadable(a)
			   ? cli_usage_error(argv[0],
					 "--to %s is binary, which a terminal cannot show: name a file by -o",
					 targets[a->target])
			   : CLI_DONE;
}

static bool parse_pending(const char *command, struct otlp_arguments *otlp)
{
	const char *names[WEFT_OTLP_PENDINGS + 1] = {NULL};
	for (unsigned i = 0; i < WEFT_OTLP_PENDINGS; i++)
		names[i] = weft_otlp_pending_name(i);
	int chosen = cli_choose(command, "--pending:", optarg, names);
	otlp->options.pending = (enum weft_otlp_pending)chosen;
	return chosen >= 0;
}

static bool parse_spans(const char *command, struct otlp_arguments *otlp)
{
	static const char *const names[] = {"all", "requests", NULL};
	int chosen = cli_choose(command, "--spans:", optarg, names);
	otlp->options.folds = chosen == 1;
	return chosen >= 0;
}

/* A file of protobuf is one message, of spans or of metrics. */
static bool parse_signal(const char *command, struct otlp_arguments *otlp)
{
	static const char *const names[] = {"traces", "metrics", "all", NULL};
	int chosen = cli_choose(command, "--signal:", optarg, names);
	otlp->has_signal[WEFT_OTLP_TRACES] = chosen != 1;
	otlp->has_signal[WEFT_OTLP_METRICS] = chosen != 0;
	return chosen >= 0;
}

/* An option of --url. False after a message. */
static bool parse_push_option(const char *command, int option, struct push_options *push)
{
	switch (option) {
	case 'u':
		push->url = optarg;
		return true;
	case 'q':
		push->spool = optarg;
		return true;
	case 'Q':
		return cli_parse_size(command, "--spool-size", optarg, &push->spool_bytes);
	case 'k':
		return cli_parse_size(command, "--queue-size", optarg, &push->queue_bytes);
	case 'w':
		return cli_parse_duration(command, "--timeout", optarg, &push->timeout_ns);
	default:
		return cli_parse_duration(command, "--retry-for", optarg, &push->patience_ns);
	}
}

/* Takes an option of profiles or spans. False after a message. */
static bool parse_format_option(const char *command, int option, struct export_arguments *a)
{
	if (option == 'W') {
		a->has_source = true;
		return flame_parse_source(command, optarg, &a->source);
	}
	if (option == 'D')
		return a->is_diff = true;
	a->is_of_spans = true;
	if (option == 'F')
		return a->follows = true;
	if (option == 'p')
		return parse_pending(command, &a->otlp);
	a->is_of_push = a->is_of_push || strchr("Qkwr", option);
	if (strchr("uqQkwr", option))
		return parse_push_option(command, option, &a->otlp.push);
	if (option == 'S')
		return parse_signal(command, &a->otlp);
	if (option == 's')
		return parse_spans(command, &a->otlp);
	return export_parse_start_time(command, optarg, &a->otlp.start_ns);
}

static bool is_profile(enum target target)
{
	return target == TO_COLLAPSED || target == TO_PPROF;
}

static int take_target(const char *command, const char *format, struct export_arguments *a)
{
	if (!format)
		return cli_usage_error(command,
			"--to is missing: one of ctf, sqlite, chrome, otlp-json, otlp, perfetto, zipkin, collapsed and pprof");
	int chosen = cli_choose(command, "--to:", format, targets);
	if (chosen < 0)
		return CLI_USAGE;
	a->target = (enum target)chosen;
	if (a->has_source && !is_profile(a->target))
		return cli_usage_error(command, "--of is not for --to %s", targets[a->target]);
	if (cli_trace_has_range() && !is_profile(a->target) && a->target != TO_SQLITE)
		return cli_usage_error(command, "--start and --duration are not for --to %s; use weft cut",
			targets[a->target]);
	if (a->is_diff && a->target != TO_COLLAPSED)
		return cli_usage_error(command, "--diff is not for --to %s", targets[a->target]);
	if (a->is_of_spans && !is_for_spans(a->target))
		return cli_usage_error(command,
			"--spans, --signal, --pending, --follow, --start-time, --url and its options are not for --to %s",
			targets[a->target]);
	return CLI_DONE;
}

/* A running program says when it began, and its metrics are those of `weft metrics`. */
static int check_follow(const char *command, const struct export_arguments *a)
{
	if (a->target == TO_ZIPKIN || a->otlp.start_ns || a->otlp.has_signal[WEFT_OTLP_METRICS])
		return cli_usage_error(
			command, "--follow is not for --to zipkin, --start-time and metrics");
	return CLI_DONE;
}

static int take_signals(const char *command, struct export_arguments *a)
{
	bool *has = a->otlp.has_signal;
	struct push_options *push = &a->otlp.push;
	a->otlp.options.format = a->target == TO_OTLP     ? WEFT_OTLP_PROTOBUF
							 : a->target == TO_ZIPKIN ? WEFT_OTLP_ZIPKIN
													  : WEFT_OTLP_JSON;
	if (a->target == TO_ZIPKIN && (has[WEFT_OTLP_METRICS] || push->url ||
									  a->otlp.options.pending == WEFT_OTLP_PENDING_LOGFIRE))
		return cli_usage_error(
			command, "--url, metrics and --pending logfire are not for --to zipkin");
	if (a->follows && check_follow(command, a) != CLI_DONE)
		return CLI_USAGE;
	if (!has[WEFT_OTLP_TRACES] && !has[WEFT_OTLP_METRICS]) {
		has[WEFT_OTLP_TRACES] = true;
		has[WEFT_OTLP_METRICS] = !a->follows && (a->target == TO_OTLP_JSON || push->url);
	}
	push->is_json = a->target == TO_OTLP_JSON;
	if (push->url && a->output)
		return cli_usage_error(command, "--url and -o exclude each other");
	if (push->spool && !push->url)
		return cli_usage_error(command, "--spool is for --url");
	if (a->is_of_push && !push->url)
		return cli_usage_error(
			command, "--spool-size, --queue-size, --timeout and --retry-for are for --url");
	if (!push->url && a->target == TO_OTLP && has[WEFT_OTLP_TRACES] && has[WEFT_OTLP_METRICS])
		return cli_usage_error(command,
			"--signal all: a file of protobuf has spans or metrics; --to otlp-json has both");
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
		{"of", required_argument, NULL, 'W'},
		{"diff", no_argument, NULL, 'D'},
		{"spans", required_argument, NULL, 's'},
		{"pending", required_argument, NULL, 'p'},
		{"signal", required_argument, NULL, 'S'},
		{"url", required_argument, NULL, 'u'},
		{"spool", required_argument, NULL, 'q'},
		{"spool-size", required_argument, NULL, 'Q'},
		{"queue-size", required_argument, NULL, 'k'},
		{"timeout", required_argument, NULL, 'w'},
		{"retry-for", required_argument, NULL, 'r'},
		{"start-time", required_argument, NULL, 'T'},
		{"follow", no_argument, NULL, 'F'},
		CLI_RANGE_OPTIONS,
		CLI_MAX_SIZE_OPTION,
		CLI_CPU_HZ_OPTION,
		CLI_NO_ALIGN_OPTION,
		{NULL, 0, NULL, 0},
	};
	struct export_arguments arguments = {
		.otlp = {.options = {.size = sizeof(struct weft_otlp_options), .version = WEFT_VERSION},
			.push = {.spool_bytes = 256 << 20,
				.queue_bytes = 32 << 20,
				.timeout_ns = 10 * NS_PER_S,
				.patience_ns = 300 * NS_PER_S}}};
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
		else if (option == '?' || !parse_format_option(argv[0], option, &arguments))
			return CLI_USAGE;
	}
	int status = take_target(argv[0], format, &arguments);
	if (status == CLI_DONE)
		status = take_signals(argv[0], &arguments);
	if (status == CLI_DONE)
		status = take_output(argc, argv, &arguments);
	if (status == CLI_DONE && arguments.otlp.push.url)
		status = push_check_url(argv[0], "--url", arguments.otlp.push.url);
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
	if (!arguments.file_count)
		return otlp_send_spool(&arguments.otlp);
	if (arguments.follows)
		return otlp_follow(arguments.files[0], &arguments.otlp, arguments.output);
	if (arguments.is_diff)
		return profile_export_difference(arguments.files, arguments.source, arguments.output);
	status = cli_trace_open_all(arguments.files, arguments.file_count, &trace);
	if (status != CLI_DONE)
		return status;
	if (arguments.target == TO_SQLITE)
		status = query_export(&trace, arguments.output, arguments.force);
	else if (arguments.target == TO_CHROME)
		status = chrome_export(&trace, arguments.output);
	else if (arguments.target == TO_PERFETTO)
		status = perfetto_export(&trace, arguments.output);
	else if (is_profile(arguments.target))
		status = profile_export(
			&trace, arguments.source, arguments.target == TO_PPROF, arguments.output);
	else if (is_for_spans(arguments.target))
		status = otlp_export(&trace, &arguments.otlp, arguments.output);
	else
		status = run_export(&arguments, &trace);
	cli_trace_close(&trace);
	return status;
}
