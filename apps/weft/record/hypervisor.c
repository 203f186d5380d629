/* SPDX-License-Identifier: ISC
 *
 * weft record xen:host: runs Xen's own tool xentrace, and writes what xentrace does not say: notes
 * of the rate of the cycles, and of one time on Xen's and dom0's clocks at the begin and at the
 * end.
 *
 * xentrace turns Xen's trace on, and at SIGINT off, and writes the rest. It would truncate a file,
 * and with it our notes, so it writes into a pipe. With --processes, notes between xentrace's
 * windows say which processes dom0's kernel runs.
 */
#include "hypervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/guest.h>
#include <weft/xentrace.h>

#include "hypervisor_file.h"
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
	char tool[PATH_MAX];
	struct hypervisor_file file;
	int pipe, messages; /* from xentrace */
	pid_t child;
	sigset_t before; /* the signals that were blocked */
	unsigned char *piece;
	uint64_t bytes;                        /* that xentrace has written */
	struct weft_xentrace_growing *growing; /* with a filter: what it takes of the records */
	struct xen_writer *writer;
	struct xen_filter_state state;
	uint64_t taken; /* records */
	int status;     /* of the child */
	int failure;    /* of writing the file: errno, or 0 */
	bool has_begun; /* Xen records */
	bool was_asked; /* xentrace was asked to end */
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* ---- xentrace ---- */

/* Debian and others keep it beside the other tools of its version, outside of PATH. */
static bool find_tool(char ret_path[PATH_MAX])
{
	glob_t found;
	const char *path = getenv("PATH");
	for (const char *at = path ? path : ""; *at; at += *at == ':') {
		size_t length = strcspn(at, ":");
		snprintf(ret_path, PATH_MAX, "%.*s/xentrace", (int)length, at);
		if (length && access(ret_path, X_OK) == 0)
			return true;
		at += length;
	}
	bool good = glob("/usr/*bin/xentrace", 0, NULL, &found) == 0 ||
				glob("/usr/lib*/xen*/bin/xentrace", 0, NULL, &found) == 0;
	if (good)
		snprintf(ret_path, PATH_MAX, "%s", found.gl_pathv[0]);
	globfree(&found);
	return good;
}

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

/* Runs in the child. Returns only after an error. The child leaves our process group, so that the
 * terminal's Ctrl-C does not interrupt it while it writes, which it would take for a failure. */
static void become_tool(const struct tracing *t, int output, pid_t parent)
{
	char tool[] = "xentrace", discard[] = "-D", option[] = "-e", mask[16],
		 file[] = "/proc/self/fd/1";
	char *arguments[] = {tool, discard, option, mask, file, NULL};
	snprintf(mask, sizeof(mask), "0x%08x", t->request->events);
	prctl(PR_SET_PDEATHSIG, SIGINT);
	if (getppid() != parent || setpgid(0, 0) != 0 || dup2(output, STDOUT_FILENO) < 0 ||
		dup2(t->messages, STDERR_FILENO) < 0)
		return;
	sigprocmask(SIG_SETMASK, &t->before, NULL);
	execv(t->tool, arguments);
	dprintf(STDERR_FILENO, "%s: %s\n", t->tool, strerror(errno));
}

/* False with errno. A large pipe lets xentrace go on while the disk is busy. */
static bool start_tool(struct tracing *t)
{
	int ends[2];
	pid_t parent = getpid();
	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	if (fcntl(ends[1], F_SETPIPE_SZ, 16 * PIECE_BYTES) < 0)
		(void)fcntl(ends[1], F_SETPIPE_SZ, PIECE_BYTES);
	t->child = fork();
	if (t->child == 0) {
		become_tool(t, ends[1], parent);
		_exit(RECORD_NOT_EXECUTABLE);
	}
	int reason = errno;
	close(ends[1]);
	t->pipe = ends[0];
	errno = reason;
	return t->child > 0;
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

/* True if a signal has come that asks us to end. */
static bool is_asked(void)
{
	const struct timespec now = {0, 0};
	const sigset_t awaited = awaited_signals();
	return sigtimedwait(&awaited, NULL, &now) > 0;
}

/* Copies what xentrace has written, or waits for that for a short time; false at its end. */
static bool copy(struct tracing *t)
{
	struct pollfd readable = {.fd = t->pipe, .events = POLLIN};
	const bool is_readable = poll(&readable, 1, LOOK_MS) > 0;
	ssize_t size = is_readable ? read(t->pipe, t->piece, PIECE_BYTES) : 0;
	if (size < 0)
		return errno == EINTR;
	take(t, (size_t)size);
	return size > 0 || !is_readable;
}

/* The duration counts from the first bytes: on a busy host it takes a while until Xen records. */
static bool is_over(struct tracing *t, uint64_t *begun_ns)
{
	const struct record_hypervisor *request = t->request;
	uint64_t now = now_ns();
	if (!t->bytes && !t->has_begun && now - *begun_ns < START_NS)
		return t->failure != 0;
	if (!t->has_begun)
		*begun_ns = now;
	t->has_begun = true;
	return t->failure || (request->max_bytes && t->file.size >= request->max_bytes) ||
		   (request->duration_ns && now - *begun_ns >= request->duration_ns);
}

/* Copies until xentrace has ended, and asks it to when it is time. */
static void copy_all(struct tracing *t)
{
	uint64_t begun = now_ns(), asked = 0;
	while (copy(t)) {
		if (!asked && (is_asked() || is_over(t, &begun))) {
			asked = now_ns();
			kill(t->child, SIGINT);
		}
		if (asked && now_ns() - asked > END_NS)
			kill(t->child, SIGKILL);
	}
	waitpid(t->child, &t->status, 0);
	t->was_asked = asked != 0;
}

/* The last line that xentrace printed. */
static const char *last_message(const struct tracing *t, char text[512])
{
	ssize_t size = pread(t->messages, text, 511, 0);
	size = size > 0 ? size : 0;
	while (size > 0 && text[size - 1] == '\n')
		size--;
	text[size] = '\0';
	const char *line = strrchr(text, '\n');
	return line ? line + 1 : text;
}

/* False after a message. */
static bool judge_end(const struct tracing *t)
{
	char text[512];
	bool is_good = WIFEXITED(t->status) && WEXITSTATUS(t->status) == 0;
	/* It may have left Xen's trace on, which costs all domains time. If it has not written
	 * anything, another xentrace may run, whose trace goes on. */
	if (!is_good && (t->bytes || WIFSIGNALED(t->status)))
		(void)weft_host_end_trace(t->host);
	if (t->failure)
		cli_error("%s: %s", weft__runs_shown(t->request->output), strerror(t->failure));
	else if (!is_good && !(WIFSIGNALED(t->status) && t->was_asked))
		cli_error("xen:host: xentrace failed: %s", last_message(t, text));
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
	t->messages = memfd_create("xentrace", MFD_CLOEXEC);
	t->piece = malloc(PIECE_BYTES);
	if (t->messages < 0 || !t->piece || !start_filter(t) || !start_tool(t)) {
		cli_error("xen:host: %s", strerror(errno));
		return false;
	}
	if (!hypervisor_file_put_clocks(&t->file, t->host, true))
		t->failure = errno;
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

static void report_output(const char *output)
{
	char size[32];
	struct stat status;
	if (weft__runs_is_stdout(output) || stat(output, &status) != 0)
		return;
	const char *name = weft__runs_shown(output);
	cli_error("%s: %s", name, weft__runs_size_text((uint64_t)status.st_size, size));
	cli_error("`weft info %s` summarizes it, `weft view %s` shows it", name, name);
}

static int record(struct tracing *t)
{
	const char *output = t->request->output;
	if (!find_tool(t->tool)) {
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
		report_output(output);
	return good ? CLI_DONE : RECORD_FAILED;
}

int record_hypervisor_run(const struct record_hypervisor *request)
{
	char reason[WEFT_GUEST_REASON_BYTES];
	struct tracing t = {.request = request, .file.fd = -1, .pipe = -1, .messages = -1};
	if (weft_host_open(&t.host, reason) != 0) {
		cli_error("xen:host: %s", reason);
		return RECORD_FAILED;
	}
	int status = record(&t);
	weft__runs_processes_close(t.file.processes);
	weft_host_close(t.host);
	xen_writer_destroy(t.writer);
	weft_xentrace_growing_destroy(t.growing);
	xen_filter_state_finish(&t.state);
	free(t.piece);
	for (int i = 0; i < 3; i++) {
		int fd = i == 0 ? t.file.fd : i == 1 ? t.pipe : t.messages;
		if (fd >= 0)
			close(fd);
	}
	return status;
}
