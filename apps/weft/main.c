/* SPDX-License-Identifier: ISC
 *
 * weft: the table of subcommands.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "index/automatic.h"
#include "runs/message.h"

struct command {
	const char *name;
	const char *help; /* one line */
	int (*run)(int argc, char **argv);
};

/* Ordered like a typical first session. */
static const struct command commands[] = {
	{"doctor", "say beforehand what will be seen of a program", cli_doctor},
	{"record", "run a program and save its trace", cli_record},
	{"run", "run a program and show its trace while it records", cli_run},
	{"collect", "save what guests of Xen record", cli_collect},
	{"ls", "list programs that record now, and rings left behind", cli_ls},
	{"metrics", "print the values of running programs' counters", cli_metrics},
	{"top", "show the counters of running programs in a terminal", cli_top},
	{"agent", "keep the values of all programs' counters", cli_agent},
	{"tail", "print a running program's events as they come", cli_tail},
	{"ctl", "set what a running program records", cli_ctl},
	{"info", "summarize a trace", cli_info},
	{"dump", "print a trace's events, tasks, edges or problems", cli_dump},
	{"stats", "print statistics of tasks: number, lifetimes, waiting, delays", cli_stats},
	{"query", "ask a trace by SQL", cli_query},
	{"why", "explain why a task waits, or what all wait for", cli_why},
	{"serve", "show traces in a browser", cli_serve},
	{"view", "show a trace in a window", cli_view},
	{"render", "draw a trace as a picture", cli_render},
	{"flame", "draw where in the code threads waited, as a flame graph", cli_flame},
	{"cut", "write a part of a trace as a trace of its own", cli_cut},
	{"index", "make parts of a large trace quick to read", cli_index},
	{"merge", "put traces of several hosts together, and compare their clocks", cli_merge},
	{"export", "write a trace in another format", cli_export},
	{NULL, NULL, NULL},
};

static const struct option own_options[] = {
	{"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'v'}, {NULL, 0, NULL, 0}};

static void print_help(FILE *stream)
{
	fputs("usage: weft COMMAND [OPTION]... [ARGUMENT]...\n"
		  "       weft --help | --version\n"
		  "\n"
		  "Records what an asynchronous program does, and shows it.\n"
		  "\n"
		  "Commands:\n",
		stream);
	for (const struct command *command = commands; command->name; command++)
		fprintf(stream, "  %-8s %s\n", command->name, command->help);
	fputs(
		"\n"
		"`weft COMMAND --help` explains a command. A FILE is a trace in any format that weft knows;\n"
		"`-` is standard input, a PID what that process has recorded so far, xen:DOMAIN a guest of\n"
		"Xen, core:FILE and mem:PID a ring in a core or in a process's memory. Exit status: 0 done,\n"
		"1 the answer is no, 2 invalid arguments, 3 nothing could be read.\n",
		stream);
}

static int unknown_command(const char *name)
{
	struct cli_guess guess = cli_guess_begin(name, strlen(name));
	for (const struct command *command = commands; command->name; command++)
		cli_guess_try(&guess, command->name);
	if (guess.name)
		cli_error("unknown command \"%s\"; did you mean \"%s\"?", name, guess.name);
	else
		cli_error("unknown command \"%s\"; `weft --help` lists them", name);
	return CLI_USAGE;
}

static const struct command *find_command(const char *name)
{
	for (const struct command *command = commands; command->name; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return CLI_USAGE;
	}
	const char *name = argv[1];
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
		(strcmp(name, "help") == 0 && argc == 2)) {
		print_help(stdout);
		return CLI_DONE;
	}
	if (strcmp(name, "--version") == 0) {
		puts("weft " WEFT_VERSION);
		return CLI_DONE;
	}
	if (strcmp(name, "help") == 0) {
		char help[] = "--help";
		const struct command *command = find_command(argv[2]);
		char *arguments[] = {argv[2], help, NULL};
		return command ? command->run(2, arguments) : unknown_command(argv[2]);
	}
	if (name[0] == '-')
		return cli_unknown_option(NULL, name, own_options);
	const struct command *command = find_command(name);
	return command ? command->run(argc - 1, argv + 1) : unknown_command(name);
}

/* Opens descriptors 0, 1 and 2 if they are closed: otherwise the next opened file would get such a
 * number, and messages would go into it. */
static void open_standard_descriptors(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd < 2);
}

/* Columns grow by realloc: blocks with pages of their own can be moved without copying, whatever
 * their size. By default glibc keeps blocks of up to 32 MiB in its heap, where each growth leaves a
 * hole. */
static void keep_columns_in_pages(void)
{
	enum {
		PAGES_FROM = 128 << 10
	};
	(void)mallopt(M_MMAP_THRESHOLD, PAGES_FROM);
}

/* Prints a message of src/runs/. */
static void print_report(const char *message)
{
	cli_error("%s", message);
}

int main(int argc, char **argv)
{
	/* Before any command maps a file, including commands that first search for a process's ring. */
	if (weft_source_survive_truncation()) {
		cli_error("%s", strerror(errno));
		return CLI_NO;
	}
	weft__runs_set_report(print_report);
	keep_columns_in_pages();
	open_standard_descriptors();
	int status = cli_close_output(run(argc, argv));
	cli_progress_die_if_interrupted();
	index_make_noted();
	return status;
}
