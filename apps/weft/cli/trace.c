/* SPDX-License-Identifier: ISC
 *
 * Opens a FILE argument as a decoder, and reports damage to standard error.
 */
#include "checkpoint.h"
#include "cli.h"
#include "copy.h"
#include "index/automatic.h"
#include "output.h"
#include "range.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t max_bytes;

/* Finds out what a file is that is no trace. NULL: unknown, or it cannot be read twice. */
static const char *recognize(const char *path)
{
	struct stat status;
	struct weft_source *source;
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
		weft_source_open_limited(path, max_bytes, &source) != 0)
		return NULL;
	size_t size;
	const void *bytes = weft_source_bytes(source, &size);
	const char *text = weft_input_recognize(bytes, size);
	weft_source_close(source);
	return text;
}

int cli_trace_explain(const char *name, int error)
{
	const char *text = weft_error_text(error);
	const char *foreign = error == WEFT_ERROR_FORMAT ? recognize(name) : NULL;
	if (foreign) {
		cli_inform("%s: no trace that weft knows, but %s", name, foreign);
		return CLI_UNREADABLE;
	}
	if (error == WEFT_ERROR_SYSTEM)
		text = strerror(errno);
	if (error == WEFT_ERROR_EMPTY)
		text = "the file is empty";
	cli_inform(
		"%s: %s%s", name, text, error == WEFT_ERROR_SIZE ? "; --max-size SIZE allows more" : "");
	return CLI_UNREADABLE;
}

int cli_trace_fail(const struct cli_trace *trace, int error)
{
	return cli_trace_explain(trace->name, error);
}

void cli_trace_limit(uint64_t bytes)
{
	max_bytes = bytes;
}

uint64_t cli_trace_max_bytes(void)
{
	return max_bytes;
}

static bool aligns = true;

void cli_trace_leave_clocks(void)
{
	aligns = false;
}

bool cli_trace_aligns(void)
{
	return aligns;
}

static uint64_t cpu_hz;

void cli_trace_set_hz(uint64_t hz)
{
	cpu_hz = hz;
}

uint64_t cli_trace_hz(void)
{
	return cpu_hz;
}

/* Limits the permissions of outputs to those of the trace. */
static void limit_output(const char *path, int fd)
{
	struct stat status;
	bool is_stdin = path && strcmp(path, "-") == 0;
	if (path && !is_stdin ? stat(path, &status) == 0
						  : fstat(is_stdin ? STDIN_FILENO : fd, &status) == 0)
		cli_output_limit(&status);
}

/* Says where a rate comes from that the trace does not name. */
static void report_rate(const struct cli_trace *trace)
{
	const struct weft_clock *clock = &weft_decoder_describe(trace->decoder)->clock;
	if (clock->rate != WEFT_RATE_GIVEN)
		cli_inform(
			"%s: the trace does not name the rate of its cycles; %s %.3f MHz, --cpu-hz sets it",
			trace->name,
			clock->rate == WEFT_RATE_ESTIMATED ? "estimated" : "no times in it, assumed",
			(double)clock->hz / 1e6);
}

/* Opens the file at `path`; if that is NULL, the descriptor. */
static int open_trace(const char *path, int fd, const char *name, struct cli_trace *ret_trace)
{
	struct cli_trace trace = {.name = name};
	const struct weft_input_options options = {.size = sizeof(options),
		.max_bytes = max_bytes,
		.hz = cpu_hz,
		.no_align = !aligns,
		.at_any_time = true};
	struct weft_source *source;
	int error = weft_source_survive_truncation();
	limit_output(path, fd);
	if (!error && path)
		error = weft_input_open(path, &options, &trace.input);
	else if (!error)
		error = weft_source_open_descriptor(fd, max_bytes, &source);
	if (!error && !path)
		error = weft_input_open_source_with(source, &options, &trace.input);
	if (error)
		return cli_trace_fail(&trace, error);
	trace.decoder = weft_input_decoder(trace.input);
	cli_trace_report_files(trace.input);
	report_rate(&trace);
	*ret_trace = trace;
	return CLI_DONE;
}

static int open_copy(const char *operand, struct cli_trace *ret_trace)
{
	int fd = cli_copy_open(operand);
	if (fd < 0)
		return CLI_UNREADABLE;
	int status = open_trace(NULL, fd, operand, ret_trace);
	close(fd);
	return status;
}

int cli_trace_open(const char *path, struct cli_trace *ret_trace)
{
	if (cli_copy_is_wanted(path))
		return open_copy(path, ret_trace);
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	return open_trace(path, -1, name, ret_trace);
}

int cli_trace_open_descriptor(int fd, const char *name, struct cli_trace *ret_trace)
{
	return open_trace(NULL, fd, name, ret_trace);
}

static bool step(void *context, double part)
{
	return cli_progress_read(weft_decoder_events(context), part);
}

/* Looks beside the trace for what was alive before a range. */
struct state_search {
	const struct cli_trace *trace;
	struct cli_checkpoint state;
};

static struct weft_decoder *find_state(void *context, uint64_t time_ns, uint64_t *ret_time_ns)
{
	struct state_search *search = context;
	if (cli_checkpoint_find(search->trace, search->trace->name, time_ns, &search->state))
		*ret_time_ns = search->state.found.time_ns;
	return search->state.decoder;
}

/* All of the trace was read, unless there is an error. */
static int note(const struct cli_trace *trace, int error)
{
	if (!error)
		index_note(trace);
	return error;
}

int cli_trace_build_model(const struct cli_trace *trace, struct weft_model **ret_model)
{
	const struct weft_progress progress = {step, trace->decoder, NULL};
	const struct weft_range *asked = cli_range();
	struct state_search search = {.trace = trace};
	if (!asked)
		return note(trace, weft_input_build_model(trace->input, &progress, ret_model));
	struct weft_range range = *asked;
	range.find_state = find_state;
	range.context = &search;
	int error = weft_input_build_range(trace->input, &range, &progress, ret_model);
	if (!error)
		cli_range_report(trace, *ret_model, search.state.decoder != NULL);
	cli_checkpoint_close(&search.state);
	return error;
}

int cli_trace_build_summary(const struct cli_trace *trace, struct weft_model **ret_model)
{
	const struct weft_progress progress = {step, trace->decoder, NULL};
	return note(trace, weft_input_build_summary(trace->input, &progress, ret_model));
}

void cli_trace_close(struct cli_trace *trace)
{
	weft_input_close(trace->input);
	free(trace->own_name);
}

/* The file of a diagnostic about events: the decoder of several files names it in the offset. */
static const char *file_of(const struct weft_input *input, struct weft_diagnostic *d)
{
	uint32_t part = (uint32_t)(d->offset >> 48);
	d->offset = WEFT_PART_OFFSET(0, d->offset);
	for (size_t i = 0; i < weft_input_file_count(input); i++) {
		const struct weft_input_file *file = weft_input_file(input, i);
		if (file->decoder && file->part == part)
			return file->path;
	}
	return "";
}

void cli_trace_each_diagnostic(
	const struct cli_trace *trace, cli_diagnostic_function *take, void *context)
{
	const struct weft_diagnostics *diagnostics = weft_decoder_diagnostics(trace->decoder);
	size_t files = trace->input ? weft_input_file_count(trace->input) : 0;
	for (size_t i = 0; i < files; i++) {
		const struct weft_input_file *file = weft_input_file(trace->input, i);
		const struct weft_diagnostics *own =
			file->decoder ? weft_decoder_diagnostics(file->decoder) : NULL;
		for (size_t k = 0; own && k < own->count; k++)
			take(context, file->path, &own->list[k]);
	}
	for (size_t i = 0; i < diagnostics->count; i++) {
		struct weft_diagnostic diagnostic = diagnostics->list[i];
		take(context, files ? file_of(trace->input, &diagnostic) : NULL, &diagnostic);
	}
}

static void report_diagnostic(void *trace, const char *file, const struct weft_diagnostic *d)
{
	const char *name = file ? file : ((const struct cli_trace *)trace)->name;
	char text[256];
	weft_diagnostic_format(d, text, sizeof(text));
	cli_inform("%s: offset 0x%" PRIx64 ": %s", name, d->offset, text);
}

void cli_trace_report(const struct cli_trace *trace)
{
	cli_trace_each_diagnostic(trace, report_diagnostic, (void *)(uintptr_t)trace);
}

const char *cli_category_name(
	const struct weft_trace_description *trace, uint32_t buffer, unsigned number)
{
	if (number == WEFT_TRACE_CATEGORY_ALL)
		return "*";
	for (uint32_t i = 0; i < trace->category_count; i++)
		if (trace->categories[i].buffer == buffer && trace->categories[i].number == number)
			return trace->categories[i].name;
	return "";
}
