/* SPDX-License-Identifier: ISC
 *
 * weft stats: how many tasks there are of each sort, how they ended, how long they lived, and how
 * they spent their time.
 */
#include "stats.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
	"usage: weft stats [OPTION]... FILE...\n"
	"\n"
	"Prints statistics of a trace's tasks: how many there are, how they ended, how long they\n"
	"lived (p50, p90, p99, max), and how long they ran, waited, and were delayed (woken, but not\n"
	"running yet). FILE is a trace in any format that weft knows, or `-` for standard input.\n"
	"Several files of one boot, or a directory of traces, are one trace.\n"
	"\n"
	"  --by WHAT        a row for each label (the default; digits count as one \"#\"), kind,\n"
	"                   parent, thread, process, or span\n"
	"  --sort COLUMN    the highest first: total (running, waiting and delay; the default), count,\n"
	"                   failed, unfinished, p50, p90, p99, max, running, waiting, delay\n"
	"  --limit N        print at most N rows; 0 for all; default: 30, all with --json and --csv\n"
	"  --start TIME     only a range: what ends in it is counted as ended, and times are those\n"
	"                   within it\n"
	"  --duration T     the length of the range\n"
	"  --json           print one JSON object; times are ns\n"
	"  --csv            print comma-separated values; times are ns\n"
	"  --no-simplify    tasks start where they were created, also binds and similar kinds\n"
	"  --max-size SIZE  refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                   times its own size, and 4G for a pipe\n"
	"  --help           this text\n"
	"\n"
	"A TIME is 12ms, 1.5s, 300us or 40ns from the trace's start, 0, or @N for N ns on its clock.\n";

#define ROWS_USUAL 30

enum stats_form {
	STATS_TABLE,
	STATS_JSON,
	STATS_CSV,
};

struct stats_request {
	enum stats_form form;
	struct weft_stats_options options;
	bool no_simplify;
	bool has_limit;
	uint64_t limit;
	struct cli_time start;
	uint64_t duration_ns; /* UINT64_MAX: up to the end */
};

enum stats_option_code {
	OPTION_HELP = 256,
	OPTION_BY,
	OPTION_SORT,
	OPTION_LIMIT,
	OPTION_START,
	OPTION_DURATION,
	OPTION_JSON,
	OPTION_CSV,
	OPTION_NO_SIMPLIFY,
};

static const struct option long_options[] = {
	{"help", no_argument, NULL, OPTION_HELP},
	{"by", required_argument, NULL, OPTION_BY},
	{"sort", required_argument, NULL, OPTION_SORT},
	{"limit", required_argument, NULL, OPTION_LIMIT},
	{"start", required_argument, NULL, OPTION_START},
	{"duration", required_argument, NULL, OPTION_DURATION},
	{"json", no_argument, NULL, OPTION_JSON},
	{"csv", no_argument, NULL, OPTION_CSV},
	{"no-simplify", no_argument, NULL, OPTION_NO_SIMPLIFY},
	CLI_MAX_SIZE_OPTION,
	{NULL, 0, NULL, 0},
};

static bool parse_by(const char *name, enum weft_stats_by *ret_by)
{
	const char *names[WEFT_STATS_BYS + 1] = {NULL};
	for (unsigned by = 0; by < WEFT_STATS_BYS; by++) {
		names[by] = weft_stats_by_name((enum weft_stats_by)by);
		if (strcmp(name, names[by]) == 0) {
			*ret_by = (enum weft_stats_by)by;
			return true;
		}
	}
	cli_unknown_value("stats", "--by:", name, names);
	return false;
}

static bool parse_sort(const char *name, enum weft_stats_sort *ret_sort)
{
	const char *names[WEFT_STATS_SORTS + 1] = {NULL};
	for (unsigned sort = 0; sort < WEFT_STATS_SORTS; sort++) {
		names[sort] = weft_stats_sort_name((enum weft_stats_sort)sort);
		if (strcmp(name, names[sort]) == 0) {
			*ret_sort = (enum weft_stats_sort)sort;
			return true;
		}
	}
	cli_unknown_value("stats", "--sort:", name, names);
	return false;
}

static bool set_form(struct stats_request *request, enum stats_form form)
{
	if (request->form != STATS_TABLE && request->form != form) {
		cli_usage_error("stats", "--json and --csv exclude each other");
		return false;
	}
	request->form = form;
	return true;
}

/* False after a message. */
static bool take_option(struct stats_request *request, int code)
{
	switch (code) {
	case OPTION_BY:
		return parse_by(optarg, &request->options.by);
	case OPTION_SORT:
		return parse_sort(optarg, &request->options.sort);
	case OPTION_LIMIT:
		request->has_limit = true;
		return cli_parse_number("stats", "--limit", optarg, 0, UINT32_MAX, &request->limit);
	case OPTION_START:
		return cli_parse_time("stats", "--start", optarg, &request->start);
	case OPTION_DURATION:
		return cli_parse_duration("stats", "--duration", optarg, &request->duration_ns);
	case OPTION_JSON:
		return set_form(request, STATS_JSON);
	case OPTION_CSV:
		return set_form(request, STATS_CSV);
	case OPTION_NO_SIMPLIFY:
		request->no_simplify = true;
		return true;
	default:
		return false;
	}
}

static void set_range(struct stats_request *request, const struct weft_model *model)
{
	struct weft_stats_options *options = &request->options;
	options->start_ns = cli_time_on_clock(request->start, model->summary.start);
	if (__builtin_add_overflow(options->start_ns, request->duration_ns, &options->end_ns))
		options->end_ns = UINT64_MAX;
}

static int make(struct stats_request *request, struct stats_side *side)
{
	struct weft_layout_options options = {.no_simplify = request->no_simplify};
	int error = cli_trace_build_model(&side->trace, &side->model);
	if (error)
		return error;
	struct weft_progress progress = cli_progress_of(&side->trace);
	options.progress = &progress;
	error = weft_layout_create(side->model, &options, &side->layout);
	if (!error)
		error = weft_story_index_create(side->model, &side->index);
	if (error)
		return error;
	side->story = (struct weft_story){side->model, side->layout, side->index};
	set_range(request, side->model);
	return weft_stats_create(&side->story, &request->options, &side->stats);
}

static void side_finish(struct stats_side *side)
{
	weft_stats_destroy(side->stats);
	weft_story_index_destroy(side->index);
	weft_layout_destroy(side->layout);
	weft_model_destroy(side->model);
}

static void write_side(const struct stats_request *request, const struct stats_side *side)
{
	uint64_t limit = request->has_limit             ? request->limit
					 : request->form == STATS_TABLE ? ROWS_USUAL
													: 0;
	struct stats_output output = {.limit = limit ? (uint32_t)limit : UINT32_MAX};
	if (request->form == STATS_JSON)
		stats_write_json(&output, side);
	else if (request->form == STATS_CSV)
		stats_write_csv(&output, side);
	else
		stats_write_table(&output, side);
	cli_write(&output.text);
	weft_text_finish(&output.text);
}

static int show(struct stats_request *request, char **operands, int count)
{
	struct stats_side side = {0};
	int status = cli_trace_open_all(operands, count, &side.trace);
	if (status)
		return status;
	cli_progress_start();
	int error = make(request, &side);
	cli_progress_end();
	if (!error && side.model->summary.events == 0)
		cli_inform("%s: a valid trace without events", side.trace.name);
	if (error)
		status = cli_trace_fail(&side.trace, error);
	else
		write_side(request, &side);
	cli_trace_report(&side.trace);
	side_finish(&side);
	cli_trace_close(&side.trace);
	return status;
}

int cli_stats(int argc, char **argv)
{
	struct stats_request request = {.duration_ns = UINT64_MAX};
	int code;
	while ((code = cli_next_option(argc, argv, long_options)) != -1) {
		if (code == OPTION_HELP)
			return cli_help(usage);
		if (!take_option(&request, code))
			return CLI_USAGE;
	}
	int count = cli_count_operands(argc, argv, "FILE");
	return count ? show(&request, argv + optind, count) : CLI_USAGE;
}
