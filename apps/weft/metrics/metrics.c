/* SPDX-License-Identifier: ISC
 *
 * weft metrics: the values that the counters of running programs have now.
 */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics/format.h"
#include "metrics/from.h"
#include "programs.h"
#include "runs/directory/find.h"
#include "window.h"

static const char usage[] =
	"usage: weft metrics [OPTION]... [PID]... | FILE...\n"
	"\n"
	"Prints the values that the counters of running programs have now, whether or not anything is\n"
	"recorded. Without PID, those of all programs of this user, or for root of all users, that are\n"
	"linked with libweft; and in dom0 of Xen what each domain uses, as xen:NAME. With FILE, a trace\n"
	"or a directory of traces, those that were there when the trace ended.\n"
	"\n"
	"  --children     what comes and goes below the levels of metrics, one by one\n"
	"  --json         one JSON object on each line\n"
	"  --openmetrics  OpenMetrics text, as Prometheus reads it\n"
	"  --prometheus   the older text that Prometheus reads\n"
	"  --depth N      with these two: series with at most N labels of their own; they have the totals\n"
	"                 of what lies below. Default: all\n"
	"\n"
	"  weft metrics NAME... --over 5m | --since midnight [--by program|user|LABEL] [--json]\n"
	"\n"
	"prints how much counters grew in that time, how gauges were, and average and quantiles of\n"
	"histograms, from what `weft agent` keeps.\n"
	"\n"
	"  --over TIME    the last so many seconds, minutes, hours or days: 90s, 5m, 24h, 30d\n"
	"  --since TIME   midnight, HH:MM, YYYY-MM-DD, or @SECONDS since 1970; in the local time zone\n"
	"  --by WHAT      one line for each program, user, or value of the label\n"
	"  --data FILE    the database. Default: that of `weft agent`\n"
	"\n"
	"  weft metrics --from URL [--token-file FILE] [--json | --openmetrics | --prometheus]\n"
	"\n"
	"prints the values that a server shows to whoever has its token.\n"
	"\n"
	"  --from URL     where `weft agent` or `weft serve` answers: http://127.0.0.1:9339/\n"
	"  --token-file FILE\n"
	"                 the token, one line\n"
	"  --help         this text\n"
	"\n"
	"Exit status: 1 if there is no counter.\n";

struct metrics_arguments {
	enum metrics_format format;
	size_t depth;
	bool children;
	struct metrics_window window;
	struct metrics_from from;
	bool are_named; /* the user has named the processes */
	bool are_traces;
};

/* ---- Output ---- */

static bool was_unreadable; /* a process that the user has named */

static void explain(pid_t pid, int error)
{
	was_unreadable = true;
	if (error == ENOENT)
		cli_error("process %d has no counters that can be read: it is not linked with libweft, has "
				  "WEFT_ATTACH=none, or was forked by clone(2)",
			(int)pid);
	else
		cli_error("process %d: %s", (int)pid, strerror(error));
}

static void explain_left_out(const struct weft__metrics_sample *sample, const char *why)
{
	cli_error("counter \"%s\" of process %d is left out: %s", sample->counter->name,
		(int)sample->pid, why);
}

/* Names may contain what a terminal would obey. */
static void escape_for_terminal(struct weft_text *text)
{
	struct weft_text shown = {0};
	for (size_t at = 0, size; at < text->size; at += size + 1) {
		const char *end = memchr(text->bytes + at, '\n', text->size - at);
		size = end ? (size_t)(end - text->bytes) - at : text->size - at;
		weft_text_add_shown(&shown, text->bytes + at, size);
		weft_text_add_string(&shown, "\n");
	}
	shown.error = shown.error ? shown.error : text->error;
	weft_text_finish(text);
	*text = shown;
}

static int print(const struct metrics_programs *programs, const struct metrics_arguments *a)
{
	struct weft_text text = {0};
	int status = was_unreadable ? CLI_UNREADABLE : programs->sample_count ? CLI_DONE : CLI_NO;
	const struct weft__metrics_exposition exposition = {
		.depth = a->depth, .left_out = explain_left_out};
	metrics_format_write(a->format, exposition, programs->samples, programs->sample_count, &text);
	if (a->format > METRICS_JSON && isatty(STDOUT_FILENO))
		escape_for_terminal(&text);
	if (text.error) {
		cli_error("%s", strerror(ENOMEM));
		status = CLI_UNREADABLE;
	} else if (text.size) {
		cli_write(&text);
	}
	if (status == CLI_NO)
		cli_inform(a->are_traces  ? "the trace has no counter of which it knows the value"
				   : a->children  ? "no metric has children now"
				   : a->are_named ? "no counter has changed yet"
								  : "no running program has a counter that has changed");
	weft_text_finish(&text);
	return status;
}

static int show(const struct weft__runs_linked_list *linked, const struct metrics_arguments *a)
{
	struct metrics_programs programs;
	int status = CLI_UNREADABLE;
	if (metrics_programs_read(
			linked, a->children, a->are_named && !a->children ? explain : NULL, &programs) &&
		(a->are_named || a->children || metrics_programs_add_domains(&programs)))
		status = print(&programs, a);
	else
		cli_error("%s", strerror(ENOMEM));
	metrics_programs_finish(&programs);
	return status;
}

static int show_traces(const struct metrics_arguments *a, char **files, int count)
{
	struct metrics_programs programs;
	if (a->children)
		return cli_usage_error(
			"metrics", "--children is about running programs: traces have totals");
	int status = metrics_trace_read(files, count, &programs);
	if (status == CLI_DONE)
		status = print(&programs, a);
	metrics_programs_finish(&programs);
	return status;
}

/* ---- From an agent or a server ---- */

static int show_from(const char *command, const struct metrics_arguments *a, bool has_operands)
{
	struct weft_text text = {0};
	if (!a->from.url)
		return cli_usage_error(command, "--token-file needs --from");
	if (has_operands || a->children || a->depth != SIZE_MAX || a->window.over || a->window.since ||
		a->window.by || a->window.data)
		return cli_usage_error(command, "--from takes --token-file and a format, and nothing else");
	int status = metrics_from_read(command, &a->from, a->format, &text);
	if (isatty(STDOUT_FILENO))
		escape_for_terminal(&text);
	if (text.size)
		cli_write(&text);
	weft_text_finish(&text);
	return status;
}

/* ---- Arguments ---- */

/* Parses an option with its `optarg`. False after a message. */
static bool parse_option(const char *command, int option, struct metrics_arguments *a)
{
	uint64_t depth;
	switch (option) {
	case 'c':
		a->children = true;
		return true;
	case 'j':
		a->format = METRICS_JSON;
		return true;
	case 'u':
		a->from.url = optarg;
		return true;
	case 'k':
		a->from.token_file = optarg;
		return true;
	case 'o':
		a->window.over = optarg;
		return true;
	case 's':
		a->window.since = optarg;
		return true;
	case 'b':
		a->window.by = optarg;
		return true;
	case 'f':
		a->window.data = optarg;
		return true;
	case 'm':
		a->format = METRICS_OPENMETRICS;
		return true;
	case 't':
		a->format = METRICS_PROMETHEUS;
		return true;
	default:
		if (!cli_parse_number(command, "--depth", optarg, 0, UINT32_MAX, &depth))
			return false;
		a->depth = depth;
		return true;
	}
}

int cli_metrics(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"by", required_argument, NULL, 'b'},
		{"children", no_argument, NULL, 'c'},
		{"data", required_argument, NULL, 'f'},
		{"depth", required_argument, NULL, 'd'},
		{"from", required_argument, NULL, 'u'},
		{"json", no_argument, NULL, 'j'},
		{"openmetrics", no_argument, NULL, 'm'},
		{"over", required_argument, NULL, 'o'},
		{"prometheus", no_argument, NULL, 't'},
		{"since", required_argument, NULL, 's'},
		{"token-file", required_argument, NULL, 'k'},
		{NULL, 0, NULL, 0},
	};
	struct metrics_arguments a = {.depth = SIZE_MAX};
	struct weft__runs_linked_list linked;
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (option == '?' || !parse_option(argv[0], option, &a))
			return CLI_USAGE;
	}
	if (a.from.url || a.from.token_file)
		return show_from(argv[0], &a, optind < argc);
	a.are_named = optind < argc;
	a.window.is_json = a.format == METRICS_JSON;
	const bool is_window = a.window.over || a.window.since;
	if (is_window && (a.children || a.depth != SIZE_MAX || a.format > METRICS_JSON))
		return cli_usage_error(
			argv[0], "--over and --since print text or --json, and exclude --children and --depth");
	if (is_window)
		return metrics_show_window(argv[0], &a.window, argv + optind, argc - optind);
	if (a.window.by || a.window.data)
		return cli_usage_error(argv[0], "--by and --data need --over or --since");
	if (a.children && (a.format == METRICS_OPENMETRICS || a.format == METRICS_PROMETHEUS))
		return cli_usage_error(argv[0],
			"--children is for text and --json: a series for each that comes and goes would fill a "
			"Prometheus");
	a.are_traces = metrics_names_traces(argv + optind, argc - optind);
	if (a.are_traces)
		return show_traces(&a, argv + optind, argc - optind);
	int named = a.are_named ? metrics_programs_name(argv[0], argv + optind, argc - optind, &linked)
							: CLI_DONE;
	if (named != CLI_DONE)
		return named;
	if (!a.are_named && !weft__runs_counting_find(&linked))
		return CLI_UNREADABLE;
	int status = show(&linked, &a);
	weft__runs_linked_finish(&linked);
	return status;
}
