/* SPDX-License-Identifier: ISC
 *
 * weft dump: prints events, tasks, edges or problems, one on each line; or the story of a task.
 */
#include "dump.h"
#include "index/automatic.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
	"usage: weft dump [OPTION]... FILE...\n"
	"\n"
	"Prints a trace's events, one on each line, in the order of time. FILE is a trace in any\n"
	"format that weft knows, or `-` for standard input. Several files, or a directory\n"
	"of traces, are one trace.\n"
	"\n"
	"  --json           one JSON object on each line; times are ns on the trace's own clock\n"
	"  --tasks          print tasks instead, by start: start, length, id, kind, outcome, row\n"
	"  --edges          print edges instead: which task created, read, resolved or woke which\n"
	"  --spans          print spans instead, by start: start, length, task or thread, name\n"
	"  --problems       print problems instead, the gravest first; their names are listed below\n"
	"  --sort ORDER     the order of problems: gravity, or time\n"
	"  --fail-on WHAT   exit with status 1 if there is a problem that grave: hint, warning or error\n"
	"  --each           each FILE is a trace of its own, as are FILEs of different boots\n"
	"  --story TASK     print everything about a task, by its number or its label: facts, then\n"
	"                   events; with several files, BUFFER/ID names a task\n"
	"  --tsv            columns of problems and stories with tabs between them, for cut and awk\n"
	"  --follow         print also what is added to FILE, until Ctrl-C or until the program that\n"
	"                   records into it has ended\n"
	"  --no-simplify    tasks start where they were created, also binds and similar kinds\n"
	"  --filter WORDS   of a trace of Xen, print only records of domain=N and class=pv, hvm, sched,\n"
	"                   mem, hw, dom0op, shadow, guest or gen, and span=NAME (a hypercall, fault or\n"
	"                   exit), with commas between them; not those with a - in front\n"
	"  --start TIME     print only events from there on; with --tasks, tasks alive then\n"
	"  --duration T     the length of the printed range\n"
	"  --max-size SIZE  refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                   times its own size, and 4G for a pipe\n"
	"  --cpu-hz HZ      the rate of the cycles in a trace of Xen (2596.15M); default: estimated\n"
	"  --no-align       leave the clocks of several hosts as they are\n"
	"  --help           this text\n"
	"\n"
	"A TIME is 12ms, 1.5s, 300us or 40ns from the trace's start, 0, or @N for N ns on its clock.\n"
	"\n"
	"Problems:\n";

void dump_add_seconds(struct weft_text *text, uint64_t ns)
{
	cli_add_seconds(text, 5, ns);
	weft_text_add(text, " ", 1);
}

struct dump_range dump_find_range(const struct dump_options *options, uint64_t trace_start_ns)
{
	struct dump_range range = {.start_ns = cli_time_on_clock(options->start, trace_start_ns)};
	if (__builtin_add_overflow(range.start_ns, options->duration_ns, &range.end_ns))
		range.end_ns = UINT64_MAX;
	return range;
}

int dump_end(const struct cli_trace *trace, struct weft_text *text, int status, uint64_t count,
	uint64_t shown)
{
	if (text->size)
		cli_write(text);
	weft_text_finish(text);
	if (status < 0)
		return cli_trace_fail(trace, status);
	if (count == 0)
		cli_inform("%s: a valid trace without events", trace->name);
	else if (shown == 0)
		cli_inform("%s: no event in that range", trace->name);
	return CLI_DONE;
}

/* Prints events until the end of the trace or range, or Ctrl-C. */
static int dump_events(const struct dump_options *options, const struct cli_trace *trace)
{
	struct weft_text text = {0};
	struct weft_lines lines = {0};
	struct dump_range range = {0};
	struct weft_event event;
	uint64_t count = 0, shown = 0;
	int status;
	while ((status = weft_decoder_next(trace->decoder, &event)) == WEFT_OK) {
		if (count++ == 0) {
			weft_lines_init(&lines, weft_decoder_describe(trace->decoder), event.time_ns);
			range = dump_find_range(options, event.time_ns);
			if (event.time_ns < range.start_ns)
				status = weft_decoder_seek(trace->decoder, range.start_ns);
			if (status < 0)
				break;
		}
		if (event.time_ns < range.start_ns)
			continue;
		if (event.time_ns >= range.end_ns && range.end_ns != UINT64_MAX)
			break;
		shown++;
		if (options->json)
			weft_lines_add_json(&lines, &event, &text);
		else
			weft_lines_add_text(&lines, &event, &text);
		if (text.size >= DUMP_BLOCK_BYTES && (!cli_write(&text) || !cli_progress_step(count)))
			break;
	}
	if (status == WEFT_END && shown == count)
		index_note(trace);
	return dump_end(trace, &text, status, count, shown);
}

enum dump_option_code {
	OPTION_HELP = 256,
	OPTION_JSON,
	OPTION_TSV,
	OPTION_SORT,
	OPTION_FAIL_ON,
	OPTION_EACH,
	OPTION_FOLLOW,
	OPTION_TASKS, /* from here to OPTION_STORY: what is printed */
	OPTION_EDGES,
	OPTION_SPANS,
	OPTION_PROBLEMS,
	OPTION_STORY,
	OPTION_NO_SIMPLIFY,
	OPTION_FILTER,
	OPTION_START,
	OPTION_DURATION,
};

static const struct option long_options[] = {
	{"help", no_argument, NULL, OPTION_HELP},
	{"json", no_argument, NULL, OPTION_JSON},
	{"tsv", no_argument, NULL, OPTION_TSV},
	{"sort", required_argument, NULL, OPTION_SORT},
	{"fail-on", required_argument, NULL, OPTION_FAIL_ON},
	{"each", no_argument, NULL, OPTION_EACH},
	{"follow", no_argument, NULL, OPTION_FOLLOW},
	CLI_MAX_SIZE_OPTION,
	CLI_CPU_HZ_OPTION,
	CLI_NO_ALIGN_OPTION,
	{"tasks", no_argument, NULL, OPTION_TASKS},
	{"edges", no_argument, NULL, OPTION_EDGES},
	{"spans", no_argument, NULL, OPTION_SPANS},
	{"problems", no_argument, NULL, OPTION_PROBLEMS},
	{"story", required_argument, NULL, OPTION_STORY},
	{"no-simplify", no_argument, NULL, OPTION_NO_SIMPLIFY},
	{"filter", required_argument, NULL, OPTION_FILTER},
	{"start", required_argument, NULL, OPTION_START},
	{"duration", required_argument, NULL, OPTION_DURATION},
	{NULL, 0, NULL, 0},
};

static bool parse_fail_on(const char *text, int *ret_severity)
{
	static const char *const names[] = {"hint", "warning", "error", NULL};
	*ret_severity = cli_choose("dump", "--fail-on:", text, names);
	return *ret_severity >= 0;
}

static bool parse_sort(const char *text, bool *ret_by_time)
{
	static const char *const names[] = {"gravity", "time", NULL};
	int chosen = cli_choose("dump", "--sort:", text, names);
	*ret_by_time = chosen == 1;
	return chosen >= 0;
}

/* Takes an option that chooses what is printed; false after a message. */
static bool take_what(int code, struct dump_options *options)
{
	static const enum dump_what of_option[] = {[OPTION_TASKS - OPTION_TASKS] = DUMP_TASKS,
		[OPTION_EDGES - OPTION_TASKS] = DUMP_EDGES,
		[OPTION_SPANS - OPTION_TASKS] = DUMP_SPANS,
		[OPTION_PROBLEMS - OPTION_TASKS] = DUMP_PROBLEMS,
		[OPTION_STORY - OPTION_TASKS] = DUMP_STORY};
	enum dump_what what = of_option[code - OPTION_TASKS];
	if (options->what != DUMP_EVENTS && options->what != what) {
		cli_usage_error(
			"dump", "--tasks, --edges, --spans, --problems and --story exclude each other");
		return false;
	}
	options->what = what;
	if (code == OPTION_STORY)
		options->story = optarg;
	return true;
}

static bool take_option(int code, struct dump_options *options)
{
	switch (code) {
	case OPTION_JSON:
		options->json = true;
		return true;
	case OPTION_TSV:
		options->tsv = true;
		return true;
	case OPTION_SORT:
		return parse_sort(optarg, &options->by_time);
	case OPTION_FAIL_ON:
		return parse_fail_on(optarg, &options->fail_on);
	case OPTION_EACH:
		options->is_each = true;
		return true;
	case OPTION_FOLLOW:
		options->follows = true;
		return true;
	case OPTION_NO_SIMPLIFY:
		options->no_simplify = true;
		return true;
	case OPTION_FILTER:
		return xen_filter_parse("dump", optarg, &options->filter);
	case OPTION_START:
		return cli_parse_time("dump", "--start", optarg, &options->start);
	case OPTION_DURATION:
		return cli_parse_duration("dump", "--duration", optarg, &options->duration_ns);
	default:
		return code >= OPTION_TASKS && code <= OPTION_STORY && take_what(code, options);
	}
}

/* True if options fit what is printed; false after a message. */
static bool fits(const struct dump_options *options)
{
	bool is_problems = options->what == DUMP_PROBLEMS;
	if ((options->by_time || options->is_each || options->fail_on != DUMP_FAIL_NEVER) &&
		!is_problems)
		cli_usage_error("dump", "--sort, --fail-on and --each need --problems");
	else if (options->tsv && !is_problems && options->what != DUMP_STORY)
		cli_usage_error("dump", "--tsv needs --problems or --story");
	else if (options->follows && options->what != DUMP_EVENTS)
		cli_usage_error("dump", "--follow prints events: it excludes --tasks, --edges, --spans, "
								"--problems and --story");
	else if (options->tsv && options->json)
		cli_usage_error("dump", "--tsv and --json exclude each other");
	else
		return true;
	return false;
}

/* False if the program should end with *ret_status. */
static bool parse_options(int argc, char **argv, struct dump_options *ret_options, int *ret_status)
{
	struct dump_options options = {.duration_ns = UINT64_MAX, .fail_on = DUMP_FAIL_NEVER};
	int code;
	*ret_status = CLI_USAGE;
	while ((code = cli_next_option(argc, argv, long_options)) != -1) {
		if (code == OPTION_HELP) {
			*ret_status = cli_help(usage);
			dump_list_problem_names();
			return false;
		}
		if (!take_option(code, &options))
			return false;
	}
	*ret_options = options;
	return fits(&options);
}

/* Prints the operands as one trace; returns an exit status. If they are not parts of one trace,
 * sets *ret_unrelated; if that is NULL, reports an error. */
static int dump_trace(
	const struct dump_options *options, char **operands, int count, bool *ret_unrelated)
{
	struct cli_trace trace;
	int status = cli_trace_open_fitting(operands, count, ret_unrelated, &trace);
	if (status)
		return status;
	cli_progress_start();
	bool has_records = options->what == DUMP_EVENTS && weft_decoder_has_xentrace(trace.decoder);
	if (!xen_filter_is_empty(&options->filter) && !has_records)
		status = cli_usage_error("dump", "--filter needs the records of a trace of Xen");
	else if (has_records)
		status = dump_xentrace(options, &trace);
	else if (options->what == DUMP_EVENTS)
		status = dump_events(options, &trace);
	else if (options->what == DUMP_SPANS)
		status = dump_spans(options, &trace);
	else if (options->what == DUMP_PROBLEMS || options->what == DUMP_STORY)
		status = dump_story(options, &trace);
	else
		status = dump_model(options, &trace);
	cli_progress_end();
	cli_trace_report(&trace);
	cli_trace_close(&trace);
	return status;
}

int cli_dump(int argc, char **argv)
{
	struct dump_options options;
	int status;
	if (!parse_options(argc, argv, &options, &status))
		return status;
	int count = cli_count_operands(argc, argv, "FILE");
	if (!count)
		return CLI_USAGE;
	if (options.follows && count > 1)
		return cli_usage_error("dump", "--follow takes one FILE");
	if (options.follows && strcmp(argv[optind], "-") == 0)
		return cli_usage_error("dump", "--follow takes a file, not standard input");
	if (options.follows)
		return dump_follow(&options, argv[optind]);
	bool is_problems = options.what == DUMP_PROBLEMS;
	if (!options.is_each)
		status = dump_trace(&options, argv + optind, count, is_problems ? &options.is_each : NULL);
	for (int i = 0; i < count && options.is_each; i++) {
		int one_status = dump_trace(&options, argv + optind + i, 1, NULL);
		status = one_status > status || i == 0 ? one_status : status;
	}
	return status;
}
