/* SPDX-License-Identifier: ISC
 *
 * weft tail: prints the events of a running program as they come.
 */
#include "cli/cli.h"

#include <getopt.h>
#include <string.h>

#include <weft/follow.h>

#include "cli/attach.h"
#include "runs/guests/guest.h"
#include "runs/memory/operand.h"
#include "runs/message.h"
#include "tail.h"
#include "xentrace.h"

static const char usage[] =
	"usage: weft tail [--json] [--new] [--max-size SIZE] [--cpu-hz HZ] FILE|PID\n"
	"\n"
	"Prints the events of a running program as they come, like `weft dump`, until the program\n"
	"ends. FILE is the file that it records into; PID is a process of `weft ls`: if it does not\n"
	"record, it is made to until Ctrl-C. A finished trace, in any format, is printed completely;\n"
	"of a trace of Xen that is being written, the records are printed as they come.\n"
	"The program is not disturbed, and does not wait: events that it overwrites before they were\n"
	"read are lost, and their number is printed on standard error.\n"
	"\n"
	"  --json           one JSON object on each line\n"
	"  --new            print only events that are recorded from now on\n"
	"  --max-size SIZE  refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                   times its own size, and 4G for a pipe\n"
	"  --cpu-hz HZ      the rate of the cycles in a trace of Xen (2596.15M); default: estimated\n"
	"  --help           this text\n";

/* Lets dump print a file of another format, or report what is wrong with it. */
static int dump(char *path, bool json)
{
	char name[] = "dump", option[] = "--json", end[] = "--";
	char *with_json[] = {name, option, end, path, NULL};
	char *without[] = {name, end, path, NULL};
	optind = 0; /* restart getopt */
	return json ? cli_dump(4, with_json) : cli_dump(3, without);
}

/* Follows the buffer of a guest of Xen. CLI_DONE, or CLI_UNREADABLE after a message. */
static int tail_guest(const struct tail_events *what)
{
	struct weft__runs_guest guest;
	struct weft_growing *growing = NULL;
	if (!weft__runs_guest_open(what->name, &guest))
		return CLI_UNREADABLE;
	const struct weft_growing_spec spec = {.size = sizeof(spec), .guest = guest.guest};
	int error = weft_input_open_growing(&spec, &growing);
	int status = error ? cli_trace_explain(what->name, error) : tail_events(growing, what);
	weft_growing_close(growing);
	weft__runs_guest_close(&guest);
	return status;
}

static int explain(const char *path, int error, const struct weft_ring_check *check)
{
	if (!check->reason[0])
		return cli_trace_explain(path, error);
	cli_inform("%s: %s", path, check->reason);
	return CLI_UNREADABLE;
}

/* Follows a file that the user named, or a process's ring. */
static int tail_file(char *path, const pid_t *pid, const struct tail_events *what)
{
	struct weft_ring_check check = {.reason = ""};
	const char *const paths[] = {path};
	const struct weft_growing_spec spec = {.size = sizeof(spec),
		.paths = paths,
		.count = 1,
		.pids = pid,
		.ret_check = &check,
		.what = WEFT_GROWING_RING};
	struct weft_growing *growing = NULL;
	int error = weft_source_survive_truncation();
	if (!error)
		error = weft_input_open_growing(&spec, &growing);
	bool is_other = !*pid && (error == WEFT_ERROR_FORMAT || error == WEFT_ERROR_EMPTY);
	const struct tail_xentrace records = {
		.json = what->json, .only_new = what->only_new, .end_ns = UINT64_MAX};
	if (is_other && tail_xentrace_fits(path))
		return tail_xentrace(path, &records);
	if (strcmp(path, "-") == 0 || is_other)
		return dump(path, what->json);
	if (error)
		return explain(path, error, &check);
	int status = tail_events(growing, what);
	weft_growing_close(growing);
	return status;
}

int cli_tail(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"json", no_argument, NULL, 'j'},
		CLI_MAX_SIZE_OPTION,
		CLI_CPU_HZ_OPTION,
		{"new", no_argument, NULL, 'n'},
		{NULL, 0, NULL, 0},
	};
	struct tail_events what = {.name = NULL};
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (option == '?')
			return CLI_USAGE;
		what.json |= option == 'j';
		what.only_new |= option == 'n';
	}
	if (!cli_only_operand(argc, argv, "FILE or PID"))
		return CLI_USAGE;
	struct weft__runs_found ring;
	struct cli_attached attached;
	what.name = argv[argc - 1];
	if (weft__runs_guest_domain(what.name))
		return tail_guest(&what);
	if (weft__runs_is_image(what.name)) {
		cli_error("%s: a ring in memory is read as it is now: `weft dump` prints it",
			weft__runs_shown(what.name));
		return CLI_USAGE;
	}
	char *path = cli_attach_path(argv[argc - 1], &ring, &attached);
	what.name = path;
	int status = path ? tail_file(path, &ring.ring.pid, &what) : CLI_UNREADABLE;
	cli_detach(&attached);
	return status;
}
