/* SPDX-License-Identifier: ISC
 *
 * weft ctl: controls a running program. Its table of verbs; each verb has a file of its own.
 */
#include "ctl.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "abi/buffer_abi.h"
#include "runs/directory/find.h"
#include "runs/guests/guest.h"
#include "runs/message.h"

static const char usage[] =
	"usage: weft ctl [--json] FILE|PID status\n"
	"       weft ctl FILE|PID set CATEGORY=LEVEL...\n"
	"       weft ctl [--json] xen:GUEST status\n"
	"       weft ctl xen:GUEST set CATEGORY=LEVEL...\n"
	"       weft ctl FILE|PID snapshot [-o FILE] [--hold] [--when RULE]\n"
	"       weft ctl FILE|PID rundown\n"
	"       weft ctl PID start [--size BYTES]\n"
	"       weft ctl PID stop\n"
	"\n"
	"Controls a recording program. PID is a process under `weft record`, see `weft ls`; FILE is\n"
	"the file that a program records into. In dom0, xen:GUEST is the buffer of a guest of Xen,\n"
	"by the domain's name or number, with /BUFFER if it has several: see `weft ls`.\n"
	"\n"
	"  status    print the program, its categories and their levels\n"
	"  set       record calls of CATEGORY at that LEVEL or a more important one: off, error,\n"
	"            warning, info, debug or trace. At count, calls are counted, not recorded.\n"
	"            In a CATEGORY each `*` stands for any text; `*` alone means all, and those\n"
	"            that are registered later\n"
	"  snapshot  save what is recorded so far; the program goes on\n"
	"  rundown   ask the program to write again which tasks are alive, so that a trace that has\n"
	"            wrapped names them; print how many there are\n"
	"  start     make a process record that runs already and is linked with libweft: `weft ls` lists\n"
	"            it as linked. It records until `stop`, and nothing is saved before\n"
	"  stop      end that; weft-record(1) says how to recover the trace\n"
	"\n"
	"  --json    print the status as one JSON object\n"
	"  -o, --output FILE  the file for the snapshot; default: PROGRAM-PID.snapshot-1.weft in the\n"
	"            current directory, with the next free number; `-`: standard output\n"
	"  --hold    prevent overwriting while the snapshot is copied, for a second at most; events\n"
	"            that find no room meanwhile are lost, and counted as held\n"
	"  --when RULE  take the snapshot as soon as RULE fires, for example 'counter queue > 100',\n"
	"            'tag timeout', 'runs > 50ms', 'waits > 1s kind=bind label=query'\n"
	"  --size BYTES  for start: the size of the buffer, 64K at least; default: 16M, or less if there\n"
	"            is little room\n"
	"  --help    this text\n";

struct verb {
	const char *name;
	int (*run)(struct ctl *ctl, int count, char **arguments);
	int (*check)(const struct ctl *ctl, int count, char **arguments); /* NULL: nothing to check */
	bool has_arguments;
	bool opens;      /* runs with the open file */
	bool has_guests; /* also for a guest of Xen */
};

static const struct verb verbs[] = {
	{"set", ctl_set, ctl_set_check, true, true, true},
	{"rundown", ctl_rundown, NULL, false, true, false},
	{"snapshot", ctl_snapshot, ctl_snapshot_check, false, true, false},
	{"start", ctl_start, NULL, false, false, false},
	{"status", ctl_status, NULL, false, true, true},
	{"stop", ctl_stop, NULL, false, false, false},
};

static const char *const verb_names[] = {
	"status", "set", "snapshot", "rundown", "start", "stop", NULL};

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

/* Reports invalid arguments before searching for the program. */
static int check(const struct ctl *ctl, const struct verb *verb, int count, char **arguments)
{
	if ((ctl->output || ctl->hold || ctl->when) && verb->run != ctl_snapshot)
		return cli_usage_error("ctl", "only `snapshot` takes -o, --hold and --when");
	if (ctl->json && verb->run != ctl_status)
		return cli_usage_error("ctl", "only `status` takes --json");
	if (ctl->size_bytes && verb->run != ctl_start)
		return cli_usage_error("ctl", "only `start` takes --size");
	if (ctl->output && !*ctl->output)
		return cli_usage_error("ctl", "-o: the file's name is empty");
	if (count && !verb->has_arguments)
		return cli_usage_error(
			"ctl", "%s takes no argument: \"%s\" is too many", verb->name, arguments[0]);
	return verb->check ? verb->check(ctl, count, arguments) : CLI_DONE;
}

int ctl_fail(const struct ctl *ctl, int error)
{
	int reason = errno;
	if (error == WEFT_ERROR_STATE)
		cli_error("%s: no program records here: it has ended or stopped recording",
			weft__runs_shown(ctl->operand));
	else if (error == WEFT_ERROR_UNSUPPORTED)
		cli_error("%s: its libweft cannot count: it is older than the level count; nothing is set",
			weft__runs_shown(ctl->operand));
	else if (error == WEFT_ERROR_SYSTEM && ctl->is_guest)
		cli_error(
			"%s: the guest lets dom0 read its buffer, but not write to it: its recorder is older "
			"than that, or a unikernel's function `grant` does not do it; nothing is set",
			weft__runs_shown(ctl->operand));
	else if (error == WEFT_ERROR_FORMAT || error == WEFT_ERROR_EMPTY)
		cli_error("%s: not a buffer that a program records into", weft__runs_shown(ctl->operand));
	else
		cli_error("%s: %s", weft__runs_shown(ctl->operand),
			error == WEFT_ERROR_SYSTEM ? strerror(reason) : weft_error_text(error));
	return error == WEFT_ERROR_STATE || error == WEFT_ERROR_SYSTEM ||
				   error == WEFT_ERROR_UNSUPPORTED
			   ? CLI_NO
			   : CLI_UNREADABLE;
}

static int open_and_run(struct ctl *ctl, const struct verb *verb, int count, char **arguments)
{
	struct weft__runs_found ring;
	int status = CLI_UNREADABLE, error = weft_source_survive_truncation();
	const char *path = error ? NULL : weft__runs_path(ctl->operand, &ring);
	if (!path)
		return CLI_UNREADABLE;
	ctl->fd = weft__runs_open_operand(path, &ring);
	ctl->pid = ring.ring.pid;
	if (ctl->fd < 0)
		return CLI_UNREADABLE;
	error = weft_control_open_descriptor(ctl->fd, &ctl->control);
	if (error)
		ctl_fail(ctl, error);
	else
		status = verb->run(ctl, count, arguments);
	weft_control_close(ctl->control);
	close(ctl->fd);
	return status;
}

static bool parse_ring_size(const char *text, uint64_t *ret_bytes)
{
	if (!cli_parse_size("ctl", "--size", text, ret_bytes))
		return false;
	if (*ret_bytes < WEFT_ABI_BUFFER_MIN_BYTES)
		cli_usage_error("ctl", "--size: \"%s\" is too small; the minimum is 64K", text);
	return *ret_bytes >= WEFT_ABI_BUFFER_MIN_BYTES;
}

static int refuse_guest(const char *operand, const char *verb)
{
	const char *shown = weft__runs_shown(operand);
	cli_error(
		"%s: `%s` is for processes of this system; for a guest of Xen there are `status` and "
		"`set`, `weft dump %s` prints what it has recorded so far, and `weft collect %s` saves "
		"it",
		shown, verb, shown, shown);
	return CLI_NO;
}

static int open_guest_and_run(struct ctl *ctl, const struct verb *verb, int count, char **arguments)
{
	struct weft__runs_guest guest;
	int status = CLI_UNREADABLE;
	if (!verb->has_guests)
		return refuse_guest(ctl->operand, verb->name);
	if (!weft__runs_guest_open(ctl->operand, &guest))
		return CLI_UNREADABLE;
	ctl->is_guest = true;
	int error = weft_control_open_guest(guest.guest, &ctl->control);
	if (error)
		ctl_fail(ctl, error);
	else
		status = verb->run(ctl, count, arguments);
	weft_control_close(ctl->control);
	weft__runs_guest_close(&guest);
	return status;
}

int cli_ctl(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"hold", no_argument, NULL, 'H'},
		{"json", no_argument, NULL, 'j'},
		{"output", required_argument, NULL, 'o'},
		{"size", required_argument, NULL, 's'},
		{"when", required_argument, NULL, 'w'},
		{NULL, 0, NULL, 0},
	};
	struct ctl ctl = {0};
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (option == '?')
			return CLI_USAGE;
		ctl.json |= option == 'j';
		ctl.hold |= option == 'H';
		if (option == 'o')
			ctl.output = optarg;
		if (option == 'w')
			ctl.when = optarg;
		if (option == 's' && !parse_ring_size(optarg, &ctl.size_bytes))
			return CLI_USAGE;
	}
	if (optind == argc)
		return cli_usage_error(argv[0], "FILE or PID is missing");
	if (optind + 1 == argc)
		return cli_usage_error(
			argv[0], "a command is missing: status, set, snapshot, rundown, start or stop");
	ctl.operand = argv[optind];
	const struct verb *verb = find_verb(argv[optind + 1]);
	if (!verb)
		return cli_unknown_value(argv[0], "command", argv[optind + 1], verb_names);
	int count = argc - optind - 2;
	char **arguments = argv + optind + 2;
	int status = check(&ctl, verb, count, arguments);
	if (status)
		return status;
	if (weft__runs_guest_domain(ctl.operand))
		return open_guest_and_run(&ctl, verb, count, arguments);
	return (verb->opens ? open_and_run(&ctl, verb, count, arguments)
						: verb->run(&ctl, count, arguments));
}
