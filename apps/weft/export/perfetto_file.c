/* SPDX-License-Identifier: ISC */
#include "perfetto_file.h"

#include <errno.h>

#include <weft/perfetto.h>

#include "cli/output.h"
#include "copy.h"

struct perfetto_output {
	struct cli_output output;
	int reason;
};

static int append(void *context, const void *bytes, size_t size)
{
	struct perfetto_output *taking = context;
	if (cli_output_append(&taking->output, bytes, size))
		return 0;
	taking->reason = errno;
	return WEFT_ERROR_SYSTEM;
}

static int write_model(
	const struct cli_trace *trace, const struct weft_model *model, const char *path)
{
	struct perfetto_output taking = {0};
	const struct weft_perfetto_sink sink = {append, &taking};
	if (!cli_output_open(path, &taking.output))
		return CLI_NO;
	const struct export_outcome outcome = {
		.write_error = weft_perfetto_write(model, &sink), .reason = taking.reason};
	if (outcome.write_error) {
		cli_output_abandon(&taking.output);
		return export_fail(trace, path, &outcome);
	}
	return cli_output_commit(&taking.output) ? CLI_DONE : CLI_NO;
}

int perfetto_export(const struct cli_trace *trace, const char *path)
{
	struct weft_model *model = NULL;
	cli_progress_start();
	int error = cli_trace_build_model(trace, &model);
	cli_trace_report(trace);
	int status = error ? cli_trace_fail(trace, error) : write_model(trace, model, path);
	cli_progress_end();
	weft_model_destroy(model);
	cli_progress_die_if_interrupted();
	return status;
}
