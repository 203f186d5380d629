/* SPDX-License-Identifier: ISC
 *
 * From a FILE argument to a decoder, and what was wrong with it to standard error.
 */
#include "cli.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cli_trace_fail(const struct cli_trace *trace, int error)
{
	const char *text = weft_error_text(error);
	if (error == WEFT_ERROR_SYSTEM)
		text = strerror(errno);
	if (error == WEFT_ERROR_EMPTY)
		text = "the file is empty";
	cli_tell("%s: %s%s", trace->name, text,
		error == WEFT_ERROR_SIZE ? "; --max-size SIZE allows more" : "");
	return CLI_UNREADABLE;
}

static uint64_t max_bytes;

void cli_trace_limit(uint64_t bytes)
{
	max_bytes = bytes;
}

/* Smaller traces are read before a thread has begun. */
#define HELP_BYTES (1 << 20)

/* What is made of the trace gets no more permission than the trace has. */
static void limit_output(const char *path, int fd)
{
	struct stat status;
	bool is_stdin = path && strcmp(path, "-") == 0;
	if (path && !is_stdin ? stat(path, &status) == 0
						  : fstat(is_stdin ? STDIN_FILENO : fd, &status) == 0)
		cli_output_limit(&status);
}

/* Of a file by its path, or NULL and a descriptor. */
static int open_trace(const char *path, int fd, const char *name, struct cli_trace *ret_trace)
{
	struct cli_trace trace = {.name = name};
	int error = weft_source_survive_truncation();
	limit_output(path, fd);
	if (!error)
		error = path ? weft_source_open_limited(path, max_bytes, &trace.source)
					 : weft_source_open_descriptor(fd, max_bytes, &trace.source);
	if (!error)
		error = weft_decoder_create(&trace.decoder);
	if (!error) {
		size_t size;
		const void *bytes = weft_source_bytes(trace.source, &size);
		error = weft_decoder_feed_borrowed(trace.decoder, bytes, size);
		trace.worker = size > HELP_BYTES ? weft_worker_create() : NULL;
		weft_decoder_lend(trace.decoder, weft_worker_help(trace.worker));
	}
	if (!error)
		error = weft_decoder_finish(trace.decoder);
	if (error) {
		int status = cli_trace_fail(&trace, error);
		cli_trace_close(&trace);
		return status;
	}
	weft_source_forget(trace.source); /* finish has been through all of it */
	*ret_trace = trace;
	return CLI_DONE;
}

int cli_trace_open(const char *path, struct cli_trace *ret_trace)
{
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	return open_trace(path, -1, name, ret_trace);
}

int cli_trace_open_descriptor(int fd, const char *name, struct cli_trace *ret_trace)
{
	return open_trace(NULL, fd, name, ret_trace);
}

static bool step(void *context, uint64_t events)
{
	const struct cli_trace *trace = context;
	weft_source_forget(trace->source);
	return cli_progress_read(events, weft_decoder_part(trace->decoder));
}

int cli_trace_build_model(const struct cli_trace *trace, struct weft_model **ret_model)
{
	int error = weft_decoder_build_model(trace->decoder, step, (void *)(uintptr_t)trace, ret_model);
	weft_source_forget(trace->source);
	return error;
}

void cli_trace_close(struct cli_trace *trace)
{
	weft_worker_destroy(trace->worker);
	weft_decoder_destroy(trace->decoder);
	weft_source_close(trace->source);
}

void cli_trace_report(const struct cli_trace *trace)
{
	const struct weft_diagnostics *diagnostics = weft_decoder_diagnostics(trace->decoder);
	for (size_t i = 0; i < diagnostics->count; i++) {
		const struct weft_diagnostic *d = &diagnostics->list[i];
		cli_tell("%s: offset 0x%" PRIx64 ": %s (×%" PRIu64 ")", trace->name, d->offset, d->message,
			d->count);
	}
}

const char *cli_category_name(const struct weft_trace_description *trace, unsigned number)
{
	if (number == WEFT_TRACE_CATEGORY_ALL)
		return "*";
	for (uint32_t i = 0; i < trace->category_count; i++)
		if (trace->categories[i].number == number)
			return trace->categories[i].name;
	return "";
}
