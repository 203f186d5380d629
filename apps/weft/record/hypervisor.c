/* SPDX-License-Identifier: ISC
 *
 * weft record xen:host: runs Xen's own tool xentrace, and writes what xentrace does not say: notes
 * of the rate of the cycles, and of one time on Xen's and dom0's clocks at the begin and at the
 * end.
 *
 * With --processes, notes between xentrace's windows say which processes dom0's kernel runs. A
 * program is recorded as `weft record` does it, which copies xentrace's bytes meanwhile; Xen's
 * trace begins before it and ends after it.
 */
#include "hypervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/guest.h>
#include <weft/xentrace.h>

#include "hypervisor_file.h"
#include "hypervisor_tool.h"
#include "record.h"
#include "runs/message.h"
#include "runs/processes/processes.h"
#include "runs/saving/name.h"
#include "cli/cli.h"
#include "cli/xen_filter.h"
#include "cli/xen_writer.h"

#define PIECE_BYTES (1 << 20)

/* How long to wait for bytes before we look at signals; for the first bytes; for xentrace's end. */
#define LOOK_MS 50
static const uint64_t SECOND_NS = 1000000000, START_NS = 5000000000, END_NS = 20000000000;

struct tracing {
	const struct record_hypervisor *request;
	struct weft_host *host;
	struct hypervisor_tool tool;
	struct hypervisor_file file;
	sigset_t before; /* the signals that were blocked */
	unsigned char *piece;
	uint64_t bytes;                        /* that xentrace has written */
	struct weft_xentrace_growing *growing; /* with a filter: what it takes of the records */
	struct xen_writer *writer;
	struct xen_filter_state state;
	uint64_t taken;    /* records */
	uint64_t begun_ns; /* when Xen began to record */
	uint64_t asked_ns; /* when xentrace was asked to end, or 0 */
	int failure;       /* of writing the file: errno, or 0 */
	int status;        /* of the program */
	bool has_begun;    /* Xen records */
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* ---- Signals ---- */

static sigset_t awaited_signals(void)
{
	sigset_t awaited;
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGINT);
	sigaddset(&awaited, SIGTERM);
	sigaddset(&awaited, SIGHUP);
	return awaited;
}

/* These signals must not end weft before Xen's trace and the kernel's are off. With SIGPIPE and
 * SIGXFSZ blocked, a write to a pipe without a reader, or beyond the limit of a file's size, fails
 * with an error. */
static void block_signals(struct tracing *t)
{
	sigset_t blocked = awaited_signals();
	sigaddset(&blocked, SIGPIPE);
	sigaddset(&blocked, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &blocked, &t->before);
}

/* True if a signal has come that asks us to end. */
static bool is_asked(void)
{
	const struct timespec now = {0, 0};
	const sigset_t awaited = awaited_signals();
	return sigtimedwait(&awaited, NULL, &now) > 0;
}

/* ---- The records ---- */

static bool has_filter(const struct record_hypervisor *request)
{
	return !xen_filter_is_empty(&request->filter);
}

/* False without memory. */
static bool start_filter(struct tracing *t)
{
	const struct weft_xentrace_note filtered = {.kind = WEFT_XENTRACE_NOTE_FILTERED};
	if (!has_filter(t->request))
		return true;
	t->writer = xen_writer_create(hypervisor_file_put, &t->file);
	if (!t->writer || weft_xentrace_growing_create(0, &t->growing) != 0)
		return false;
	xen_writer_add_note(t->writer, &filtered);
	return true;
}

/* Writes the records of the bytes so far that the filter takes. 0 or an error. */
static int write_wanted(struct tracing *t)
{
	const struct xen_filter *filter = &t->request->filter;
	struct weft_xentrace_record record;
	int status;
	while ((status = weft_xentrace_growing_next(t->growing, &record)) == WEFT_OK) {
		bool is_taken = xen_filter_has(filter, &t->state, &record);
		if (is_taken || xen_filter_keeps(filter, &record))
			xen_writer_add(t->writer, &record);
		t->taken += is_taken;
	}
	xen_writer_flush(t->writer);
	return status == WEFT_AGAIN ? xen_writer_error(t->writer) : status;
}

/* After a failure the rest is dropped, so that xentrace can end. */
static void take(struct tracing *t, size_t size)
{
	int error = 0;
	t->bytes += size;
	if (t->failure)
		return;
	if (t->writer) {
		error = hypervisor_file_put_processes(&t->file) ? 0 : WEFT_ERROR_SYSTEM;
		if (!error)
			error = weft_xentrace_growing_feed(t->growing, t->piece, size);
		error = error ? error : write_wanted(t);
	} else if (!hypervisor_file_put_windows(&t->file, t->piece, size)) {
		error = WEFT_ERROR_SYSTEM;
	}
	if (error)
		t->failure = error == WEFT_ERROR_SYSTEM ? errno : ENOMEM;
}

/* ---- Until the end ---- */

/* Copies what xentrace has written, or waits for that for so long; false at its end. */
static bool copy(struct tracing *t, int wait_ms)
{
	struct pollfd readable = {.fd = t->tool.pipe, .events = POLLIN};
	const bool is_readable = poll(&readable, 1, wait_ms) > 0;
	ssize_t size = is_readable ? read(t->tool.pipe, t->piece, PIECE_BYTES) : 0;
	if (size < 0)
		return errno == EINTR;
	take(t, (size_t)size);
	return size > 0 || !is_readable;
}

/* On a busy host it takes a while until Xen records; if it has nothing to record, it counts as
 * begun after some time. */
static bool has_begun(struct tracing *t)
{
	uint64_t now = now_ns();
	if (t->has_begun)
		return true;
	if (!t->bytes && now - t->begun_ns < START_NS)
		return false;
	t->begun_ns = now;
	return t->has_begun = true;
}

/* The duration counts from the begin. */
static bool is_over(struct tracing *t)
{
	const struct record_hypervisor *request = t->request;
	if (t->failure || !has_begun(t))
		return t->failure != 0;
	return (request->max_bytes && t->file.size >= request->max_bytes) ||
		   (request->duration_ns && now_ns() - t->begun_ns >= request->duration_ns);
}

static void ask_to_end(struct tracing *t)
{
	if (t->asked_ns)
		return;
	t->asked_ns = now_ns();
	kill(t->tool.pid, SIGINT);
}

/* Asks xentrace to end when it is time, and kills it if it does not. */
static void end_in_time(struct tracing *t)
{
	if (is_over(t))
		ask_to_end(t);
	if (t->asked_ns && now_ns() - t->asked_ns > END_NS)
		kill(t->tool.pid, SIGKILL);
}

/* Copies until xentrace has ended. */
static void copy_all(struct tracing *t)
{
	while (copy(t, LOOK_MS)) {
		if (is_asked())
			ask_to_end(t);
		end_in_time(t);
	}
	waitpid(t->tool.pid, &t->tool.status, 0);
	t->tool.has_ended = true;
}

/* ---- With a program ---- */

/* Copies what is there, but no more than the pipe has room for: xentrace may write as fast. */
static void look(void *context, const char *directory)
{
	struct tracing *t = context;
	(void)directory;
	for (unsigned i = 0; i < HYPERVISOR_PIPE_BYTES / PIECE_BYTES; i++) {
		const uint64_t before = t->bytes;
		if (!copy(t, 0) || t->bytes == before)
			break;
	}
	end_in_time(t);
}

/* Before the program's own traces are saved, which may take long. */
static void end_with_program(void *context)
{
	ask_to_end(context);
	copy_all(context);
}

static void ignore_saved(void *context, const char *ring, const char *file)
{
	(void)context;
	(void)ring;
	(void)file;
}

/* True when Xen records; false if that has ended before. */
static bool await_begin(struct tracing *t)
{
	while (!has_begun(t))
		if (is_asked() || t->failure || !copy(t, LOOK_MS))
			return false;
	return true;
}

/* Records the program while Xen records, and until both have ended. */
static void record_program(struct tracing *t)
{
	const struct record_hypervisor *request = t->request;
	const struct record_watcher watcher = {look, end_with_program, ignore_saved, t};
	t->status = RECORD_FAILED;
	if (await_begin(t)) {
		sigprocmask(SIG_SETMASK, &t->before, NULL); /* the program inherits it */
		t->status = record_watched(
			"record", request->program, request->adapters, request->directory, 0, &watcher);
		block_signals(t);
	} else {
		cli_error("xen:host: ended before %s was started", weft__runs_shown(request->program[0]));
	}
	if (!t->tool.has_ended)
		end_with_program(t);
}

/* ---- The end ---- */

/* False after a message. */
static bool judge_end(const struct tracing *t)
{
	char text[HYPERVISOR_MESSAGE_BYTES];
	const int status = t->tool.status;
	bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	/* It may have left Xen's trace on, which costs all domains time. If it has not written
	 * anything, another xentrace may run, whose trace goes on. */
	if (!is_good && (t->bytes || WIFSIGNALED(status)))
		(void)weft_host_end_trace(t->host);
	if (t->failure)
		cli_error("%s: %s", weft__runs_shown(t->request->output), strerror(t->failure));
	else if (!is_good && !(WIFSIGNALED(status) && t->asked_ns))
		cli_error("xen:host: xentrace failed: %s", hypervisor_tool_message(&t->tool, text));
	else
		return true;
	return false;
}

#define USUAL_PAGES 32 /* that xentrace asks for */

/* Before xentrace, which ignores it if Xen refuses its size. Xen makes the buffers once. */
static void set_size(const struct tracing *t)
{
	const uint32_t pages = t->request->pages;
	if (!pages || weft_host_size_trace(t->host, pages))
		return;
	if (errno != EINVAL)
		cli_error("xen:host: Xen refuses buffers of %u pages a pCPU: %s", (unsigned)pages,
			strerror(errno));
	else if (weft_host_size_trace(t->host, USUAL_PAGES))
		cli_error(
			"xen:host: Xen keeps %d pages a pCPU since boot; --size is too late", USUAL_PAGES);
	else
		cli_error("xen:host: Xen keeps the buffers that it has since boot; --size is too late");
}

/* If processes cannot be recorded, the rest is. */
static void start_processes(struct tracing *t)
{
	char reason[WEFT__RUNS_PROCESSES_REASON];
	if (!t->request->has_processes)
		return;
	t->file.processes = weft__runs_processes_start(reason);
	if (!t->file.processes)
		cli_error("xen:host: recorded without processes: %s", reason);
}

/* Writes the rest: what the filter has not decided, the processes and the clocks at the end. */
static void finish(struct tracing *t)
{
	if (t->file.processes)
		weft__runs_processes_stop(t->file.processes);
	if (t->writer)
		weft_xentrace_growing_flush(t->growing, true);
	take(t, 0);
	if (!t->failure && !hypervisor_file_put_clocks(&t->file, t->host, false))
		t->failure = errno;
}

/* Records into t->file. False after a message. */
static bool trace(struct tracing *t)
{
	block_signals(t);
	start_processes(t);
	t->piece = malloc(PIECE_BYTES);
	if (!t->piece || !start_filter(t) ||
		!hypervisor_tool_start(&t->tool, t->request->events, &t->before)) {
		cli_error("xen:host: %s", strerror(errno));
		return false;
	}
	if (!hypervisor_file_put_clocks(&t->file, t->host, true))
		t->failure = errno;
	t->begun_ns = now_ns();
	if (t->request->program)
		record_program(t);
	else
		copy_all(t);
	finish(t);
	return judge_end(t);
}

/* ---- The file ---- */

static int open_file(const struct record_hypervisor *request)
{
	if (weft__runs_is_stdout(request->output))
		return dup(STDOUT_FILENO);
	return open(request->output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static void report_output(const struct record_hypervisor *request)
{
	char size[32];
	struct stat status;
	if (weft__runs_is_stdout(request->output) || stat(request->output, &status) != 0)
		return;
	const char *name = weft__runs_shown(request->output);
	cli_error("%s: %s", name, weft__runs_size_text((uint64_t)status.st_size, size));
	if (request->program)
		cli_error("`weft view %s` shows the program and Xen together",
			weft__runs_shown(request->directory));
	else
		cli_error("`weft info %s` summarizes it, `weft view %s` shows it", name, name);
}

static int record(struct tracing *t)
{
	const char *output = t->request->output;
	if (!hypervisor_tool_find(&t->tool)) {
		cli_error("xen:host: Xen's tool xentrace is not installed (Debian: xen-utils-common)");
		return RECORD_FAILED;
	}
	t->file.fd = open_file(t->request);
	if (t->file.fd < 0) {
		cli_error("%s: %s", weft__runs_shown(output), strerror(errno));
		return RECORD_FAILED;
	}
	set_size(t);
	bool good = trace(t);
	if (good && t->writer && !t->taken) {
		cli_error("xen:host: no record matches --filter");
		good = false;
	}
	if (good)
		report_output(t->request);
	return good ? t->status : RECORD_FAILED;
}

int record_hypervisor_run(const struct record_hypervisor *request, struct weft_host *host)
{
	struct tracing t = {.request = request,
		.host = host,
		.tool = {.pipe = -1, .messages = -1},
		.file.fd = -1,
		.status = CLI_DONE};
	int status = record(&t);
	weft__runs_processes_close(t.file.processes);
	xen_writer_destroy(t.writer);
	weft_xentrace_growing_destroy(t.growing);
	xen_filter_state_finish(&t.state);
	free(t.piece);
	hypervisor_tool_finish(&t.tool);
	if (t.file.fd >= 0)
		close(t.file.fd);
	return status;
}
