/* SPDX-License-Identifier: ISC
 *
 * weft index: notes what is alive at times of a trace, in a file beside it, so that parts of it are
 * read without the rest.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/checkpoint.h"
#include "cli/output.h"

static const char usage[] =
	"usage: weft index FILE... [--spacing N] [--max-size SIZE]\n"
	"\n"
	"Notes what is alive at times of the trace FILE, in FILE.weft-index: from then on `weft cut`\n"
	"reads only the part of a large trace that it writes, with the same result, and ranges that are\n"
	"read alone begin with what is alive. A trace that has changed since is read as a whole again.\n"
	"\n"
	"  --spacing N      at least N events between two such times; default: 262144\n"
	"  --max-size SIZE  refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                   times its own size\n"
	"  --help           this text\n";

enum {
	OPTION_HELP = 256,
	OPTION_SPACING,
};

static const struct option long_options[] = {
	{"help", no_argument, NULL, OPTION_HELP},
	{"spacing", required_argument, NULL, OPTION_SPACING},
	CLI_MAX_SIZE_OPTION,
	{NULL, 0, NULL, 0},
};

/* A file that is being made. */
struct indexing {
	const char *path;
	uint64_t spacing;
	struct weft_checkpoint_key key;
	struct cli_output output;
	struct weft_checkpoints *checkpoints;
	uint64_t events, bytes;
};

static int append(void *context, const void *bytes, size_t size)
{
	struct indexing *it = context;
	it->bytes += size;
	return cli_output_append(&it->output, bytes, size) ? 0 : WEFT_ERROR_SYSTEM;
}

static int look(struct indexing *it, const struct cli_trace *trace, const struct weft_event *event)
{
	(void)trace;
	return weft_checkpoints_look(it->checkpoints, event);
}

static int add(struct indexing *it, const struct cli_trace *trace, const struct weft_event *event)
{
	return weft_checkpoints_add(it->checkpoints, event, weft_decoder_describe(trace->decoder));
}

typedef int take_function(
	struct indexing *it, const struct cli_trace *trace, const struct weft_event *event);

/* Takes all events. CLI_DONE, or another status after a message. */
static int pass(struct indexing *it, const struct cli_trace *trace, take_function *take)
{
	struct weft_event event;
	int status, error = 0;
	it->events = 0;
	while ((status = weft_decoder_next(trace->decoder, &event)) == WEFT_OK) {
		error = take(it, trace, &event);
		if (error || (++it->events % 65536 == 0 && !cli_progress_step(it->events)))
			break;
	}
	if (status == WEFT_OK && !error)
		return CLI_NO; /* interrupted */
	if (status < 0)
		return cli_trace_fail(trace, status);
	if (error == WEFT_ERROR_DAMAGED)
		cli_error("%s: a task is created twice, or by its own descendant, so what is alive is not "
				  "certain",
			trace->name);
	else if (error)
		cli_error("%s: %s", it->path, weft_error_text(error));
	return error ? CLI_NO : CLI_DONE;
}

/* Events of damaged packets are in the whole trace at times at which a part may lack them. */
static bool is_whole(const struct cli_trace *trace)
{
	if (weft_decoder_diagnostics(trace->decoder)->count == 0)
		return true;
	cli_trace_report(trace);
	cli_error("%s is damaged: its parts are cut from the whole", trace->name);
	return false;
}

static int first_pass(struct indexing *it, const char *path)
{
	struct cli_trace trace;
	int status = cli_trace_open(path, &trace);
	if (status)
		return status;
	const struct weft_cut_sink sink = {append, it};
	if (!cli_checkpoint_key(&trace, path, &it->key)) {
		cli_error("%s: only a file in weft's own format, of a program that has ended or as a "
				  "stream, is read in parts",
			trace.name);
		status = CLI_NO;
	} else if (weft_checkpoints_create(&it->key, it->spacing, &sink, &it->checkpoints)) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		status = CLI_NO;
	}
	if (!status)
		status = pass(it, &trace, look);
	if (!status && !is_whole(&trace))
		status = CLI_NO;
	cli_trace_close(&trace);
	return status;
}

static int finish(struct indexing *it, const struct cli_trace *trace, const char *path)
{
	struct weft_checkpoint_key key;
	if (!cli_checkpoint_key(trace, path, &key) || memcmp(&key, &it->key, sizeof(key)) != 0) {
		cli_error("%s has changed meanwhile", trace->name);
		return CLI_NO;
	}
	int error = weft_checkpoints_finish(it->checkpoints, weft_decoder_describe(trace->decoder));
	if (!error)
		return CLI_DONE;
	cli_error(
		"%s: %s", it->path, error == WEFT_ERROR_SYSTEM ? strerror(errno) : weft_error_text(error));
	return CLI_NO;
}

static int second_pass(struct indexing *it, const char *path)
{
	struct cli_trace trace;
	int status = cli_trace_open(path, &trace);
	if (status)
		return status;
	if (!cli_output_open(it->path, &it->output)) {
		cli_trace_close(&trace);
		return CLI_NO;
	}
	status = pass(it, &trace, add);
	if (!status)
		status = finish(it, &trace, path);
	cli_trace_close(&trace);
	if (status || !weft_checkpoints_count(it->checkpoints))
		cli_output_abandon(&it->output);
	else if (!cli_output_commit(&it->output))
		status = CLI_NO;
	return status;
}

static void report(const struct indexing *it, const char *path)
{
	const size_t count = weft_checkpoints_count(it->checkpoints);
	if (count)
		cli_inform("%s: %zu checkpoints, %.1f MB", it->path, count, (double)it->bytes / 1e6);
	else if (it->events <= it->spacing)
		cli_inform("%s has %" PRIu64 " events, no more than --spacing: it needs no checkpoints",
			path, it->events);
	else
		cli_inform("%s has no time at which all that is alive is certain: no checkpoints", path);
}

static int make_index(const char *path, uint64_t spacing)
{
	char *own = cli_checkpoint_path(path);
	struct indexing it = {.path = own, .spacing = spacing};
	if (!own) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return CLI_NO;
	}
	int status = first_pass(&it, path);
	if (!status)
		status = second_pass(&it, path);
	if (!status)
		report(&it, path);
	weft_checkpoints_destroy(it.checkpoints);
	free(own);
	return status;
}

int cli_index(int argc, char **argv)
{
	uint64_t spacing = 1 << 18;
	for (int code; (code = cli_next_option(argc, argv, long_options)) != -1;) {
		if (code == OPTION_HELP)
			return cli_help(usage);
		if (code != OPTION_SPACING ||
			!cli_parse_number("index", "--spacing", optarg, 1, UINT32_MAX, &spacing))
			return CLI_USAGE;
	}
	const int count = cli_count_operands(argc, argv, "FILE");
	int status = count ? CLI_DONE : CLI_USAGE;
	cli_progress_start();
	for (int i = 0; i < count && !status; i++)
		status = make_index(argv[optind + i], spacing);
	cli_progress_end();
	cli_progress_die_if_interrupted();
	return status;
}
