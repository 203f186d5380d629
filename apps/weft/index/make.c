/* SPDX-License-Identifier: ISC
 *
 * See make.h.
 */
#include "make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/checkpoint.h"
#include "cli/output.h"

/* A file that is being made. */
struct indexing {
	const char *path;
	uint64_t spacing;
	struct weft_checkpoint_key key;
	struct cli_output output;
	struct weft_checkpoints *checkpoints;
	uint64_t events, bytes;
	bool is_refused; /* the trace has no checkpoints, and never will */
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
	it->is_refused = error == WEFT_ERROR_DAMAGED;
	if (it->is_refused)
		cli_error("%s: a task is created twice, or by its own descendant, so what is alive is not "
				  "certain",
			trace->name);
	else if (error)
		cli_error("%s: %s", it->path, weft_error_text(error));
	return error ? CLI_NO : CLI_DONE;
}

/* Events of damaged packets are in the whole trace at times at which a part may lack them. */
static bool is_whole(struct indexing *it, const struct cli_trace *trace)
{
	if (weft_decoder_diagnostics(trace->decoder)->count == 0)
		return true;
	it->is_refused = true;
	cli_trace_report(trace);
	cli_error("%s is damaged: its parts are cut from the whole", trace->name);
	return false;
}

static int begin(struct indexing *it)
{
	const struct weft_cut_sink sink = {append, it};
	int error = weft_checkpoints_create(&it->key, it->spacing, &sink, &it->checkpoints);
	if (error)
		cli_error("%s", weft_error_text(error));
	return error ? CLI_NO : CLI_DONE;
}

static int keep_losses(struct indexing *it, const struct cli_trace *trace)
{
	int error =
		weft_checkpoints_know_losses(it->checkpoints, weft_decoder_describe(trace->decoder));
	if (error)
		cli_error("%s", weft_error_text(error));
	return error ? CLI_NO : CLI_DONE;
}

static int first_pass(struct indexing *it, const char *path)
{
	struct cli_trace trace;
	int status = cli_trace_open(path, &trace);
	if (status)
		return status;
	if (!cli_checkpoint_key(&trace, path, &it->key)) {
		cli_error("%s: only a file in weft's own format, of a program that has ended or as a "
				  "stream, is read in parts",
			trace.name);
		status = CLI_NO;
	} else {
		status = begin(it);
	}
	if (!status)
		status = pass(it, &trace, look);
	if (!status && !is_whole(it, &trace))
		status = CLI_NO;
	if (!status)
		status = keep_losses(it, &trace);
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
	int error = weft_checkpoints_finish(it->checkpoints);
	if (!error)
		return CLI_DONE;
	cli_error(
		"%s: %s", it->path, error == WEFT_ERROR_SYSTEM ? strerror(errno) : weft_error_text(error));
	return CLI_NO;
}

/* Without any checkpoint, there is only a file if it is to say so. */
static int second_pass(struct indexing *it, const char *path, bool keeps_empty)
{
	struct cli_trace trace;
	int status = cli_trace_open(path, &trace);
	if (status)
		return status;
	if (!cli_output_open(it->path, &it->output)) {
		cli_trace_close(&trace);
		return CLI_NO;
	}
	if (!it->is_refused)
		status = pass(it, &trace, add);
	if (!status)
		status = finish(it, &trace, path);
	cli_trace_close(&trace);
	if (status || (!keeps_empty && !weft_checkpoints_count(it->checkpoints)))
		cli_output_abandon(&it->output);
	else if (!cli_output_commit(&it->output))
		status = CLI_NO;
	return status;
}

/* Forgets what was noted of a trace that has no checkpoints. */
static int begin_empty(struct indexing *it)
{
	weft_checkpoints_destroy(it->checkpoints);
	it->checkpoints = NULL;
	return begin(it);
}

int index_make(
	const char *path, uint64_t spacing, bool keeps_empty, struct index_summary *ret_summary)
{
	char *own = cli_checkpoint_path(path);
	struct indexing it = {.path = own, .spacing = spacing};
	if (!own) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return CLI_NO;
	}
	int status = first_pass(&it, path);
	if (it.is_refused && keeps_empty)
		status = begin_empty(&it);
	if (!status)
		status = second_pass(&it, path, keeps_empty);
	if (!status)
		*ret_summary =
			(struct index_summary){weft_checkpoints_count(it.checkpoints), it.events, it.bytes};
	weft_checkpoints_destroy(it.checkpoints);
	free(own);
	return status;
}
