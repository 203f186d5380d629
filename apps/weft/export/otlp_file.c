/* SPDX-License-Identifier: ISC */
#include "otlp_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/output.h"
#include "copy.h"
#include "otlp_metrics.h"
#include "start_time.h"

struct taking {
	struct cli_output output;
	struct push *push; /* instead of the output, or NULL */
	struct export_outcome outcome;
	bool was_interrupted; /* while the trace was read: what was read is written */
};

static int take(
	void *context, enum weft_otlp_signal signal, const void *bytes, size_t size, uint32_t count)
{
	struct taking *t = context;
	if (!t->was_interrupted && !cli_progress_step(t->outcome.events)) {
		t->outcome.interrupted = true;
		return WEFT_ERROR_STATE;
	}
	t->outcome.events += count;
	if (t->push)
		return push_send(t->push, signal, bytes, size, count);
	if (cli_output_append(&t->output, bytes, size))
		return 0;
	t->outcome.reason = errno;
	return WEFT_ERROR_SYSTEM;
}

void otlp_report_pending(const char *name, const struct weft_otlp_summary *summary)
{
	const bool is_one = summary->pending == 1;
	if (summary->pending)
		cli_inform("%s: %" PRIu64
				   " span%s still %s, as far as the trace shows, and %s left out; --pending "
				   "omit-end writes %s",
			name, summary->pending, is_one ? "" : "s", is_one ? "runs" : "run",
			is_one ? "is" : "are", is_one ? "it" : "them");
}

static void end_if_interrupted(const char *path, const struct taking *taking)
{
	if (!taking->outcome.interrupted && !taking->was_interrupted)
		return;
	cli_error(
		"interrupted: %s has the first %" PRIu64 " spans and points", path, taking->outcome.events);
	cli_progress_die_if_interrupted();
}

static int write_metrics(const struct cli_trace *trace, const struct weft_model *model,
	const struct weft_otlp_options *options, const struct weft_otlp_sink *sink)
{
	struct otlp_metrics metrics;
	uint64_t points;
	int error =
		otlp_metrics_read(weft_decoder_describe(trace->decoder), model, &metrics)
			? weft_otlp_write_metrics(model, options, metrics.list, metrics.count, sink, &points)
			: WEFT_ERROR_MEMORY;
	otlp_metrics_finish(&metrics);
	return error;
}

static int write_signals(const struct cli_trace *trace, const struct weft_model *model,
	const struct otlp_arguments *a, const struct weft_otlp_sink *sink,
	struct weft_otlp_summary *summary)
{
	int error = 0;
	if (a->has_signal[WEFT_OTLP_TRACES])
		error = weft_otlp_write_spans(model, &a->options, sink, summary);
	if (!error && a->has_signal[WEFT_OTLP_METRICS])
		error = write_metrics(trace, model, &a->options, sink);
	return error;
}

static int write_model(const struct cli_trace *trace, const struct weft_model *model,
	const struct otlp_arguments *arguments, const char *path)
{
	struct taking taking = {.was_interrupted = !cli_progress_step(0)};
	struct weft_otlp_summary summary = {0};
	const struct weft_otlp_sink sink = {take, &taking};
	if (!cli_output_open(path, &taking.output))
		return CLI_NO;
	int error = write_signals(trace, model, arguments, &sink, &summary);
	if (error && !taking.outcome.interrupted) {
		taking.outcome.write_error = error;
		cli_output_abandon(&taking.output);
		return export_fail(trace, path, &taking.outcome);
	}
	if (!cli_output_commit(&taking.output))
		return CLI_NO;
	end_if_interrupted(path, &taking);
	otlp_report_pending(trace->name, &summary);
	return CLI_DONE;
}

/* After Ctrl-C, what was not sent is in the spool or lost, which push_close() says. */
static int push_model(const struct cli_trace *trace, const struct weft_model *model,
	const struct otlp_arguments *arguments)
{
	struct taking taking = {.was_interrupted = true};
	struct weft_otlp_summary summary = {0};
	const struct weft_otlp_sink sink = {take, &taking};
	if (!push_open(&arguments->push, &taking.push))
		return CLI_NO;
	int error = write_signals(trace, model, arguments, &sink, &summary);
	int status = push_close(taking.push);
	if (error)
		return cli_trace_fail(trace, error);
	otlp_report_pending(trace->name, &summary);
	cli_progress_die_if_interrupted();
	return status;
}

int otlp_send_spool(const struct otlp_arguments *arguments)
{
	struct push *push;
	cli_progress_start();
	int status = push_open(&arguments->push, &push) ? push_close(push) : CLI_NO;
	cli_progress_end();
	cli_progress_die_if_interrupted();
	return status;
}

int otlp_export(
	const struct cli_trace *trace, const struct otlp_arguments *arguments, const char *path)
{
	struct otlp_arguments own = *arguments;
	struct weft_model *model = NULL;
	int status = CLI_NO;
	cli_progress_start();
	int error = cli_trace_build_model(trace, &model);
	cli_trace_report(trace);
	if (error)
		status = cli_trace_fail(trace, error);
	else if (export_find_offset(trace, model, own.start_ns, &own.options.offset_ns))
		status =
			own.push.url ? push_model(trace, model, &own) : write_model(trace, model, &own, path);
	cli_progress_end();
	weft_model_destroy(model);
	return status;
}
