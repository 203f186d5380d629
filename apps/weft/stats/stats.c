/* SPDX-License-Identifier: ISC
 *
 * weft stats: how many tasks there are of each sort, how they ended, how long they lived, and how
 * they spent their time.
 */
#include "stats.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/live.h"
#include "runs/directory/find.h"

static const char usage[] =
	"usage: weft stats [OPTION]... FILE...|PID\n"
	"       weft stats --diff [OPTION]... A B\n"
	"       weft stats --diff --start TIME --start TIME [--duration T] [OPTION]... FILE\n"
	"\n"
	"Prints statistics of a trace's tasks: how many there are, how they ended, how long they\n"
	"lived (p50, p90, p99, max), and how long they ran, waited, and were delayed (woken, but not\n"
	"running yet). FILE is a trace in any format that weft knows, or `-` for standard input.\n"
	"Several files, or a directory of traces, are one trace. PID is a running program.\n"
	"\n"
	"  --by WHAT        a row for each label (the default; digits count as one \"#\"), kind,\n"
	"                   parent, thread, process, category (part of the program), span, or stack\n"
	"                   (where in the code threads waited); of a trace of Xen also each vcpu,\n"
	"                   domain or pcpu, with its states\n"
	"  --interval T     with vcpu, domain or pcpu: the time in each state, every T, as CSV\n"
	"  --sort COLUMN    the highest first: total (running, waiting and delay; the default), count,\n"
	"                   failed, unfinished, p50, p90, p99, max, running, waiting, delay\n"
	"  --limit N        print at most N rows; 0 for all; default: 30, all with --json and --csv\n"
	"  --start TIME     only a range: tasks that end in it are counted as ended, and times are\n"
	"                   those within it\n"
	"  --duration T     the length of the range\n"
	"  --past T         read only the range and T before it, of a trace of any size: tasks that do\n"
	"                   nothing in that time are not counted, nor are lives that began before it\n"
	"  --diff           compare two traces, A and B, or two ranges of one; the worst change is\n"
	"                   first: the column's highest increase, or that of lifetimes; several\n"
	"                   --start and --duration are of A and of B\n"
	"  --json           print one JSON object; times are ns\n"
	"  --csv            print comma-separated values; times are ns\n"
	"  --no-simplify    tasks start where they were created, also binds and similar kinds\n"
	"  --max-size SIZE  refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                   times its own size, and 4G for a pipe\n"
	"  --cpu-hz HZ      the rate of the cycles in a trace of Xen (2596.15M); default: estimated\n"
	"  --no-align       leave the clocks of several hosts as they are\n"
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
	bool is_diff;
	bool is_xen;
	struct stats_xen_request xen;
	/* The ranges of A and B; without --diff only the first one is used. */
	struct cli_time starts[2];
	uint64_t durations_ns[2]; /* UINT64_MAX: up to the end */
	unsigned start_count, duration_count;
};

enum stats_option_code {
	OPTION_HELP = 256,
	OPTION_BY,
	OPTION_SORT,
	OPTION_LIMIT,
	OPTION_DIFF,
	OPTION_START,
	OPTION_DURATION,
	OPTION_JSON,
	OPTION_CSV,
	OPTION_NO_SIMPLIFY,
	OPTION_INTERVAL,
};

static const struct option long_options[] = {
	{"help", no_argument, NULL, OPTION_HELP},
	{"by", required_argument, NULL, OPTION_BY},
	{"sort", required_argument, NULL, OPTION_SORT},
	{"limit", required_argument, NULL, OPTION_LIMIT},
	{"diff", no_argument, NULL, OPTION_DIFF},
	{"start", required_argument, NULL, OPTION_START},
	{"duration", required_argument, NULL, OPTION_DURATION},
	{"json", no_argument, NULL, OPTION_JSON},
	{"csv", no_argument, NULL, OPTION_CSV},
	{"no-simplify", no_argument, NULL, OPTION_NO_SIMPLIFY},
	{"interval", required_argument, NULL, OPTION_INTERVAL},
	CLI_MAX_SIZE_OPTION,
	CLI_CPU_HZ_OPTION,
	CLI_NO_ALIGN_OPTION,
	CLI_PAST_OPTION,
	{NULL, 0, NULL, 0},
};

static bool parse_by(const char *name, struct stats_request *request)
{
	const char *names[WEFT_STATS_BYS + 4] = {NULL};
	request->is_xen = stats_xen_parse(name, &request->xen.whose);
	if (request->is_xen)
		return true;
	for (unsigned by = 0; by < WEFT_STATS_BYS; by++)
		names[by] = weft_stats_by_name((enum weft_stats_by)by);
	names[WEFT_STATS_BYS] = "vcpu";
	names[WEFT_STATS_BYS + 1] = "domain";
	names[WEFT_STATS_BYS + 2] = "pcpu";
	int chosen = cli_choose("stats", "--by:", name, names);
	request->options.by = (enum weft_stats_by)chosen;
	return chosen >= 0;
}

static bool parse_sort(const char *name, enum weft_stats_sort *ret_sort)
{
	const char *names[WEFT_STATS_SORTS + 1] = {NULL};
	for (unsigned sort = 0; sort < WEFT_STATS_SORTS; sort++)
		names[sort] = weft_stats_sort_name((enum weft_stats_sort)sort);
	int chosen = cli_choose("stats", "--sort:", name, names);
	*ret_sort = (enum weft_stats_sort)chosen;
	return chosen >= 0;
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

/* The first is for both sides, until a second one comes, which is B's. */
static bool take_start(struct stats_request *request)
{
	struct cli_time start;
	if (request->start_count == 2) {
		cli_usage_error("stats", "--start may be given at most twice");
		return false;
	}
	if (!cli_parse_time("stats", "--start", optarg, &start))
		return false;
	for (unsigned i = request->start_count++; i < 2; i++)
		request->starts[i] = start;
	return true;
}

static bool take_duration(struct stats_request *request)
{
	uint64_t ns;
	if (request->duration_count == 2) {
		cli_usage_error("stats", "--duration may be given at most twice");
		return false;
	}
	if (!cli_parse_duration("stats", "--duration", optarg, &ns))
		return false;
	for (unsigned i = request->duration_count++; i < 2; i++)
		request->durations_ns[i] = ns;
	return true;
}

static bool parse_interval(uint64_t *ret_ns)
{
	if (!cli_parse_duration("stats", "--interval", optarg, ret_ns))
		return false;
	if (!*ret_ns)
		cli_usage_error("stats", "--interval must be more than 0");
	return *ret_ns;
}

/* False after a message. */
static bool take_option(struct stats_request *request, int code)
{
	switch (code) {
	case OPTION_BY:
		return parse_by(optarg, request);
	case OPTION_SORT:
		return parse_sort(optarg, &request->options.sort);
	case OPTION_LIMIT:
		request->has_limit = true;
		return cli_parse_number("stats", "--limit", optarg, 0, UINT32_MAX, &request->limit);
	case OPTION_START:
		return take_start(request);
	case OPTION_DURATION:
		return take_duration(request);
	case OPTION_DIFF:
		request->is_diff = true;
		return true;
	case OPTION_JSON:
		return set_form(request, STATS_JSON);
	case OPTION_CSV:
		return set_form(request, STATS_CSV);
	case OPTION_INTERVAL:
		return parse_interval(&request->xen.interval_ns);
	case OPTION_NO_SIMPLIFY:
		request->no_simplify = true;
		return true;
	default:
		return false;
	}
}

static int measure(const struct stats_request *request, unsigned number, struct stats_side *side)
{
	struct weft_stats_options options = request->options;
	options.start_ns = cli_time_on_clock(request->starts[number], side->model->summary.start);
	if (__builtin_add_overflow(options.start_ns, request->durations_ns[number], &options.end_ns))
		options.end_ns = UINT64_MAX;
	side->story = (struct weft_story){side->model, side->layout, side->index};
	return weft_stats_create(&side->story, &options, &side->stats);
}

/* Finds the tasks' starts and parents, and makes the statistics. */
static int make(const struct stats_request *request, unsigned number, struct stats_side *side)
{
	struct weft_layout_options options = {.no_simplify = request->no_simplify, .no_rows = true};
	struct weft_progress progress;
	if (side->trace.input) {
		progress = cli_progress_of(&side->trace);
		options.progress = &progress;
	}
	int error = weft_layout_create(side->model, &options, &side->layout);
	if (!error)
		error = weft_story_index_create(side->model, &side->index);
	return error ? error : measure(request, number, side);
}

/* The same of what a running program has recorded so far. */
static int open_process(
	const struct stats_request *request, unsigned number, char *pid, struct stats_side *side)
{
	struct cli_live live;
	side->trace.name = pid;
	int status = cli_live_open(pid, &live);
	side->model = live.model;
	if (status)
		return status;
	int error = make(request, number, side);
	return error ? cli_trace_fail(&side->trace, error) : CLI_DONE;
}

/* Opens FILEs as one trace, or a running program, and makes the statistics; returns an exit
 * status. */
static int open_side(const struct stats_request *request, unsigned number, char **operands,
	int count, struct stats_side *side)
{
	if (count == 1 && weft__runs_parse_pid(operands[0]))
		return open_process(request, number, operands[0], side);
	int status = cli_trace_open_all(operands, count, &side->trace);
	if (status)
		return status;
	cli_progress_start();
	cli_trace_read_only(request->starts[number], request->durations_ns[number]);
	int error = cli_trace_build_model(&side->trace, &side->model);
	if (!error)
		error = make(request, number, side);
	cli_progress_end();
	if (!error && side->model->summary.events == 0 && !side->model->summary.read_end)
		cli_inform("%s: a valid trace without events", side->trace.name);
	if (error)
		status = cli_trace_fail(&side->trace, error);
	cli_trace_report(&side->trace);
	return status;
}

static void close_side(struct stats_side *side)
{
	weft_stats_destroy(side->stats);
	weft_story_index_destroy(side->index);
	weft_layout_destroy(side->layout);
	weft_model_destroy(side->model);
	if (side->trace.input)
		cli_trace_close(&side->trace);
}

static struct stats_output output_of(const struct stats_request *request)
{
	uint64_t usual = request->form == STATS_TABLE ? ROWS_USUAL : 0;
	uint64_t limit = request->has_limit ? request->limit : usual;
	return (struct stats_output){.limit = limit ? (uint32_t)limit : UINT32_MAX};
}

static int show(const struct stats_request *request, char **operands, int count)
{
	struct stats_side side = {0};
	struct stats_output output = output_of(request);
	int status = open_side(request, 0, operands, count, &side);
	if (!status && request->form == STATS_JSON)
		stats_write_json(&output, &side);
	else if (!status && request->form == STATS_CSV)
		stats_write_csv(&output, &side);
	else if (!status)
		stats_write_table(&output, &side);
	if (!status)
		cli_write(&output.text);
	weft_text_finish(&output.text);
	close_side(&side);
	return status;
}

static int write_diff(const struct stats_request *request, const struct stats_side sides[2])
{
	struct stats_output output = output_of(request);
	struct weft_stats_diff *diff;
	int error = weft_stats_diff_create(sides[0].stats, sides[1].stats, &diff);
	if (error)
		return cli_trace_fail(&sides[0].trace, error);
	if (request->form == STATS_JSON)
		stats_write_diff_json(&output, diff);
	else if (request->form == STATS_CSV)
		stats_write_diff_csv(&output, diff);
	else
		stats_write_diff_table(&output, diff, sides);
	cli_write(&output.text);
	weft_text_finish(&output.text);
	weft_stats_diff_destroy(diff);
	return CLI_DONE;
}

/* Makes the statistics of the other range of a trace. */
static int open_range(
	const struct stats_request *request, const struct stats_side *of, struct stats_side *side)
{
	*side = *of;
	side->stats = NULL;
	int error = measure(request, 1, side);
	return error ? cli_trace_fail(&of->trace, error) : CLI_DONE;
}

static int show_diff(const struct stats_request *request, char **operands, int count)
{
	struct stats_side sides[2] = {{.model = NULL}};
	int status = open_side(request, 0, operands, 1, &sides[0]);
	if (!status)
		status = count == 1 ? open_range(request, &sides[0], &sides[1])
							: open_side(request, 1, operands + 1, 1, &sides[1]);
	if (!status)
		status = write_diff(request, sides);
	if (count == 1)
		weft_stats_destroy(sides[1].stats);
	else
		close_side(&sides[1]);
	close_side(&sides[0]);
	return status;
}

/* The clock of a trace of Xen begins at its first record. */
static int show_xen(const struct stats_request *request, const char *path)
{
	struct stats_xen_request xen = request->xen;
	xen.start_ns = cli_time_on_clock(request->starts[0], 0);
	if (__builtin_add_overflow(xen.start_ns, request->durations_ns[0], &xen.end_ns))
		xen.end_ns = UINT64_MAX;
	xen.is_json = request->form == STATS_JSON;
	xen.is_csv = request->form == STATS_CSV;
	return stats_xen(&xen, path);
}

static int check_operands(const struct stats_request *request, int count)
{
	bool has_ranges = request->start_count == 2 || request->duration_count == 2;
	if (!count)
		return CLI_USAGE;
	if (cli_trace_has_range() && (request->is_xen || (request->is_diff && count == 1)))
		return cli_usage_error(
			"stats", "--past is for one range of a trace, and not for --by vcpu, domain or pcpu");
	if (request->is_xen && (request->is_diff || count > 1))
		return cli_usage_error("stats", "--by vcpu, domain and pcpu take one FILE, and no --diff");
	if (request->xen.interval_ns && (!request->is_xen || request->form == STATS_JSON))
		return cli_usage_error(
			"stats", "--interval needs --by vcpu, domain or pcpu, and prints CSV, not JSON");
	if (!request->is_diff && has_ranges)
		return cli_usage_error("stats", "two ranges need --diff");
	if (request->is_diff && count > 2)
		return cli_usage_error("stats", "--diff compares two traces, not %d", count);
	if (request->is_diff && count == 1 && !has_ranges)
		return cli_usage_error(
			"stats", "--diff needs two traces, or two times --start for two ranges of one");
	return CLI_DONE;
}

int cli_stats(int argc, char **argv)
{
	struct stats_request request = {.durations_ns = {UINT64_MAX, UINT64_MAX}};
	int code;
	while ((code = cli_next_option(argc, argv, long_options)) != -1) {
		if (code == OPTION_HELP)
			return cli_help(usage);
		if (!take_option(&request, code))
			return CLI_USAGE;
	}
	int count = cli_count_operands(argc, argv, "FILE or PID");
	int status = check_operands(&request, count);
	if (status)
		return status;
	if (request.is_xen)
		return show_xen(&request, argv[optind]);
	return request.is_diff ? show_diff(&request, argv + optind, count)
						   : show(&request, argv + optind, count);
}
