/* SPDX-License-Identifier: ISC
 *
 * weft tail: prints the events of a running program as they come.
 */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weft/follow.h>
#include <weft/lines.h>

#include "cli/attach.h"
#include "runs/guests/guest.h"
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

/* Size of written blocks; a line has about 100 bytes. */
#define BLOCK_BYTES ((size_t)64 << 10)

static const uint64_t SECOND_NS = 1000000000;

struct tail {
	const char *name;
	struct weft_follow *follow;
	struct weft_lines lines;
	struct weft_text text;
	uint64_t start_ns; /* times in text count from here */
	uint64_t from_ns;  /* earlier events are not printed */
	uint64_t reported[WEFT_LOSS_CAUSES];
	time_t reported_at;
	uint64_t count;
	bool json;
};

/* Prints new losses by cause, at most once a second unless it is the `last` time. */
static void report_losses(struct tail *t, bool last)
{
	const uint64_t *losses = weft_follow_describe(t->follow)->losses;
	if (time(NULL) == t->reported_at && !last)
		return;
	t->reported_at = time(NULL);
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++) {
		uint64_t lost = losses[cause] - t->reported[cause];
		t->reported[cause] = losses[cause];
		if (lost)
			cli_inform("%s: %" PRIu64 " event%s lost (%s)", t->name, lost, lost == 1 ? "" : "s",
				cause == WEFT_LOSS_STALLED       ? "stalled: overwritten before they were read"
				: cause == WEFT_LOSS_OVERWRITTEN ? "overwritten before tail began"
												 : weft_loss_name((enum weft_loss)cause));
	}
}

static void add_event(struct tail *t, const struct weft_event *event)
{
	const struct weft_trace_description *trace = weft_follow_describe(t->follow);
	if (t->count == 0)
		t->start_ns = event->time_ns;
	if (t->count++ == 0 || trace->thread_count > 1)
		weft_lines_init(&t->lines, trace, t->start_ns);
	if (t->json)
		weft_lines_add_json(&t->lines, event, &t->text);
	else
		weft_lines_add_text(&t->lines, event, &t->text);
}

/* Flushes at once, so that the reader of a pipe gets it now. */
static bool flush(struct tail *t)
{
	return t->text.size == 0 || (cli_write(&t->text) && fflush(stdout) == 0);
}

/* Prints all available events. WEFT_AGAIN, WEFT_END or an error; WEFT_OK: stop. */
static int print_ready(struct tail *t)
{
	struct weft_event event;
	int status;
	while (!cli_is_interrupted() && (status = weft_follow_next(t->follow, &event)) == WEFT_OK) {
		if (event.time_ns < t->from_ns)
			continue;
		add_event(t, &event);
		if (t->text.size >= BLOCK_BYTES) {
			report_losses(t, false);
			if (!flush(t))
				return WEFT_OK;
		}
	}
	if (!flush(t) || cli_is_interrupted())
		return WEFT_OK;
	return status;
}

static int print_all(struct tail *t)
{
	int status;
	while ((status = print_ready(t)) == WEFT_AGAIN) {
		report_losses(t, false);
		status = weft_follow_wait(t->follow, SECOND_NS);
		if (status < 0)
			break;
	}
	return status;
}

static void report_diagnostics(const struct tail *t)
{
	const struct weft_diagnostics *diagnostics = weft_follow_diagnostics(t->follow);
	for (size_t i = 0; i < diagnostics->count; i++)
		cli_inform("%s: offset 0x%" PRIx64 ": %s (×%" PRIu64 ")", t->name,
			diagnostics->list[i].offset, diagnostics->list[i].message, diagnostics->list[i].count);
}

/* The first Ctrl-C ends the command after printing what was read; the second ends it at once. */
static int tail(struct tail *t, bool only_new)
{
	cli_catch_interrupts();
	if (only_new) {
		/* After a second look, the low-water mark is at least the time of the first. */
		weft_follow_wait(t->follow, 0);
		weft_follow_wait(t->follow, 0);
		t->from_ns = weft_follow_mark(t->follow);
	}
	int status = print_all(t);
	report_losses(t, true);
	report_diagnostics(t);
	weft_text_finish(&t->text);
	if (status < 0) {
		cli_inform("%s: %s", t->name, weft_error_text(status));
		return CLI_UNREADABLE;
	}
	if (status == WEFT_END && t->count == 0 && !only_new)
		cli_inform("%s: a valid trace without events", t->name);
	return CLI_DONE;
}

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
static int tail_guest(char *operand, bool json, bool only_new)
{
	struct tail t = {.name = operand, .json = json};
	struct weft__runs_guest guest;
	if (!weft__runs_guest_open(operand, &guest))
		return CLI_UNREADABLE;
	int status = CLI_UNREADABLE, error = 0;
	const void *bytes;
	size_t size;
	if (weft_guest_bytes(guest.guest, &bytes, &size))
		status = tail_pages(guest.guest, &(struct tail_pages_options){json, only_new});
	else if (!(error = weft_follow_open_guest(guest.guest, &t.follow)))
		status = tail(&t, only_new);
	weft_follow_close(t.follow);
	weft__runs_guest_close(&guest);
	if (error)
		cli_trace_explain(operand, error);
	return status;
}

/* Opens a file that the user named, or a process's ring. */
static int open_follow(
	const char *path, const struct weft__runs_found *ring, struct weft_follow **ret_follow)
{
	if (!ring->ring.pid)
		return weft_follow_open(path, ret_follow);
	int fd = weft__runs_ring_open(path, ring->ring.pid, WEFT_RING_WRITE);
	if (fd < 0)
		return WEFT_ERROR_STATE;
	int error = weft_follow_open_descriptor(fd, ret_follow);
	close(fd);
	return error;
}

static int open_and_tail(char *path, const struct weft__runs_found *ring, bool json, bool only_new)
{
	struct tail t = {.name = path, .json = json};
	int error = weft_source_survive_truncation();
	if (!error)
		error = open_follow(path, ring, &t.follow);
	if (error == WEFT_ERROR_STATE) /* a message was printed */
		return CLI_UNREADABLE;
	bool is_other = error == WEFT_ERROR_FORMAT || error == WEFT_ERROR_EMPTY;
	const struct tail_xentrace records = {.json = json, .only_new = only_new, .end_ns = UINT64_MAX};
	if (is_other && !ring->ring.pid && tail_xentrace_fits(path))
		return tail_xentrace(path, &records);
	if (strcmp(path, "-") == 0 || (is_other && !ring->ring.pid))
		return dump(path, json);
	if (error) {
		cli_inform(
			"%s: %s", path, error == WEFT_ERROR_SYSTEM ? strerror(errno) : weft_error_text(error));
		return CLI_UNREADABLE;
	}
	int status = tail(&t, only_new);
	weft_follow_close(t.follow);
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
	bool json = false, only_new = false;
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (option == '?')
			return CLI_USAGE;
		json |= option == 'j';
		only_new |= option == 'n';
	}
	if (!cli_only_operand(argc, argv, "FILE or PID"))
		return CLI_USAGE;
	struct weft__runs_found ring;
	struct cli_attached attached;
	if (weft__runs_guest_domain(argv[argc - 1]))
		return tail_guest(argv[argc - 1], json, only_new);
	char *path = cli_attach_path(argv[argc - 1], &ring, &attached);
	int status = path ? open_and_tail(path, &ring, json, only_new) : CLI_UNREADABLE;
	cli_detach(&attached);
	return status;
}
