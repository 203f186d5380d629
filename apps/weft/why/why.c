/* SPDX-License-Identifier: ISC
 *
 * weft why: the chain of waits of a task, or all tasks that wait.
 */
#include "why.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/live.h"
#include "outside.h"
#include "runs/directory/find.h"
#include "watch.h"

static const char usage[] =
	"usage: weft why [OPTION]... FILE|PID... [task:ID|LABEL]...\n"
	"       weft why --all [--json]\n"
	"       weft why --watch [--json|--collapsed|-o FILE] PID\n"
	"\n"
	"Explains why a task does not go on: it waits for another task, that one for the next, and\n"
	"so on, to a task that runs or that nobody resolved. Without a task, prints all tasks that\n"
	"wait, in groups, and what runs. FILE is a trace in any format that weft knows, or `-` for\n"
	"standard input; several files are one trace. PID is a running program; of one\n"
	"that records nothing, what its threads wait for is seen from outside.\n"
	"\n"
	"  --at TIME        ask about that time; default: the end of the trace, or now; for a task\n"
	"                   that does not wait then, its longest wait\n"
	"  --past T         read only T before --at, of a trace of any size; a wait that began earlier is\n"
	"                   not known\n"
	"  --all            which threads and processes of this host wait for which: of your own\n"
	"                   processes, as root of all; seen from outside\n"
	"  --watch          look at a process ten times a second, until it ends or Ctrl-C; then print\n"
	"                   where its threads were; nothing is loaded or stopped\n"
	"  --collapsed      with --watch: stacks as tools for flame graphs read them\n"
	"  -o, --output FILE  with --watch: write a trace of it instead; `-` is standard output\n"
	"  --json           one JSON object on each line; times are ns on the trace's own clock\n"
	"  --max-size SIZE  refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                   times its own size, and 4G for a pipe\n"
	"  --cpu-hz HZ      the rate of the cycles in a trace of Xen (2596.15M); default: estimated\n"
	"  --no-align       leave the clocks of several hosts as they are\n"
	"  --help           this text\n"
	"\n"
	"A TIME is 12ms, 1.5s, 300us or 40ns from the trace's start, 0, or @N for N ns on its clock.\n"
	"Exit status: 1 if nothing waits.\n";

enum why_option_code {
	OPTION_HELP = 256,
	OPTION_JSON,
	OPTION_AT,
	OPTION_ALL,
	OPTION_WATCH,
	OPTION_COLLAPSED,
};

static const struct option long_options[] = {
	{"help", no_argument, NULL, OPTION_HELP},
	{"json", no_argument, NULL, OPTION_JSON},
	{"all", no_argument, NULL, OPTION_ALL},
	{"watch", no_argument, NULL, OPTION_WATCH},
	{"collapsed", no_argument, NULL, OPTION_COLLAPSED},
	{"output", required_argument, NULL, 'o'},
	CLI_MAX_SIZE_OPTION,
	CLI_CPU_HZ_OPTION,
	CLI_NO_ALIGN_OPTION,
	CLI_PAST_OPTION,
	{"at", required_argument, NULL, OPTION_AT},
	{NULL, 0, NULL, 0},
};

/* False if the program should end with *ret_status. */
static bool parse_options(int argc, char **argv, struct why_options *options, int *ret_status)
{
	*ret_status = CLI_USAGE;
	for (int code; (code = cli_next_option(argc, argv, long_options)) != -1;) {
		switch (code) {
		case OPTION_HELP:
			*ret_status = cli_help(usage);
			return false;
		case OPTION_JSON:
			options->json = true;
			break;
		case OPTION_ALL:
			options->all = true;
			break;
		case OPTION_WATCH:
			options->watch = true;
			break;
		case OPTION_COLLAPSED:
			options->collapsed = true;
			break;
		case 'o':
			options->output = optarg;
			break;
		case OPTION_AT:
			options->has_time = true;
			if (!cli_parse_time("why", "--at", optarg, &options->time))
				return false;
			break;
		default:
			return false;
		}
	}
	return true;
}

/* True if an operand behind the first one names a task: no file has that name. */
static bool is_task(const char *operand)
{
	struct stat about;
	return strncmp(operand, "task:", 5) == 0 ||
		   (strcmp(operand, "-") != 0 && stat(operand, &about) != 0);
}

static int answer_trace(const struct why_options *options, char **operands, int count)
{
	struct cli_trace trace;
	struct weft_model *model = NULL;
	int status = cli_trace_open_all(operands, count, &trace);
	if (status)
		return status;
	cli_progress_start();
	cli_trace_read_only(options->time, 1);
	int error = cli_trace_build_model(&trace, &model);
	status = error ? cli_trace_fail(&trace, error) : why_answer(options, trace.name, model);
	weft_model_destroy(model);
	cli_progress_end();
	cli_trace_report(&trace);
	cli_trace_close(&trace);
	return status;
}

static int answer_process(const struct why_options *options, char *operand)
{
	struct cli_live live;
	struct why_options now = *options;
	const bool is_of_now = !now.task_count && !now.has_time;
	int status = cli_live_open(operand, &live);
	const bool is_replaced = !status && cli_live_is_replaced(&live);
	if (is_replaced)
		cli_inform(
			"%s: the trace is of a program that has ended; the process runs another one", operand);
	else if (!status && !now.has_time)
		now.live = &live;
	if (is_replaced && is_of_now)
		status = CLI_UNREADABLE;
	if (!status)
		status = why_answer(&now, operand, live.model);
	else if (is_of_now)
		status = why_outside(live.pid, now.json); /* the reason was printed */
	weft_model_destroy(live.model);
	return status;
}

static int answer_watch(const struct why_options *options, char **operands, int count)
{
	const pid_t pid = count == 1 ? weft__runs_parse_pid(operands[0]) : 0;
	if (!options->watch)
		return cli_usage_error("why", "--collapsed and -o go with --watch");
	if (options->json + options->collapsed + (options->output != NULL) > 1)
		return cli_usage_error("why", "--json, --collapsed and -o exclude each other");
	if (!pid || options->has_time)
		return cli_usage_error("why", "--watch takes one PID");
	if (options->output && strcmp(options->output, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_usage_error(
			"why", "refusing to write a binary trace to a terminal; use -o FILE or a pipe");
	return why_watch(pid,
		options->json        ? WHY_WATCH_JSON
		: options->collapsed ? WHY_WATCH_COLLAPSED
							 : WHY_WATCH_TABLE,
		options->output);
}

int cli_why(int argc, char **argv)
{
	struct why_options options = {0};
	int status;
	if (!parse_options(argc, argv, &options, &status))
		return status;
	if (options.all)
		return optind < argc || options.watch
				   ? cli_usage_error("why", "--all takes no FILE, PID or --watch")
				   : why_all(options.json);
	int count = cli_count_operands(argc, argv, "FILE or PID");
	if (!count)
		return CLI_USAGE;
	if (cli_trace_has_range() && !options.has_time)
		return cli_usage_error("why", "--past goes with --at");
	char **operands = argv + optind;
	if (options.watch || options.collapsed || options.output)
		return answer_watch(&options, operands, count);
	while (count > 1 && is_task(operands[count - 1])) {
		options.tasks = &operands[--count];
		options.task_count++;
	}
	if (count == 1 && weft__runs_parse_pid(operands[0]))
		return answer_process(&options, operands[0]);
	return answer_trace(&options, operands, count);
}
