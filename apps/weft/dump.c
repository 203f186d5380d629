/* SPDX-License-Identifier: ISC
 *
 * weft dump: prints events, tasks, edges or problems, one on each line; or the story of a task.
 */
#include "dump.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
	"usage: weft dump [OPTION]... FILE...\n"
	"\n"
	"Prints a trace's events, one on each line, in the order of time. FILE is a trace in any\n"
	"format that weft knows, or `-` for standard input. Several files of one boot, or a directory\n"
	"of traces, are one trace.\n"
	"\n"
	"  --json           one JSON object on each line; times are ns on the trace's own clock\n"
	"  --tasks          print tasks instead, by start: start, length, id, kind, outcome, row\n"
	"  --edges          print edges instead: which task created, read, resolved or woke which\n"
	"  --spans          print spans instead, by start: start, length, task or thread, name\n"
	"  --problems       print problems instead, one sentence each; their names are listed below\n"
	"  --story ID       print everything about the task with that number: facts, then events;\n"
	"                   with several files, BUFFER/ID names a task\n"
	"  --no-simplify    tasks start where they were created, also binds and similar kinds\n"
	"  --start TIME     print only events from there on; with --tasks, tasks alive then\n"
	"  --duration T     the length of the printed range\n"
	"  --max-size SIZE  refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                   times its own size, and 4G for a pipe\n"
	"  --help           this text\n"
	"\n"
	"A TIME is 12ms, 1.5s, 300us or 40ns from the trace's start, 0, or @N for N ns on its clock.\n"
	"\n"
	"Problems:\n";

struct dump_range dump_find_range(const struct dump_options *options, uint64_t trace_start_ns)
{
	struct dump_range range = {.start_ns = cli_time_on_clock(options->start, trace_start_ns)};
	if (__builtin_add_overflow(range.start_ns, options->duration_ns, &range.end_ns))
		range.end_ns = UINT64_MAX;
	return range;
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
	if (text.size)
		cli_write(&text);
	weft_text_finish(&text);
	if (status < 0)
		return cli_trace_fail(trace, status);
	if (count == 0)
		cli_inform("%s: a valid trace without events", trace->name);
	else if (shown == 0)
		cli_inform("%s: no event in that range", trace->name);
	return CLI_DONE;
}

enum dump_option_code {
	OPTION_HELP = 256,
	OPTION_JSON,
	OPTION_TASKS,
	OPTION_EDGES,
	OPTION_SPANS,
	OPTION_PROBLEMS,
	OPTION_STORY,
	OPTION_NO_SIMPLIFY,
	OPTION_START,
	OPTION_DURATION,
};

static const struct option long_options[] = {
	{"help", no_argument, NULL, OPTION_HELP},
	{"json", no_argument, NULL, OPTION_JSON},
	CLI_MAX_SIZE_OPTION,
	{"tasks", no_argument, NULL, OPTION_TASKS},
	{"edges", no_argument, NULL, OPTION_EDGES},
	{"spans", no_argument, NULL, OPTION_SPANS},
	{"problems", no_argument, NULL, OPTION_PROBLEMS},
	{"story", required_argument, NULL, OPTION_STORY},
	{"no-simplify", no_argument, NULL, OPTION_NO_SIMPLIFY},
	{"start", required_argument, NULL, OPTION_START},
	{"duration", required_argument, NULL, OPTION_DURATION},
	{NULL, 0, NULL, 0},
};

/* False if the program should end with *ret_status. */
static bool parse_options(int argc, char **argv, struct dump_options *ret_options, int *ret_status)
{
	struct dump_options options = {.duration_ns = UINT64_MAX};
	int code;
	bool chosen[DUMP_STORY + 1] = {false};
	bool good = true;
	*ret_status = CLI_USAGE;
	while (good && (code = cli_next_option(argc, argv, long_options)) != -1) {
		switch (code) {
		case OPTION_HELP:
			*ret_status = cli_help(usage);
			dump_list_problem_names();
			return false;
		case OPTION_JSON:
			options.json = true;
			break;
		case OPTION_TASKS:
			chosen[options.what = DUMP_TASKS] = true;
			break;
		case OPTION_EDGES:
			chosen[options.what = DUMP_EDGES] = true;
			break;
		case OPTION_SPANS:
			chosen[options.what = DUMP_SPANS] = true;
			break;
		case OPTION_PROBLEMS:
			chosen[options.what = DUMP_PROBLEMS] = true;
			break;
		case OPTION_STORY:
			chosen[options.what = DUMP_STORY] = true;
			good = cli_parse_task("dump", "--story", optarg, &options.buffer, &options.task);
			break;
		case OPTION_NO_SIMPLIFY:
			options.no_simplify = true;
			break;
		case OPTION_START:
			good = cli_parse_time("dump", "--start", optarg, &options.start);
			break;
		case OPTION_DURATION:
			good = cli_parse_duration("dump", "--duration", optarg, &options.duration_ns);
			break;
		default:
			return false;
		}
	}
	int choices = 0;
	for (size_t i = 0; i < sizeof(chosen); i++)
		choices += chosen[i];
	if (good && choices > 1) {
		cli_usage_error(
			"dump", "--tasks, --edges, --spans, --problems and --story exclude each other");
		good = false;
	}
	*ret_options = options;
	return good;
}

int cli_dump(int argc, char **argv)
{
	struct dump_options options;
	struct cli_trace trace;
	int status;
	if (!parse_options(argc, argv, &options, &status))
		return status;
	int count = cli_count_operands(argc, argv, "FILE");
	if (!count)
		return CLI_USAGE;
	status = cli_trace_open_all(argv + optind, count, &trace);
	if (status)
		return status;
	cli_progress_start();
	if (options.what == DUMP_EVENTS)
		status = dump_events(&options, &trace);
	else if (options.what == DUMP_SPANS)
		status = dump_spans(&options, &trace);
	else if (options.what == DUMP_PROBLEMS || options.what == DUMP_STORY)
		status = dump_story(&options, &trace);
	else
		status = dump_model(&options, &trace);
	cli_progress_end();
	cli_trace_report(&trace);
	cli_trace_close(&trace);
	return status;
}
