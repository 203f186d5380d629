/* SPDX-License-Identifier: ISC
 *
 * weft cut: writes a part of a trace as a trace of its own.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cut.h"
#include "part.h"
#include "cli/output.h"

static const char usage[] =
	"usage: weft cut FILE... -o OUT [--start TIME] [--duration T] [--past T] [--filter WORDS]\n"
	"                   [--no-contexts] [--processes FILE] [--max-size SIZE]\n"
	"\n"
	"Writes a part of the trace FILE as a trace of its own, in weft's format. FILE is a trace in\n"
	"any format that weft knows, or `-` for standard input. The part has the events of the range\n"
	"with their times unchanged. It begins with events that are marked as a rundown: the tasks\n"
	"that are alive then, the task that runs on each thread, and the counters' values. Of several\n"
	"files, of one host or more, or of a directory of them, OUT is a directory with a part of each.\n"
	"A part of a trace of Xen is in xentrace's format, and its times count from its begin.\n"
	"\n"
	"  -o, --output OUT  the file to write; `-` is standard output\n"
	"  --filter WORDS    of a trace of Xen, only records of domain=N and class=pv, hvm, sched, mem,\n"
	"                    hw, dom0op, shadow, guest or gen, and span=NAME (a hypercall, fault or\n"
	"                    exit), with commas between them; not those with a - in front\n"
	"  --no-contexts     of a trace of Xen, leave out the records that guests write, such as trace\n"
	"                    contexts: xenalyze cannot read them. The same as --filter=-class=guest\n"
	"  --processes FILE  to a trace of Xen, add the processes of dom0 from a file of trace-cmd or perf\n"
	"                    (trace.dat, perf.data) that was recorded beside it, with one of its clocks\n"
	"  --start TIME      the start of the range; default: the trace's start\n"
	"  --duration T      the length of the range; default: up to the trace's end\n"
	"  --past T          read only T before the range, for a part of a large trace at once: of tasks\n"
	"                    that are not named there, the part knows only what they do in the range\n"
	"  --max-size SIZE   refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                    times its own size, and 4G for a pipe\n"
	"  --cpu-hz HZ       the rate of the cycles in a trace of Xen (2596.15M); default: estimated\n"
	"  --help            this text\n"
	"\n"
	"A TIME is 12ms, 1.5s, 300us or 40ns from the trace's start, 0, or @N for N ns on its clock.\n";

enum cut_option_code {
	OPTION_HELP = 256,
	OPTION_START,
	OPTION_DURATION,
	OPTION_FILTER,
	OPTION_NO_CONTEXTS,
	OPTION_PAST,
	OPTION_PROCESSES,
};

static const struct option long_options[] = {
	{"help", no_argument, NULL, OPTION_HELP},
	{"output", required_argument, NULL, 'o'},
	CLI_MAX_SIZE_OPTION,
	CLI_CPU_HZ_OPTION,
	{"filter", required_argument, NULL, OPTION_FILTER},
	{"no-contexts", no_argument, NULL, OPTION_NO_CONTEXTS},
	{"start", required_argument, NULL, OPTION_START},
	{"duration", required_argument, NULL, OPTION_DURATION},
	{"past", required_argument, NULL, OPTION_PAST},
	{"processes", required_argument, NULL, OPTION_PROCESSES},
	{NULL, 0, NULL, 0},
};

/* False if the program should end with *ret_status. */
static bool parse(int argc, char **argv, struct cut_request *ret_request, int *ret_status)
{
	struct cut_request a = {.duration_ns = UINT64_MAX, .past_ns = UINT64_MAX};
	bool good = true;
	*ret_status = CLI_USAGE;
	for (int code; good && (code = cli_next_option(argc, argv, long_options)) != -1;) {
		switch (code) {
		case OPTION_HELP:
			*ret_status = cli_help(usage);
			return false;
		case 'o':
			a.output = optarg;
			break;
		case OPTION_START:
			good = cli_parse_time("cut", "--start", optarg, &a.start);
			break;
		case OPTION_FILTER:
			good = xen_filter_parse("cut", optarg, &a.filter);
			break;
		case OPTION_NO_CONTEXTS:
			good = xen_filter_parse("cut", "-class=guest", &a.filter);
			break;
		case OPTION_DURATION:
			good = cli_parse_duration("cut", "--duration", optarg, &a.duration_ns);
			break;
		case OPTION_PAST:
			good = cli_parse_duration("cut", "--past", optarg, &a.past_ns);
			break;
		case OPTION_PROCESSES:
			a.processes = optarg;
			break;
		default:
			return false;
		}
	}
	if (!good)
		return false;
	a.file_count = cli_count_operands(argc, argv, "FILE");
	a.files = argv + optind;
	if (!a.file_count)
		return false;
	if (!a.output) {
		cli_usage_error("cut", "-o OUT is missing: the file for the part");
		return false;
	}
	if (strcmp(a.output, "-") == 0 && isatty(STDOUT_FILENO)) {
		cli_usage_error(
			"cut", "refusing to write a binary trace to a terminal; use -o FILE or a pipe");
		return false;
	}
	*ret_request = a;
	return true;
}

struct weft_cut_range cut_find_range(const struct cut_request *request, uint64_t trace_start_ns)
{
	struct weft_cut_range range = {.start_ns = cli_time_on_clock(request->start, trace_start_ns)};
	if (__builtin_add_overflow(range.start_ns, request->duration_ns, &range.end_ns))
		range.end_ns = UINT64_MAX;
	return range;
}

int cut_skip_past(const struct cut_request *request, struct weft_cut_range *range,
	struct weft_decoder *decoder, int status, struct weft_event *event)
{
	const uint64_t start =
		range->start_ns > request->past_ns ? range->start_ns - request->past_ns : 0;
	if (status != WEFT_OK || event->time_ns >= start ||
		strcmp(weft_decoder_describe(decoder)->format, "weft") != 0)
		return status;
	range->read_ns = start;
	int error = weft_decoder_seek(decoder, start);
	return error ? error : weft_decoder_next(decoder, event);
}

static int append(void *output, const void *bytes, size_t size)
{
	return cli_output_append(output, bytes, size) ? 0 : WEFT_ERROR_SYSTEM;
}

/* The result: an error while reading, or while writing. */
struct outcome {
	int read_error, write_error;
	bool interrupted;
};

/* Copies all events; `event` is the first one, if `status` is WEFT_OK. */
static struct outcome copy_events(const struct cut_part *part, int status, struct weft_event *event)
{
	struct outcome outcome = {.write_error = cut_part_begin(part)};
	int written = WEFT_OK;
	if (outcome.write_error)
		return outcome;
	for (uint64_t events = 1; status == WEFT_OK; events++) {
		written = cut_part_add(part, event);
		if (written != WEFT_OK)
			break;
		status = weft_decoder_next(part->trace->decoder, event);
		if (events % 65536 == 0 && !cli_progress_step(events)) {
			outcome.interrupted = true;
			break;
		}
	}
	if (status < 0)
		outcome.read_error = status;
	else
		outcome.write_error = written < 0 ? written : cut_part_finish(part);
	return outcome;
}

static int fail(const char *output, const struct cli_trace *trace, struct outcome outcome)
{
	if (outcome.read_error)
		return cli_trace_fail(trace, outcome.read_error);
	if (outcome.write_error == WEFT_ERROR_SYSTEM)
		cli_error("%s: %s", output, strerror(errno));
	else
		cli_error("%s: %s", output, weft_error_text(outcome.write_error));
	return CLI_NO;
}

int cut_write(const struct weft_cut_range *range, const struct cli_trace *trace,
	const struct cli_checkpoint *from, int status, struct weft_event *event,
	const char *output_path, uint64_t *ret_events)
{
	struct cli_output output;
	struct weft_cut *cut = NULL;
	if (!cli_output_open(output_path, &output))
		return CLI_NO;
	const struct weft_cut_sink sink = {append, &output};
	struct outcome outcome = {.write_error = weft_cut_create(range, trace->name, &sink, &cut)};
	if (!outcome.write_error)
		outcome = copy_events(&(struct cut_part){range, trace, from, cut}, status, event);
	cli_trace_report(trace);
	if (outcome.read_error || outcome.write_error) {
		int answer = fail(output_path, trace, outcome);
		cli_output_abandon(&output);
		weft_cut_destroy(cut);
		return answer;
	}
	*ret_events = weft_cut_summarize(cut).events;
	weft_cut_destroy(cut);
	return cli_output_commit(&output) ? CLI_DONE : CLI_NO;
}

static int cut_one(const struct cut_request *request, const struct cli_trace *trace)
{
	struct weft_event event;
	uint64_t events;
	int first = weft_decoder_next(trace->decoder, &event);
	if (first < 0) {
		cli_trace_report(trace);
		return cli_trace_fail(trace, first);
	}
	struct weft_cut_range range = cut_find_range(request, first == WEFT_OK ? event.time_ns : 0);
	struct cli_checkpoint from = {0};
	const bool has_state = first == WEFT_OK && request->past_ns == UINT64_MAX &&
						   cli_checkpoint_find(trace, *request->files, range.start_ns, &from);
	const int next = has_state ? cli_checkpoint_seek(&from, trace->decoder, &event)
							   : cut_skip_past(request, &range, trace->decoder, first, &event);
	int status =
		cut_write(&range, trace, has_state ? &from : NULL, next, &event, request->output, &events);
	cli_checkpoint_close(&from);
	if (status)
		return status;
	if (first != WEFT_OK)
		cli_inform("%s: a valid trace without events", trace->name);
	else if (events == 0)
		cli_inform("%s: no event in that range", trace->name);
	return CLI_DONE;
}

static bool has_several_buffers(const struct cli_trace *trace)
{
	return weft_decoder_describe(trace->decoder)->buffer_count > 1;
}

/* The first event is read before anything is written, so that OUT stays unchanged if FILE is not a
 * trace. */
int cli_cut(int argc, char **argv)
{
	struct cut_request request;
	struct cli_trace trace;
	int status;
	if (!parse(argc, argv, &request, &status))
		return status;
	status = cli_trace_open_all(request.files, request.file_count, &trace);
	if (status)
		return status;
	cli_progress_start();
	if (weft_decoder_has_xentrace(trace.decoder))
		status = cut_xentrace(&request, &trace);
	else if (!xen_filter_is_empty(&request.filter) || request.processes)
		status =
			cli_usage_error("cut", "--filter, --no-contexts and --processes need a trace of Xen");
	else if (has_several_buffers(&trace))
		status = cut_several(&request, &trace);
	else
		status = cut_one(&request, &trace);
	cli_progress_end();
	cli_trace_close(&trace);
	return status;
}
