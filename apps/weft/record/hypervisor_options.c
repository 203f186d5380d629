/* SPDX-License-Identifier: ISC
 *
 * The options of weft record xen:host.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "hypervisor.h"
#include "record.h"
#include "runs/guests/guest.h"
#include "runs/message.h"
#include "runs/saving/name.h"
#include "runs/stream/streaming.h"

#define PAGE_BYTES UINT64_C(4096)
#define PAGES_MAX  UINT64_C(65280) /* 255 MiB */

static const char usage[] =
	"usage: weft record xen:host [-o FILE] [--events LIST] [--filter WORDS] [--duration T]\n"
	"                   [--processes] [--size BYTES] [--max-size BYTES]\n"
	"       weft record xen:host [-o DIR] [-a LIST] [OPTION…] -- PROGRAM [ARGUMENT…]\n"
	"\n"
	"Records the trace of Xen itself until Ctrl-C, with Xen's tool xentrace. Run it in dom0, as root.\n"
	"FILE is in xentrace's format. It contains the rate of the cycles, so that no --cpu-hz is needed.\n"
	"With a PROGRAM, Xen's trace lasts as long as the program, which is recorded as `weft record` does.\n"
	"\n"
	"  -o, --output FILE  the file for the trace; default: xen-host.xentrace. `-`: standard output. With\n"
	"                     a PROGRAM the directory for all traces; default: xen-host/\n"
	"  -a, --adapters LIST  of the PROGRAM; see weft record --help\n"
	"  --events LIST      what Xen records: sched, pv, hvm, mem, hw, dom0op, shadow, guest and gen,\n"
	"                     with commas between them, or a mask of Xen's (0x0002f000); default: all, or\n"
	"                     what the classes of --filter need\n"
	"  --filter WORDS     save only records of domain=N, class=NAME and span=NAME, a hypercall, fault\n"
	"                     or exit, with commas between them; those with a - in front are left out\n"
	"  --processes        also which processes dom0 runs, by the tracing of its kernel (tracefs)\n"
	"  --size BYTES       Xen's buffer for each pCPU (4M); default: 128K. Xen keeps the first size\n"
	"                     until the host is booted again\n"
	"  --duration T       end after this time (500ms, 10s)\n"
	"  --max-size BYTES   end when the file has this size; default: 16G, or half of the free disk space\n"
	"                     if that is less. 0: no limit\n"
	"  --help             this text\n"
	"\n"
	"Exit status: 0 if all was saved, or the program's; 125 if it could not be recorded, 2 invalid\n"
	"arguments.\n";

static const struct option options[] = {
	{"help", no_argument, NULL, 'h'},
	{"adapters", required_argument, NULL, 'a'},
	{"duration", required_argument, NULL, 'd'},
	{"events", required_argument, NULL, 'e'},
	{"filter", required_argument, NULL, 'f'},
	{"max-size", required_argument, NULL, 'm'},
	{"output", required_argument, NULL, 'o'},
	{"processes", no_argument, NULL, 'p'},
	{"size", required_argument, NULL, 's'},
	{NULL, 0, NULL, 0},
};

bool record_hypervisor_is_meant(const char *operand)
{
	const char *domain = weft__runs_guest_domain(operand);
	return domain && strcmp(domain, "host") == 0;
}

/* Xen counts pages of a buffer in 16 bits. False after a message. */
static bool take_size(const char *text, uint32_t *ret_pages)
{
	uint64_t bytes;
	if (!cli_parse_size("record", "--size", text, &bytes))
		return false;
	if (bytes < PAGE_BYTES || bytes > PAGES_MAX * PAGE_BYTES) {
		cli_usage_error("record", "--size: from 4K to 255M for each pCPU");
		return false;
	}
	*ret_pages = (uint32_t)((bytes + PAGE_BYTES - 1) / PAGE_BYTES);
	return true;
}

/* False after a message. */
static bool take_option(
	int option, struct record_hypervisor *request, struct weft__runs_stream_options *streaming)
{
	switch (option) {
	case 'a':
		request->adapters = optarg;
		return record_adapters_check("record", optarg);
	case 'd':
		return cli_parse_duration("record", "--duration", optarg, &request->duration_ns);
	case 'e':
		return xen_events_parse("record", optarg, &request->events);
	case 'f':
		return xen_filter_parse("record", optarg, &request->filter);
	case 'm':
		return record_streaming_take("record", option, optarg, streaming);
	case 'o':
		request->output = optarg;
		return true;
	case 'p':
		request->has_processes = true;
		return true;
	case 's':
		return take_size(optarg, &request->pages);
	default:
		return false;
	}
}

/* Takes the operand xen:host, behind which options may follow; a program's own options may not. */
static bool take_host(int argc, char **argv, bool *has_host)
{
	if (*has_host || optind == argc || !record_hypervisor_is_meant(argv[optind]))
		return false;
	optind++;
	return *has_host = true;
}

/* CLI_DONE, or after a message CLI_USAGE. */
static int check(const struct record_hypervisor *request)
{
	if (!*request->output)
		return cli_usage_error("record", "-o: the file's name is empty");
	if (!request->program && request->adapters)
		return cli_usage_error("record", "-a needs a PROGRAM");
	if (request->program && weft__runs_guest_domain(request->program[0]))
		return cli_usage_error("record", "xen:host cannot be recorded with %s; see weft-collect(1)",
			weft__runs_shown(request->program[0]));
	if (request->program && weft__runs_is_stdout(request->output))
		return cli_usage_error("record", "-o needs a directory for the traces of Xen and of %s",
			weft__runs_shown(request->program[0]));
	if (weft__runs_is_stdout(request->output) && isatty(STDOUT_FILENO))
		return cli_usage_error(
			"record", "refusing to write a binary trace to a terminal; use -o FILE or a pipe");
	return CLI_DONE;
}

/* Refuses to replace a file that is not a trace of Xen. False after a message. */
static bool can_replace(const char *output)
{
	struct stat status;
	struct cli_trace trace;
	if (weft__runs_is_stdout(output) || stat(output, &status) != 0 || !S_ISREG(status.st_mode) ||
		status.st_size == 0)
		return true;
	bool good = cli_trace_open(output, &trace) == CLI_DONE;
	if (good) {
		good = weft_decoder_has_xentrace(trace.decoder);
		cli_trace_close(&trace);
	}
	if (!good)
		cli_error("%s exists and is not a trace of Xen; refusing to replace it",
			weft__runs_shown(output));
	return good;
}

/* CLI_DONE and the request. If `*ret_run` is false, the result is the exit status. */
static int parse(int argc, char **argv, struct record_hypervisor *request,
	struct weft__runs_stream_options *streaming, bool *ret_run)
{
	bool has_host = false;
	*ret_run = false;
	optind = 0; /* restart getopt */
	for (;;) {
		int option = cli_next_leading_option(argc, argv, options);
		if (option == 'h')
			return cli_help(usage);
		if (option == -1 && !take_host(argc, argv, &has_host))
			break;
		if (option != -1 && !take_option(option, request, streaming))
			return CLI_USAGE;
	}
	if (optind < argc)
		request->program = argv + optind;
	if (!request->output)
		request->output = request->program ? "xen-host/" : "xen-host.xentrace";
	*ret_run = check(request) == CLI_DONE;
	return *ret_run ? CLI_DONE : CLI_USAGE;
}

/* Makes the directory, and puts Xen's trace into it. False after a message. */
static bool use_directory(
	struct record_hypervisor *request, char directory[PATH_MAX], char file[PATH_MAX])
{
	const char *output = request->output, *slash = output[strlen(output) - 1] == '/' ? "" : "/";
	if (!request->program)
		return true;
	if (snprintf(directory, PATH_MAX, "%s%s", output, slash) >= PATH_MAX ||
		snprintf(file, PATH_MAX, "%s%sxen-host.xentrace", output, slash) >= PATH_MAX) {
		cli_error("%s: %s", weft__runs_shown(output), strerror(ENAMETOOLONG));
		return false;
	}
	request->directory = directory;
	request->output = file;
	return weft__runs_can_save(directory);
}

/* Returns the exit status. */
static int record_host(struct record_hypervisor *request,
	struct weft__runs_stream_options *streaming, struct weft_host *host)
{
	char directory[PATH_MAX], file[PATH_MAX];
	if (!use_directory(request, directory, file) || !can_replace(request->output))
		return RECORD_FAILED;
	streaming->output = request->output;
	request->max_bytes =
		streaming->has_max ? streaming->max_bytes : weft__runs_stream_usual_limit(streaming);
	if (!request->events)
		request->events = xen_events_for(&request->filter);
	return record_hypervisor_run(request, host);
}

int record_hypervisor(int argc, char **argv)
{
	char reason[WEFT_GUEST_REASON_BYTES];
	struct record_hypervisor request = {.output = NULL};
	struct weft__runs_stream_options streaming = {0};
	struct weft_host *host;
	bool runs;
	int status = parse(argc, argv, &request, &streaming, &runs);
	if (!runs)
		return status;
	if (weft_host_open(&host, reason) != 0) {
		cli_error("xen:host: %s", reason);
		return RECORD_FAILED;
	}
	status = record_host(&request, &streaming, host);
	weft_host_close(host);
	return status;
}
