/* SPDX-License-Identifier: ISC
 *
 * The first event is read before anything is written, so that an existing file stays if the input
 * is not a trace.
 */
#include "chrome_file.h"

#include <weft/export.h>

#include "cli/output.h"
#include "copy.h"

static int append(void *output, const void *bytes, size_t size)
{
	return cli_output_append(output, bytes, size) ? 0 : WEFT_ERROR_SYSTEM;
}

static int add(
	void *chrome, const struct weft_event *event, const struct weft_trace_description *description)
{
	return weft_export_chrome_add(chrome, event, description);
}

static int finish(void *chrome, const struct weft_trace_description *description)
{
	return weft_export_chrome_finish(chrome, description);
}

static int write_file(
	const struct cli_trace *trace, int status, struct weft_event *event, const char *path)
{
	struct cli_output output;
	struct weft_export_chrome *chrome = NULL;
	if (!cli_output_open(path, &output))
		return CLI_NO;
	const struct weft_export_chrome_sink sink = {append, &output};
	struct export_outcome outcome = {.write_error = weft_export_chrome_create(&sink, &chrome)};
	const struct export_writer writer = {add, finish, chrome};
	if (!outcome.write_error)
		outcome = export_copy(trace, status, event, &writer);
	weft_export_chrome_destroy(chrome);
	cli_trace_report(trace);
	if (outcome.read_error || outcome.write_error) {
		cli_output_abandon(&output);
		return export_fail(trace, path, &outcome);
	}
	if (!cli_output_commit(&output))
		return CLI_NO;
	export_end_if_interrupted(path, &outcome);
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
