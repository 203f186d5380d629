/* SPDX-License-Identifier: ISC
 *
 * The first event is read before anything is written, so that an existing file stays if the input
 * is not a trace.
 */
#include "chrome_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <weft/export.h>

#include "cli/output.h"

static int append(void *output, const void *bytes, size_t size)
{
	return cli_output_append(output, bytes, size) ? 0 : WEFT_ERROR_SYSTEM;
}

/* The result: an error while reading, or while writing. */
struct chrome_outcome {
	int read_error, write_error;
	uint64_t events;
	bool interrupted;
};

/* Copies all events, or those before Ctrl-C; `event` is the first one, if `status` is WEFT_OK. */
static struct chrome_outcome copy_events(const struct cli_trace *trace, int status,
	struct weft_event *event, struct weft_export_chrome *chrome)
{
	struct chrome_outcome outcome = {0};
	const struct weft_trace_description *description = weft_decoder_describe(trace->decoder);
	while (status == WEFT_OK && !outcome.write_error) {
		outcome.write_error = weft_export_chrome_add(chrome, event, description);
		status = weft_decoder_next(trace->decoder, event);
		if (++outcome.events % 65536 == 0 && !cli_progress_step(outcome.events)) {
			outcome.interrupted = status == WEFT_OK;
			break;
		}
	}
	if (status < 0)
		outcome.read_error = status;
	else if (!outcome.write_error)
		outcome.write_error = weft_export_chrome_finish(chrome, description);
	return outcome;
}

static int fail(
	const struct cli_trace *trace, const char *path, struct chrome_outcome outcome, int reason)
{
	if (outcome.read_error)
		return cli_trace_fail(trace, outcome.read_error);
	cli_error("%s: %s", strcmp(path, "-") == 0 ? "standard output" : path,
		outcome.write_error == WEFT_ERROR_SYSTEM ? strerror(reason)
												 : weft_error_text(outcome.write_error));
	return CLI_NO;
}

static int write_file(
	const struct cli_trace *trace, int status, struct weft_event *event, const char *path)
{
	struct cli_output output;
	struct weft_export_chrome *chrome = NULL;
	if (!cli_output_open(path, &output))
		return CLI_NO;
	const struct weft_export_chrome_sink sink = {append, &output};
	struct chrome_outcome outcome = {.write_error = weft_export_chrome_create(&sink, &chrome)};
	cli_progress_start();
	if (!outcome.write_error)
		outcome = copy_events(trace, status, event, chrome);
	const int reason = errno;
	cli_progress_end();
	weft_export_chrome_destroy(chrome);
	cli_trace_report(trace);
	if (outcome.read_error || outcome.write_error) {
		cli_output_abandon(&output);
		return fail(trace, path, outcome, reason);
	}
	if (!cli_output_commit(&output))
		return CLI_NO;
	if (outcome.interrupted) {
		cli_error("interrupted: %s has the first %" PRIu64 " events", path, outcome.events);
		cli_progress_die_if_interrupted();
	}
	return CLI_DONE;
}

int chrome_export(const struct cli_trace *trace, const char *path)
{
	struct weft_event event;
	int status = weft_decoder_next(trace->decoder, &event);
	if (status < 0) {
		cli_trace_report(trace);
		return cli_trace_fail(trace, status);
	}
	return write_file(trace, status, &event, path);
}
