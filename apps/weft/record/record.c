/* SPDX-License-Identifier: ISC
 *
 * weft record: runs a program and saves its rings, however it ends.
 *
 * The program does not need us: it records into a ring in memory, which outlives both. If we are
 * killed, or the disk is full, the ring is still there.
 */
#include "record.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/run_abi.h"
#include "cli/cli.h"
#include "cli/attach.h"
#include "cli/trigger.h"
#include "hypervisor.h"
#include "rules.h"
#include "runs/attach/page.h"
#include "runs/directory/directory.h"
#include "runs/directory/find.h"
#include "runs/guests/guest.h"
#include "runs/message.h"
#include "runs/saving/early.h"
#include "runs/saving/name.h"
#include "runs/saving/wall_clock.h"
#include "runs/stream/compress.h"

static const char usage[] =
	"usage: weft record [-a LIST] [-o FILE] [--keep-all] [--size BYTES] [--total BYTES] [--in-place]\n"
	"                   [--require] [--wait] [--samples HZ] [--snapshots N] [--trigger RULE]... [--]\n"
	"                   PROGRAM [ARGUMENT]...\n"
	"       weft record --stream [--rotate BYTES[:N]] [--max-size BYTES] [--zstd] [-o FILE]\n"
	"                   [--size BYTES] [--total BYTES] [--require] [--wait] [--snapshots N]\n"
	"                   [--trigger RULE]... [--] PROGRAM [ARGUMENT]...\n"
	"       weft record -p PID [-o FILE] [--size BYTES] [--total BYTES] [--require]\n"
	"                   [--snapshots N] [--trigger RULE]...\n"
	"                   [--stream [--rotate BYTES[:N]] [--max-size BYTES] [--zstd]]\n"
	"       weft record --recover [-o FILE] [RUN]\n"
	"       weft record xen:host [OPTION]...    (see weft record xen:host --help)\n"
	"\n"
	"Runs PROGRAM and saves what it recorded when it ends, however it ends. A program that does\n"
	"not call libweft is recorded by adapters. Signals are passed on.\n"
	"\n"
	"  -a, --adapters LIST  record what the program asks of its libraries: a list of uv, glib,\n"
	"                     thread, io, xen, node, python; auto (default): all that fit, unless the\n"
	"                     program calls libweft; none\n"
	"  -o, --output FILE  the file for the trace, or its directory; default: PROGRAM-PID.weft in\n"
	"                     the current directory. `-`: standard output, and the program's own\n"
	"                     output goes to standard error; `xen:DOMAIN`, in a guest of Xen: the\n"
	"                     domain of that number reads the trace, xen:0 is dom0\n"
	"  --keep-all         also save traces of short helpers: programs of 100 ms, one thread, no\n"
	"                     call of libweft. A directory gets all\n"
	"  --size BYTES       the size of each buffer, 64K at least; default: 16M for the first process,\n"
	"                     4M for others, less in little room. The oldest events are overwritten\n"
	"  --total BYTES      limit the buffers of all processes together\n"
	"  --in-place         record into FILE itself, so nothing has to be saved; the program may\n"
	"                     wait for the disk, see weft-record(1)\n"
	"  --require          fail with status 125 if nothing is recorded, a process cannot record, a\n"
	"                     part is not seen, or events are lost or overwritten\n"
	"  --samples HZ       find out which functions run, HZ times in a second of each thread's\n"
	"                     processor time, such as 99; see weft-record(1)\n"
	"  --wait             when PROGRAM has ended, wait for its processes that still record\n"
	"  --snapshots N      take at most N snapshots if the program requests them; default: 10\n"
	"  --trigger RULE     take a snapshot when RULE fires, for example 'counter queue > 100',\n"
	"                     'runs > 50ms', 'waits > 1s kind=bind', 'p99(weft_lock_wait_seconds) > 10ms'\n"
	"  --stream           write everything while the program runs, without end\n"
	"  --rotate BYTES[:N] with --stream: begin a new file after BYTES: FILE.0001.weft and so on;\n"
	"                     with N keep only the newest N files\n"
	"  --max-size BYTES   with --stream: the limit for all files of all processes together, 8M at\n"
	"                     least; the stream then ends with a message. Default: 16G, or half of the\n"
	"                     free disk space if that is less; with N as much as N files take if that\n"
	"                     is more. 0: no limit\n"
	"  --zstd             with --stream: compress; a FILE that ends in .zst implies it\n"
	"  -p, --pid PID      make a running process record that is linked with libweft, until it ends\n"
	"                     or Ctrl-C. If it records already: save what it has recorded so far, with\n"
	"                     --stream also what it records from now on\n"
	"  --recover          save what a killed weft record left behind, see weft ls; only that of RUN\n"
	"                     if it is given: a PID, a program, a run directory or a ring in it\n"
	"  --help             this text\n"
	"\n"
	"FILE is of the last program that the process became by exec; others are beside it.\n"
	"Exit status: the program's; 128 + N if signal N ended it; 127 not found, 126 not\n"
	"executable, 125 weft record itself failed, 2 invalid arguments.\n";

#define SNAPSHOTS_DEFAULT 10
#define SNAPSHOTS_MAX     10000
#define SAMPLES_MAX_HZ    1000

struct record_arguments {
	const char *output;   /* NULL: PROG-PID.weft here */
	const char *adapters; /* -a */
	uint64_t size_bytes;
	uint64_t total_bytes; /* bound on all processes' buffers together; 0: no bound */
	unsigned snapshots;   /* the maximum */
	bool has_snapshots;   /* an option asked for snapshots */
	const char *rules[WEFT_TRIGGERS_MAX];
	unsigned rule_count;
	struct record_rules *metric_rules; /* --trigger, about metrics */
	char **program;
	pid_t pid; /* -p: the process to save or to attach to; then there is no program to run */
	bool has_run_options; /* options that only a run has, also that of an attached process */
	bool recover;         /* --recover; no program to run either */
	const char *run;      /* --recover's RUN or NULL: all */
	char *guest;          /* xen:DOMAIN or NULL */
	bool stream;
	struct weft__runs_stream_options streaming;
	bool in_place;
	bool require;                         /* a loss is a failure */
	bool keep_all;                        /* also the traces of short helpers */
	bool waits;                           /* for processes that outlive the program */
	unsigned samples_hz;                  /* --samples; 0: none */
	const struct record_watcher *watcher; /* NULL: no watcher */
};

static bool parse_pid(const char *command, const char *text, pid_t *ret_pid)
{
	uint64_t number;
	if (!cli_parse_number(command, "-p", text, 1, INT32_MAX, &number))
		return false;
	*ret_pid = (pid_t)number;
	return true;
}

/* Checks the rule here, so that its errors are reported before the program runs. */
static bool parse_rule(const char *command, const char *rule, struct record_arguments *arguments)
{
	if (arguments->rule_count == WEFT_TRIGGERS_MAX) {
		cli_usage_error(command, "--trigger: too many rules; the maximum is %d", WEFT_TRIGGERS_MAX);
		return false;
	}
	if (record_rules_is_one(rule)) {
		arguments->has_snapshots = true;
		return record_rules_add(command, rule, &arguments->metric_rules);
	}
	arguments->rules[arguments->rule_count++] = rule;
	arguments->has_snapshots = true;
	return cli_trigger_check(command, "--trigger", rule);
}

static bool parse_samples(const char *command, const char *text, struct record_arguments *arguments)
{
	uint64_t number;
	if (!cli_parse_number(command, "--samples", text, 1, SAMPLES_MAX_HZ, &number))
		return false;
	arguments->samples_hz = (unsigned)number;
	return true;
}

static bool parse_snapshots(
	const char *command, const char *text, struct record_arguments *arguments)
{
	uint64_t number;
	if (!cli_parse_number(command, "--snapshots", text, 0, SNAPSHOTS_MAX, &number))
		return false;
	arguments->snapshots = (unsigned)number;
	arguments->has_snapshots = true;
	return true;
}

/* CLI_DONE, or after a message CLI_USAGE. */
static int check_stream(const char *command, struct record_arguments *arguments)
{
	struct weft__runs_stream_options *options = &arguments->streaming;
	options->output = arguments->output;
	if (!arguments->stream && (options->compress || options->rotate_bytes || options->has_max))
		return cli_usage_error(command, "%s needs --stream",
			options->compress  ? "--zstd"
			: options->has_max ? "--max-size"
							   : "--rotate");
	int status = record_streaming_check(command, options);
	if (!status && !arguments->stream && options->compress)
		return cli_usage_error(
			command, "-o %s: compression needs --stream", weft__runs_shown(arguments->output));
	return status;
}

static bool parse_environment(const char *command, struct record_arguments *arguments)
{
	const char *size = getenv("WEFT_SIZE");
	if (!arguments->output)
		arguments->output = getenv("WEFT_OUT");
	if (arguments->output && !*arguments->output)
		arguments->output = NULL;
	if (!arguments->adapters)
		arguments->adapters = getenv(WEFT_ABI_RUN_ADAPTERS);
	if (!arguments->adapters || !*arguments->adapters)
		arguments->adapters = "auto";
	return record_adapters_check(command, arguments->adapters) &&
		   (arguments->size_bytes || !size || !*size ||
			   record_parse_size(command, "WEFT_SIZE", size, &arguments->size_bytes));
}

/* Checks that the options fit each other and the number of operands, and takes missing ones from
 * the environment. CLI_DONE, or after a message CLI_USAGE. */
static int check(const char *command, struct record_arguments *arguments, int operands)
{
	bool runs_program = !arguments->recover && !arguments->pid;
	if (operands == 0 && runs_program)
		return cli_usage_error(command, "PROGRAM is missing");
	arguments->has_run_options = arguments->size_bytes || arguments->total_bytes ||
								 arguments->has_snapshots || arguments->require;
	if (arguments->recover && (operands > 0 || arguments->has_run_options || arguments->in_place))
		return cli_usage_error(command, "--recover runs no program, and takes -o and one RUN only");
	if (arguments->pid && (operands > 0 || arguments->in_place))
		return cli_usage_error(command, "-p runs no program, and excludes --in-place");
	if (!runs_program && arguments->waits)
		return cli_usage_error(command, "--wait needs a PROGRAM");
	if (arguments->recover && arguments->stream)
		return cli_usage_error(command, "--recover and --stream exclude each other");
	if (arguments->recover && arguments->pid)
		return cli_usage_error(command, "-p and --recover exclude each other");
	if (arguments->output && !*arguments->output)
		return cli_usage_error(command, "-o: the file's name is empty");
	if (!parse_environment(command, arguments))
		return CLI_USAGE;
	uint64_t one_bytes = arguments->size_bytes ? arguments->size_bytes : WEFT_ABI_RUN_RING_BYTES;
	if (arguments->total_bytes && arguments->total_bytes < one_bytes)
		return cli_usage_error(
			command, "--total is less than one buffer takes; use a smaller --size");
	const bool is_saved_to_stdout = !arguments->stream && weft__runs_is_stdout(arguments->output);
	if (arguments->samples_hz &&
		(!runs_program || arguments->in_place || arguments->waits || is_saved_to_stdout))
		return cli_usage_error(command,
			"--samples excludes -p, --recover, --in-place and --wait; -o - needs --stream then");
	if (arguments->in_place && arguments->stream)
		return cli_usage_error(command, "--in-place and --stream exclude each other");
	if (arguments->in_place && weft__runs_is_stdout(arguments->output))
		return cli_usage_error(command, "--in-place cannot record into standard output");
	if (check_stream(command, arguments) != CLI_DONE)
		return CLI_USAGE;
	if (weft__runs_is_stdout(arguments->output) && isatty(STDOUT_FILENO))
		return cli_usage_error(
			command, "refusing to write a binary trace to a terminal; use -o FILE or a pipe");
	return CLI_DONE;
}

/* Takes an option with its `optarg`. False after a message. */
static bool take_option(const char *command, int option, struct record_arguments *arguments)
{
	switch (option) {
	case 'a':
		arguments->adapters = optarg;
		return record_adapters_check(command, optarg);
	case 'o':
		arguments->output = optarg;
		return true;
	case 'r':
		return arguments->recover = true;
	case 'i':
		return arguments->in_place = true;
	case 'q':
		return arguments->require = true;
	case 'k':
		return arguments->keep_all = true;
	case 'w':
		return arguments->waits = true;
	case 'S':
		return arguments->stream = true;
	case 'z':
	case 'R':
	case 'm':
		return record_streaming_take(command, option, optarg, &arguments->streaming);
	case 'T':
		return record_parse_size(command, "--total", optarg, &arguments->total_bytes);
	case 'p':
		return parse_pid(command, optarg, &arguments->pid);
	case 't':
		return parse_rule(command, optarg, arguments);
	case 'H':
		return parse_samples(command, optarg, arguments);
	case 'n':
		return parse_snapshots(command, optarg, arguments);
	case 's':
		return record_parse_size(command, "--size", optarg, &arguments->size_bytes);
	default:
		return false;
	}
}

/* Takes the RUN of --recover, after which options may follow. False if there is none. */
static bool take_run(int argc, char **argv, struct record_arguments *arguments)
{
	if (!arguments->recover || arguments->run || optind == argc)
		return false;
	arguments->run = argv[optind++];
	return true;
}

/* True if the operand is xen:host, whose options are others. */
static bool is_host(int argc, char **argv, const struct record_arguments *arguments)
{
	return optind < argc && !arguments->recover && !arguments->pid &&
		   record_hypervisor_is_meant(argv[optind]);
}

/* Takes xen:DOMAIN, behind which options may follow; a program's own options may not. */
static bool take_guest(int argc, char **argv, struct record_arguments *arguments)
{
	if (arguments->guest || arguments->recover || arguments->pid || optind == argc ||
		!weft__runs_guest_domain(argv[optind]))
		return false;
	arguments->guest = argv[optind++];
	return true;
}

/* CLI_DONE and the arguments. If `*ret_run` is false, the result is the exit status. The caller
 * finishes the rules about metrics. */
static int parse(int argc, char **argv, struct record_arguments *ret_arguments, bool *ret_run)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"adapters", required_argument, NULL, 'a'},
		{"in-place", no_argument, NULL, 'i'},
		{"keep-all", no_argument, NULL, 'k'},
		{"max-size", required_argument, NULL, 'm'},
		{"output", required_argument, NULL, 'o'},
		{"pid", required_argument, NULL, 'p'},
		{"recover", no_argument, NULL, 'r'},
		{"require", no_argument, NULL, 'q'},
		{"rotate", required_argument, NULL, 'R'},
		{"samples", required_argument, NULL, 'H'},
		{"size", required_argument, NULL, 's'},
		{"snapshots", required_argument, NULL, 'n'},
		{"stream", no_argument, NULL, 'S'},
		{"total", required_argument, NULL, 'T'},
		{"trigger", required_argument, NULL, 't'},
		{"wait", no_argument, NULL, 'w'},
		{"zstd", no_argument, NULL, 'z'},
		{NULL, 0, NULL, 0},
	};
	struct record_arguments *arguments = ret_arguments;
	*ret_run = false;
	*arguments = (struct record_arguments){.snapshots = SNAPSHOTS_DEFAULT};
	for (;;) {
		int option = cli_next_leading_option(argc, argv, options);
		if (option == 'h')
			return cli_help(usage);
		if (option == -1 && is_host(argc, argv, arguments))
			return record_hypervisor(argc, argv);
		if (option == -1 && !take_run(argc, argv, arguments) && !take_guest(argc, argv, arguments))
			break;
		if (option != -1 && !take_option(argv[0], option, arguments))
			return CLI_USAGE;
	}
	if (arguments->guest)
		argv[--optind] = arguments->guest;
	if (check(argv[0], arguments, argc - optind) != CLI_DONE)
		return CLI_USAGE;
	arguments->program = argv + optind;
	*ret_run = true;
	return CLI_DONE;
}

/* ---- Where traces go ---- */

/* Removes an old trace for rings that are in the output itself (--in-place). */
static bool make_way(const char *output, char ret_path[PATH_MAX])
{
	output = output ? output : ".";
	if (!weft__runs_make_way(output, ret_path))
		return false;
	size_t length = strlen(ret_path);
	if (weft__runs_is_directory(output) && length + 1 < PATH_MAX)
		strcpy(ret_path + length, "/");
	return true;
}

/* Saves the present content of a process's ring; the ring stays. */
static int save_process(const struct record_arguments *arguments, struct weft__runs_found *ring)
{
	struct weft__runs_saved saved = {.ring = &ring->ring,
		.path = ring->path,
		.file = weft__runs_name_trace(arguments->output, &ring->ring, NULL)};
	const struct weft__runs_saving saving = weft__runs_saving_begin();
	enum weft__runs_outcome outcome =
		saved.file ? weft__runs_save(&saving, ring->path, &ring->ring, saved.file)
				   : WEFT__RUNS_NOT_SAVED;
	bool good = outcome == WEFT__RUNS_SAVED;
	if (good)
		record_report(&saved, 1, 0, NULL);
	else if (outcome == WEFT__RUNS_NEW)
		cli_error("process %d has not recorded anything yet", (int)ring->ring.pid);
	free(saved.file);
	return good ? CLI_DONE : RECORD_FAILED;
}

/* Saves the rings of the run, or ends its stream. Returns the exit status. */
static int end_run(const struct record_end *end, struct weft__runs_stream *stream)
{
	if (stream)
		return record_finish_stream(stream, end) ? end->status : RECORD_FAILED;
	if (!end->program) {
		weft__runs_directory_remove(end->directory, &(struct weft__runs_rings){0}, false);
		return end->status;
	}
	if (end->watcher)
		end->watcher->ended(end->watcher->context);
	return record_save_run(end) ? end->status : RECORD_FAILED;
}

/* Where the traces go: a file that another program has made meanwhile is not replaced. The
 * caller frees it; NULL: the current directory. */
static char *choose_output(
	const struct record_arguments *arguments, const struct weft__runs_identity *before)
{
	char *output = weft__runs_name_output(arguments->output, before);
	if (output && strcmp(output, arguments->output) != 0)
		cli_error(
			"%s was made by another program meanwhile, and stays; the traces get the next free "
			"name: rename them if they are to replace it",
			weft__runs_shown(arguments->output));
	return output;
}

/* In a directory a user expects the traces of all programs, and so does a window's list. */
static bool keeps_all(const struct record_arguments *arguments)
{
	return arguments->keep_all || arguments->watcher || arguments->in_place ||
		   (arguments->output && weft__runs_is_directory(arguments->output));
}

/* Runs or attaches to the program, which records into the directory; then saves its rings, or ends
 * the stream. */
static int record_in(const struct record_program *program, const struct record_arguments *arguments,
	struct weft__runs_stream *stream, struct weft__runs_early *early)
{
	struct weft__runs_snapshot_options snapshots = {
		.directory = program->directory,
		.output = arguments->output,
		.limit = arguments->snapshots,
		.rules = arguments->rules,
		.rule_count = arguments->rule_count,
		.early = early,
		.sampler = program->sampler,
	};
	struct weft__runs_identity before = {0, 0};
	struct weft__runs_detached *detached = NULL;
	pid_t pid = program->attached;
	int status = CLI_DONE;
	if (arguments->output)
		before = weft__runs_identify(arguments->output);
	snapshots.program = pid;
	record_rules_use(arguments->metric_rules, &snapshots);
	if (pid)
		detached = record_attached(&snapshots);
	else
		status = record_run(program, &snapshots, &pid);
	bool is_named_already = stream || arguments->in_place;
	char *output = is_named_already ? NULL : choose_output(arguments, &before);
	const struct record_end end = {
		.directory = program->directory,
		.output = is_named_already ? arguments->output : output,
		.program = pid,
		.name = pid ? arguments->program[0] : NULL,
		.status = status,
		.size_bytes = program->size_bytes,
		.in_place = program->in_place,
		.has_adapters = program->adapters.list != NULL,
		.require = arguments->require && pid,
		.keep_all = keeps_all(arguments),
		.watcher = arguments->watcher,
		.early = early,
		.ran = program->ran ? *program->ran : NULL,
	};
	int result = end_run(&end, stream);
	weft__runs_detached_finish(detached, result == status);
	free(output);
	return result;
}

/* Lets all rings of an attached process together take that much. False after a report. */
static bool limit_total(const char *directory, pid_t pid, uint64_t total_bytes)
{
	struct weft__runs_rings rings;
	struct weft_buffer_summary summary;
	char path[PATH_MAX + NAME_MAX + 1];
	size_t used = 0;
	if (!total_bytes)
		return true;
	if (!weft__runs_rings_find(directory, pid, &rings))
		return false;
	for (size_t i = 0, size; i < rings.count; i++) {
		snprintf(path, sizeof(path), "%s%s", directory, rings.list[i].name);
		if (!rings.list[i].is_failure &&
			weft__runs_ring_summarize(path, rings.list[i].pid, &summary, &size))
			used += size;
	}
	weft__runs_rings_finish(&rings);
	return weft__runs_directory_limit(directory, total_bytes, used);
}

/* Removes the run directory after a failure. An attached process stops recording. */
static void abandon(const char *directory, pid_t attached)
{
	struct cli_attached process;
	if (!attached) {
		weft__runs_directory_remove(directory, &(struct weft__runs_rings){0}, false);
		return;
	}
	snprintf(process.directory, sizeof(process.directory), "%s", directory);
	cli_detach(&process);
}

/* Makes the run directory; or attaches to the process, which makes it. False after a report. */
static bool make_directory(
	const struct record_arguments *arguments, char ret_directory[PATH_MAX], pid_t *ret_attached)
{
	*ret_attached = 0;
	if (!arguments->pid)
		return weft__runs_directory_make(arguments->total_bytes, ret_directory);
	if (!record_attach(arguments->pid, arguments->size_bytes, ret_directory, ret_attached))
		return false;
	bool good = limit_total(ret_directory, *ret_attached, arguments->total_bytes);
	if (!good)
		abandon(ret_directory, *ret_attached);
	return good;
}

/* Runs the program and saves its rings after its end, or streams them while it runs. */
static int record_program(const struct record_arguments *arguments)
{
	char directory[PATH_MAX], in_place[PATH_MAX];
	struct weft__runs_stream *stream = NULL;
	struct record_ran *ran = NULL;
	struct weft__runs_sampler sampler = {.awaits_ends = arguments->stream};
	pid_t attached;
	if (arguments->samples_hz)
		sampler.sampling.interval_ns = 1000000000 / arguments->samples_hz;
	if (weft_source_survive_truncation())
		return RECORD_FAILED;
	weft__runs_expire();
	if (arguments->in_place && !make_way(arguments->output, in_place))
		return RECORD_FAILED;
	if (!make_directory(arguments, directory, &attached))
		return RECORD_FAILED;
	/* Streams and rings in place are in the output from the beginning. */
	if (arguments->output && !arguments->stream && !arguments->in_place &&
		weft__runs_is_directory(arguments->output))
		weft__runs_directory_note_output(directory, arguments->output);
	struct record_program program = {
		.argv = arguments->program,
		.attached = attached,
		.directory = directory,
		.size_bytes = arguments->size_bytes,
		.in_place = arguments->in_place ? in_place : NULL,
		.waits = arguments->waits,
		.stdout_is_ours = weft__runs_is_stdout(arguments->output),
		.watcher = arguments->watcher,
		.samples_hz = arguments->samples_hz,
		.sampler = arguments->samples_hz ? &sampler : NULL,
		.ran = &ran,
	};
	if (!arguments->pid &&
		!record_adapters_prepare(arguments->adapters, arguments->program[0], &program.adapters)) {
		weft__runs_directory_remove(directory, &(struct weft__runs_rings){0}, false);
		return RECORD_FAILED;
	}
	struct weft__runs_stream_options streaming = arguments->streaming;
	streaming.sampling = program.sampler ? &sampler.sampling : NULL;
	if (arguments->stream && !(stream = weft__runs_stream_start(directory, &streaming))) {
		abandon(directory, attached);
		return RECORD_FAILED;
	}
	/* A stream saves all rings as they grow, and a window may still read the ring. */
	struct weft__runs_early *early = NULL;
	if (!stream && !arguments->watcher)
		early = weft__runs_early_create(directory, arguments->output, keeps_all(arguments));
	int status = record_in(&program, arguments, stream, early);
	weft__runs_early_destroy(early);
	record_ran_destroy(ran);
	free(program.adapters.preload);
	return status;
}

int record_watched(const char *command, char **program, const char *adapters, const char *output,
	uint64_t size_bytes, const struct record_watcher *watcher)
{
	struct record_arguments arguments = {.adapters = adapters,
		.output = output,
		.size_bytes = size_bytes,
		.snapshots = SNAPSHOTS_DEFAULT,
		.program = program,
		.watcher = watcher};
	if (size_bytes && size_bytes < RECORD_SIZE_MIN_BYTES)
		return cli_usage_error(command, "--size is too small; the minimum is 64K");
	int status = check(command, &arguments, 1);
	if (status)
		return status;
	return weft__runs_can_save(arguments.output) ? record_program(&arguments) : RECORD_FAILED;
}

/* Saves the ring of a process that records; attaches to one that does not. */
static int record_process(const struct record_arguments *arguments)
{
	struct weft__runs_found ring;
	bool has_page = weft__runs_has_page(arguments->pid);
	bool is_found = weft__runs_look_for(arguments->pid, &ring);
	if (has_page && !(is_found && ring.ring.is_running))
		return record_program(arguments);
	if (!is_found && !weft__runs_find_process(arguments->pid, &ring))
		return RECORD_FAILED;
	if (arguments->has_run_options)
		return cli_usage_error("record",
			"process %d records already: -p takes -o, --stream, --rotate, --max-size and --zstd only",
			(int)arguments->pid);
	if (arguments->stream)
		return record_stream_process(ring.path, &ring.ring, &arguments->streaming) ? CLI_DONE
																				   : RECORD_FAILED;
	return save_process(arguments, &ring);
}

static bool is_guest(const struct record_arguments *arguments)
{
	return !arguments->pid && weft__runs_guest_domain(arguments->program[0]);
}

/* Records a guest of Xen, as `weft collect` does, until its domain ends. */
static int collect(const struct record_arguments *arguments)
{
	const struct weft__runs_guests_options guests = {
		.operand = arguments->program[0], .once = true};
	if (!arguments->stream || arguments->has_run_options || arguments->program[1])
		return cli_usage_error("record",
			"a guest of Xen is recorded with --stream, -o, --rotate, --max-size and --zstd only; see "
			"weft collect");
	return record_stream_guests(&guests, &arguments->streaming) ? CLI_DONE : RECORD_FAILED;
}

/* True for -o xen:DOMAIN, inside a guest of Xen. */
static bool is_shared(const struct record_arguments *arguments)
{
	return arguments->output && weft__runs_guest_domain(arguments->output);
}

/* Runs the program, which shares its buffer with a domain of Xen: nothing is left to save. */
static int share(const struct record_arguments *arguments)
{
	const char *domain = weft__runs_guest_domain(arguments->output);
	struct record_program program = {
		.argv = arguments->program,
		.directory = arguments->output,
		.size_bytes = arguments->size_bytes,
	};
	if (!*domain || domain[strspn(domain, "0123456789")])
		return cli_usage_error("record",
			"-o %s: write the number of the domain that is to read, xen:0 for dom0",
			weft__runs_shown(arguments->output));
	if (arguments->stream || arguments->in_place || arguments->waits || arguments->total_bytes ||
		arguments->has_snapshots || arguments->require || arguments->pid || arguments->recover ||
		arguments->samples_hz)
		return cli_usage_error("record", "-o xen:DOMAIN takes -a and --size only");
	if (!record_adapters_prepare(arguments->adapters, program.argv[0], &program.adapters))
		return RECORD_FAILED;
	return record_become(&program);
}

static int run(const struct record_arguments *arguments)
{
	weft__runs_wall_clock_begin();
	if (is_shared(arguments))
		return share(arguments);
	if (!weft__runs_can_save(arguments->output))
		return RECORD_FAILED;
	if (arguments->recover)
		return record_recover(arguments->run, arguments->output);
	if (is_guest(arguments))
		return collect(arguments);
	return arguments->pid ? record_process(arguments) : record_program(arguments);
}

int cli_record(int argc, char **argv)
{
	struct record_arguments arguments;
	bool wanted;
	int status = parse(argc, argv, &arguments, &wanted);
	if (wanted)
		status = run(&arguments);
	record_rules_finish(arguments.metric_rules);
	return status;
}
