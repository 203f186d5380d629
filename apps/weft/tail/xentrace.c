/* SPDX-License-Identifier: ISC
 *
 * weft tail of a file that xentrace writes. The order of time is known for the records before the
 * last turn of xentrace through the pCPUs; they come 0.1 s late.
 */
#include "xentrace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/lines.h>
#include <weft/xentrace.h>

#include "cli/cli.h"
#include "cli/attach.h"

#define BLOCK_BYTES ((size_t)64 << 10)
#define LOOK_MS     50

/* xentrace looks at its buffers every 0.1 s. */
#define IDLE_LOOKS 20

/* If leases are not to be had: a file that was changed so recently is still being written. */
#define RECENT_S 5

struct xen_tail {
	const char *path;
	struct weft_source_growth *growth;
	struct weft_xentrace_growing *growing;
	struct weft_text text;
	uint64_t count;
	const struct tail_xentrace *what;
	struct xen_filter_state filtered;
	bool is_new; /* the records are printed */
};

/* A lease for reading is granted only if no process has the file open for writing. One that opens
 * it while we have the lease gets it shortly after, and we get SIGIO. */
static bool is_written(const char *path)
{
	struct stat status;
	signal(SIGIO, SIG_IGN);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return false;
	bool has_lease = fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
	bool is_recent = fstat(fd, &status) == 0 && time(NULL) - status.st_mtime < RECENT_S;
	bool answer = !has_lease && (errno == EAGAIN || is_recent);
	close(fd);
	return answer;
}

bool tail_xentrace_is(const char *path)
{
	unsigned char head[WEFT_XENTRACE_NOTE_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t size = fd >= 0 ? read(fd, head, sizeof(head)) : -1;
	if (fd >= 0)
		close(fd);
	return size > 0 && weft_xentrace_growing_probe(head, (size_t)size);
}

bool tail_xentrace_fits(const char *path)
{
	return tail_xentrace_is(path) && is_written(path);
}

static void report_clock(const struct xen_tail *t)
{
	const struct weft_clock *clock = weft_xentrace_growing_clock(t->growing);
	if (clock->rate != WEFT_RATE_GIVEN)
		cli_inform(
			"%s: the trace does not name the rate of its cycles; %s %.3f MHz, --cpu-hz sets it",
			t->path, clock->rate == WEFT_RATE_ESTIMATED ? "estimated" : "no times in it, assumed",
			(double)clock->hz / 1e6);
}

static bool flush(struct xen_tail *t)
{
	return t->text.size == 0 || (cli_write(&t->text) && fflush(stdout) == 0);
}

/* The filter sees all records before the range, too: they say which vCPUs run. */
static bool is_wanted(struct xen_tail *t, const struct weft_xentrace_record *record)
{
	const struct xen_filter *filter = t->what->filter;
	bool is_taken =
		!filter || xen_filter_is_empty(filter) || xen_filter_has(filter, &t->filtered, record);
	return is_taken && t->is_new && record->time_ns >= t->what->start_ns;
}

/* Prints the records that are complete. WEFT_AGAIN, or an error; WEFT_OK: stop. */
static int print_ready(struct xen_tail *t)
{
	struct weft_xentrace_record record;
	int status;
	while ((status = weft_xentrace_growing_next(t->growing, &record)) == WEFT_OK) {
		if (t->count++ == 0)
			report_clock(t);
		if (record.time_ns >= t->what->end_ns && t->what->end_ns != UINT64_MAX)
			break;
		if (!is_wanted(t, &record))
			continue;
		if (t->what->json)
			weft_lines_add_xentrace_json(&record, &t->text);
		else
			weft_lines_add_xentrace_text(&record, &t->text);
		if (t->text.size >= BLOCK_BYTES && !flush(t))
			return WEFT_OK;
		if (cli_is_interrupted())
			break;
	}
	return flush(t) && !cli_is_interrupted() ? status : WEFT_OK;
}

/* Reads what has been written. WEFT_AGAIN: nothing has; WEFT_END: nothing will be. */
static int read_more(struct xen_tail *t)
{
	const void *bytes;
	size_t size;
	int status = weft_source_growth_next(t->growth, &bytes, &size);
	return status == WEFT_OK ? weft_xentrace_growing_feed(t->growing, bytes, size) : status;
}

static int wait_for_more(struct xen_tail *t, unsigned *idle)
{
	bool was_written = t->what->is_followed || is_written(t->path);
	int status = read_more(t); /* once more: the writer may have ended after its last bytes */
	if (status == WEFT_AGAIN && !was_written)
		return WEFT_END;
	if (status == WEFT_AGAIN && ++*idle == IDLE_LOOKS)
		weft_xentrace_growing_flush(t->growing, false);
	if (status == WEFT_AGAIN)
		poll(NULL, 0, LOOK_MS);
	return status == WEFT_AGAIN ? WEFT_OK : status;
}

/* Prints all records until the writer has ended. WEFT_END, or an error; WEFT_OK: stop. */
static int print_all(struct xen_tail *t)
{
	unsigned idle = 0;
	for (;;) {
		int status = read_more(t);
		if (status == WEFT_OK)
			idle = 0;
		else if (status == WEFT_AGAIN)
			t->is_new = true; /* all that was there is read */
		if (status == WEFT_AGAIN)
			status = wait_for_more(t, &idle);
		if (status == WEFT_END)
			weft_xentrace_growing_flush(t->growing, true);
		int printed = status < 0 ? status : print_ready(t);
		if (printed != WEFT_AGAIN || status == WEFT_END)
			return printed == WEFT_AGAIN ? WEFT_END : printed;
	}
}

static void report_end(const struct xen_tail *t)
{
	const struct weft_diagnostics *diagnostics = weft_xentrace_growing_diagnostics(t->growing);
	for (size_t i = 0; i < diagnostics->count; i++)
		cli_inform("%s: %s (×%" PRIu64 ")", t->path, diagnostics->list[i].message,
			diagnostics->list[i].count);
}

int tail_xentrace(const char *path, const struct tail_xentrace *what)
{
	struct xen_tail t = {.path = path, .what = what, .is_new = !what->only_new};
	int status = weft_source_growth_open(path, &t.growth);
	if (!status)
		status = weft_xentrace_growing_create(cli_trace_hz(), &t.growing);
	if (!status) {
		cli_catch_interrupts();
		status = print_all(&t);
		report_end(&t);
	}
	if (status < 0)
		cli_inform("%s: %s", path,
			status == WEFT_ERROR_SYSTEM ? strerror(errno) : weft_error_text(status));
	weft_text_finish(&t.text);
	xen_filter_state_finish(&t.filtered);
	weft_xentrace_growing_destroy(t.growing);
	weft_source_growth_close(t.growth);
	return status < 0 ? CLI_UNREADABLE : CLI_DONE;
}
