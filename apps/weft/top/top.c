/* SPDX-License-Identifier: ISC
 *
 * weft top: the counters of running programs, live in a terminal.
 *
 * Without ncurses at build time WEFT_HAS_TOP is 0, and the text is printed once.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "metrics/programs.h"
#include "runs/directory/find.h"
#include "top.h"

static const char usage[] =
	"usage: weft top [OPTION]... [PID]... | FILE...\n"
	"\n"
	"Shows the counters of running programs as a tree: value, rate, and a picture of the last\n"
	"minute, whether or not anything is recorded. Without PID, those of all programs of this user,\n"
	"or for root of all users, that are linked with libweft; in dom0 of Xen, also what each domain\n"
	"uses, as xen:NAME. Where standard output is not a terminal, prints the tree once. With FILE, a\n"
	"trace or a directory of traces, prints the tree as it was when the trace ended.\n"
	"\n"
	"  --children       also what comes and goes below the levels of metrics, one by one\n"
	"  --interval TIME  between two samples, from 100ms to 1h; default: 1s. Where the tree is\n"
	"                   printed, waits so long to print rates, too\n"
	"  --once           print the tree, also on a terminal\n"
	"  --help           this text\n"
	"\n"
	"Keys: q quits; the arrows move, fold and unfold; / searches; n, v and r sort by name, value and\n"
	"rate, and again in reverse; c shows children; * unfolds everything, - folds it.\n"
	"\n"
	"Exit status: 1 if there is no counter to print.\n";

struct top_arguments {
	uint64_t interval_ns; /* 0: not given */
	bool once, children;
};

/* ---- Once ---- */

static void sleep_ns(uint64_t ns)
{
	struct timespec rest = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
		;
}

/* True if each process that the user has named could be read. */
static bool check_named(const struct top_forest *forest, const struct top_programs *programs)
{
	bool good = true;
	for (size_t i = 0; programs->are_named && i < programs->linked.count; i++) {
		const pid_t pid = programs->linked.list[i].pid;
		bool is_there = false;
		for (uint32_t k = 0; k < forest->program_count; k++)
			is_there = is_there || forest->programs[k].linked.pid == pid;
		if (!is_there)
			cli_error("process %d has no counters that can be read; `weft metrics %d` has the "
					  "reason",
				(int)pid, (int)pid);
		good = good && is_there;
	}
	return good;
}

static int print_once(struct top_programs *programs, const struct top_arguments *a)
{
	struct top_forest forest = {.has_children = a->children, .xen = programs->xen};
	top_programs_find(programs, top_now_s());
	bool good = top_forest_update(&forest, &programs->linked, top_now_s());
	if (good && a->interval_ns) {
		sleep_ns(a->interval_ns);
		good = top_forest_update(&forest, &programs->linked, top_now_s());
	}
	if (!good)
		cli_error("%s", strerror(ENOMEM));
	good = good && check_named(&forest, programs);
	top_print(&forest, a->interval_ns != 0);
	int status = !good ? CLI_UNREADABLE : forest.counter_count ? CLI_DONE : CLI_NO;
	if (status == CLI_NO)
		cli_inform(programs->are_named ? "no counter has changed yet"
									   : "no running program has a counter that has changed");
	top_forest_finish(&forest);
	return status;
}

/* The counters as they were at the end of traces. */
static int print_traces(const struct top_arguments *a, char **files, int count)
{
	struct weft__runs_linked_list none = {0};
	struct metrics_programs programs;
	struct top_forest forest = {.given = &programs};
	if (a->children || a->interval_ns)
		return cli_usage_error("top", "--children and --interval are about running programs");
	int status = metrics_trace_read(files, count, &programs);
	if (status == CLI_DONE && !top_forest_update(&forest, &none, top_now_s())) {
		cli_error("%s", strerror(ENOMEM));
		status = CLI_UNREADABLE;
	}
	if (status == CLI_DONE) {
		top_print(&forest, false);
		status = forest.counter_count ? CLI_DONE : CLI_NO;
	}
	if (status == CLI_NO)
		cli_inform("the trace has no counter of which it knows the value");
	top_forest_finish(&forest);
	metrics_programs_finish(&programs);
	return status;
}

/* ---- Live ---- */

#define USUAL_INTERVAL_S 1.0

#if WEFT_HAS_TOP
static int show(struct top_programs *programs, const struct top_arguments *a)
{
	if (a->once || !isatty(STDOUT_FILENO))
		return print_once(programs, a);
	return top_live(
		programs, a->interval_ns ? 1e-9 * (double)a->interval_ns : USUAL_INTERVAL_S, a->children);
}
#else
static int show(struct top_programs *programs, const struct top_arguments *a)
{
	if (!a->once && isatty(STDOUT_FILENO))
		cli_inform("this weft was built without its live view: it needs the package libncurses-dev "
				   "when it is built");
	return print_once(programs, a);
}
#endif

/* ---- Arguments ---- */

static bool parse_interval(const char *command, struct top_arguments *a)
{
	const uint64_t least_ns = 100000000, most_ns = 3600 * UINT64_C(1000000000);
	if (!cli_parse_duration(command, "--interval", optarg, &a->interval_ns))
		return false;
	if (a->interval_ns >= least_ns && a->interval_ns <= most_ns)
		return true;
	cli_usage_error(command, "--interval: \"%s\" is not between 100ms and 1h", optarg);
	return false;
}

int cli_top(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"children", no_argument, NULL, 'c'},
		{"interval", required_argument, NULL, 'i'},
		{"once", no_argument, NULL, '1'},
		{NULL, 0, NULL, 0},
	};
	struct top_arguments a = {0};
	struct top_programs programs = {0};
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (option == '?' || (option == 'i' && !parse_interval(argv[0], &a)))
			return CLI_USAGE;
		a.once = a.once || option == '1';
		a.children = a.children || option == 'c';
	}
	programs.are_named = optind < argc;
	if (metrics_names_traces(argv + optind, argc - optind))
		return print_traces(&a, argv + optind, argc - optind);
	int status = metrics_programs_name(argv[0], argv + optind, argc - optind, &programs.linked);
	if (status == CLI_DONE && !programs.are_named)
		programs.xen = weft__runs_usage_open();
	if (status == CLI_DONE)
		status = show(&programs, &a);
	top_programs_finish(&programs);
	return status;
}
