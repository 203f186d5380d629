/* SPDX-License-Identifier: ISC
 *
 * weft export --follow: the spans of a running program, each when it has ended. A message is sent
 * when it is full, or a second after the last one.
 */
#include "otlp_follow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <weft/follow.h>
#include <weft/growing.h>

#include "cli/attach.h"
#include "cli/output.h"

#define NS_PER_S UINT64_C(1000000000)

struct following {
	const struct otlp_arguments *arguments;
	const char *name, *path;
	struct weft_growing *growing;
	struct weft_otlp_stream *stream;
	struct push *push; /* instead of the file, or NULL */
	FILE *file;
	uint64_t taken;      /* spans that were handed out */
	uint64_t flushed_ns; /* when */
	bool has_failed;     /* after a message */
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- Where the spans go ---- */

/* At once, so that the reader of a pipe gets it now. */
static int take(
	void *context, enum weft_otlp_signal signal, const void *bytes, size_t size, uint32_t count)
{
	struct following *f = context;
	f->taken += count;
	f->flushed_ns = now_ns();
	if (f->push)
		return push_send(f->push, signal, bytes, size, count);
	if (fwrite(bytes, 1, size, f->file) == size && fflush(f->file) == 0)
		return 0;
	if (!f->has_failed)
		cli_error("%s: %s", f->path, strerror(errno));
	f->has_failed = true;
	return WEFT_ERROR_SYSTEM;
}

static bool open_output(struct following *f)
{
	char *ring = (char *)f->name;
	if (f->arguments->push.url) {
		struct push_options options = f->arguments->push;
		options.in_background = true;
		return push_open(&options, &f->push);
	}
	/* To truncate the ring would kill the program that records into it. */
	if (cli_output_is_input(AT_FDCWD, f->path, &ring, 1)) {
		cli_error("refusing to overwrite the ring %s by its spans; name another file", f->path);
		return false;
	}
	f->file = strcmp(f->path, "-") == 0 ? stdout : fopen(f->path, "we");
	if (!f->file)
		cli_error("%s: %s", f->path, strerror(errno));
	return f->file;
}

static int close_output(struct following *f)
{
	int status = f->push ? push_close(f->push) : CLI_DONE;
	if (f->file && f->file != stdout && fclose(f->file) != 0 && !f->has_failed) {
		cli_error("%s: %s", f->path, strerror(errno));
		f->has_failed = true;
	}
	return f->has_failed ? CLI_NO : status;
}

/* ---- Events ---- */

/* Takes the events that are there. WEFT_AGAIN, WEFT_END, or an error. */
static int take_ready(struct following *f)
{
	struct weft_event event;
	int status = WEFT_OK;
	while (!cli_is_interrupted() && (status = weft_growing_next(f->growing, &event)) == WEFT_OK) {
		const int error =
			weft_otlp_stream_add(f->stream, &event, weft_growing_describe(f->growing));
		if (error)
			return error;
	}
	return cli_is_interrupted() ? WEFT_END : status;
}

static int take_all(struct following *f)
{
	int status;
	while ((status = take_ready(f)) == WEFT_AGAIN) {
		if (now_ns() - f->flushed_ns >= NS_PER_S) {
			status = weft_otlp_stream_flush(f->stream);
			f->flushed_ns = now_ns();
		}
		if (status == WEFT_OK || status == WEFT_AGAIN)
			status = weft_growing_wait(f->growing, NS_PER_S);
		if (status < 0)
			break;
	}
	return status;
}

/* ---- Messages ---- */

static void report_losses(const struct following *f)
{
	const uint64_t *losses = weft_growing_describe(f->growing)->losses;
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		if (losses[cause])
			cli_inform("%s: %" PRIu64 " event%s lost (%s)", f->name, losses[cause],
				losses[cause] == 1 ? "" : "s", weft_loss_name((enum weft_loss)cause));
}

/* ---- All ---- */

static int run(struct following *f)
{
	struct weft_otlp_summary summary = {0};
	f->flushed_ns = now_ns();
	int error = take_all(f);
	if (error >= 0)
		error = weft_otlp_stream_finish(f->stream, weft_growing_describe(f->growing), &summary);
	int status = close_output(f);
	if (error < 0 && !f->has_failed) {
		cli_trace_explain(f->name, error);
		return CLI_UNREADABLE;
	}
	report_losses(f);
	otlp_report_pending(f->name, &summary);
	return status;
}

/* The clock is known once the ring is open. */
static int start(struct following *f)
{
	struct weft_otlp_options options = f->arguments->options;
	const struct weft_otlp_sink sink = {take, f};
	options.offset_ns = weft_growing_describe(f->growing)->clock.offset_ns;
	int error = weft_otlp_stream_create(&options, &sink, &f->stream);
	if (error)
		return cli_trace_explain(f->name, error);
	cli_catch_interrupts();
	const int status = open_output(f) ? run(f) : CLI_NO;
	weft_otlp_stream_destroy(f->stream);
	return status;
}

static int follow_ring(struct following *f, const pid_t *pid)
{
	struct weft_ring_check check = {.reason = ""};
	const struct weft_growing_spec spec = {.size = sizeof(spec),
		.paths = &f->name,
		.count = 1,
		.pids = pid,
		.ret_check = &check,
		.what = WEFT_GROWING_RING};
	int error = weft_source_survive_truncation();
	if (!error)
		error = weft_input_open_growing(&spec, &f->growing);
	if (error && check.reason[0])
		cli_inform("%s: %s", f->name, check.reason);
	else if (error == WEFT_ERROR_FORMAT)
		cli_error("%s: not the ring of a program; without --follow, all formats are read", f->name);
	else if (error)
		cli_trace_explain(f->name, error);
	const int status = error ? CLI_UNREADABLE : start(f);
	weft_growing_close(f->growing);
	return status;
}

int otlp_follow(char *operand, const struct otlp_arguments *arguments, const char *path)
{
	struct weft__runs_found ring;
	struct cli_attached attached;
	struct following f = {.arguments = arguments, .path = path};
	f.name = cli_attach_path(operand, &ring, &attached);
	const int status = f.name ? follow_ring(&f, &ring.ring.pid) : CLI_UNREADABLE;
	cli_detach(&attached);
	return status;
}
