/* SPDX-License-Identifier: ISC
 *
 * The final messages of `weft record`: the trace's path, its content and the commands that show it;
 * or the reason why there is no trace.
 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/buffer.h>
#include <weft/event.h>

#include "cli/cli.h"
#include "runs/message.h"
#include "runs/saving/name.h"

/* Formats a number as "1,234,567". */
static const char *grouped(uint64_t number, char text[32])
{
	char *at = text + 31;
	*at = '\0';
	for (unsigned digits = 0; number || !digits; digits++, number /= 10) {
		if (digits && digits % 3 == 0)
			*--at = ',';
		*--at = (char)('0' + number % 10);
	}
	return at;
}

/* The content of a trace, for the message. */
struct content {
	uint64_t bytes, events, lost, overwritten;
	char causes[512];
};

static void add_losses(const uint64_t losses[WEFT_LOSS_CAUSES], struct content *content)
{
	size_t used = 0;
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++) {
		if (!losses[cause] || used >= sizeof(content->causes))
			continue;
		char number[32];
		content->lost += losses[cause];
		used += (size_t)snprintf(content->causes + used, sizeof(content->causes) - used, "%s%s %s",
			used ? ", " : "", grouped(losses[cause], number),
			weft_loss_name((enum weft_loss)cause));
	}
	content->overwritten = losses[WEFT_LOSS_OVERWRITTEN];
}

/* Reads the trace to find its content. False after a message if it cannot be read. */
static bool read_content(const struct weft__runs_saved *saved, struct content *ret_content)
{
	struct content content = {0};
	struct cli_trace trace;
	struct stat status;
	bool is_stdout = weft__runs_is_stdout(saved->file);
	const char *path = is_stdout ? saved->path : saved->file;
	/* A trace on standard output is summarized from the ring. */
	int fd = is_stdout ? weft__runs_ring_open(path, saved->ring->pid, WEFT_RING_READ)
					   : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0)
		content.bytes = (uint64_t)status.st_size;
	cli_trace_limit(is_stdout ? 0 : UINT64_MAX); /* we wrote the file ourselves */
	bool good = cli_trace_open_descriptor(fd, path, &trace) == CLI_DONE;
	close(fd);
	if (!good)
		return false;
	struct weft_event event;
	int error;
	while ((error = weft_decoder_next(trace.decoder, &event)) == WEFT_OK)
		content.events += event.type != WEFT_EVENT_TOTAL;
	add_losses(weft_decoder_describe(trace.decoder)->losses, &content);
	if (error < 0)
		cli_trace_fail(&trace, error);
	cli_trace_close(&trace);
	*ret_content = content;
	return error >= 0;
}

static const char *shown_file(const struct weft__runs_saved *saved)
{
	return weft__runs_is_stdout(saved->file) ? "standard output" : weft__runs_shown(saved->file);
}

/* A stream's content is known already: reading gigabytes again would take long. */
static bool find_content(const struct weft__runs_saved *saved, struct content *ret_content)
{
	if (!saved->stream)
		return read_content(saved, ret_content);
	*ret_content = (struct content){.bytes = saved->stream->bytes,
		.events = saved->stream->summary.events - saved->stream->unwritten};
	add_losses(saved->stream->summary.losses, ret_content);
	return true;
}

static const char *advice(const struct weft__runs_saved *saved, const struct content *content)
{
	if (saved->stream)
		return saved->stream->summary.losses[WEFT_LOSS_STALLED] && !saved->stream->is_cut
				   ? "; a larger --size bridges longer stalls of the disk"
				   : "";
	return content->overwritten ? "; a larger --size keeps more" : "";
}

/* libweft made a buffer, so the program is linked with it and has got its environment. */
static void explain_empty(const struct weft__runs_saved *saved)
{
	cli_error(
		"%.*s is linked with libweft but recorded no event: it made no call that records before "
		"its end, or WEFT_LEVEL or WEFT_CATEGORIES switch its categories off",
		saved->ring->stem_size, saved->ring->name);
}

static void report_one(const struct weft__runs_saved *saved)
{
	struct content content;
	char number[32], size[32];
	if (!find_content(saved, &content))
		return;
	cli_put("weft: %s: %s", shown_file(saved), weft__runs_size_text(content.bytes, size));
	if (saved->stream && saved->stream->files > 1)
		cli_put(" in %s files, of which it is the last", grouped(saved->stream->files, number));
	cli_put(", %s event%s, ", grouped(content.events, number), content.events == 1 ? "" : "s");
	if (!content.lost)
		cli_inform("none lost");
	else
		cli_inform("%s lost (%s)%s", grouped(content.lost, number), content.causes,
			advice(saved, &content));
	if (!content.events && !content.lost && !saved->ring->is_running && !saved->ring->is_guest)
		explain_empty(saved);
	if (saved->stream && saved->stream->unwritten)
		cli_error("%s more could not be written", grouped(saved->stream->unwritten, number));
}

/* A process that executes another program begins another trace. */
static size_t count_other_processes(const struct weft__runs_saved *saved, size_t count)
{
	size_t processes = 0;
	for (size_t i = 1; i < count; i++) { /* traces of one process are neighbours */
		pid_t pid = saved[i].ring->pid;
		processes += pid != saved[i - 1].ring->pid && pid != saved[0].ring->pid;
	}
	return processes;
}

static void report_count(const struct weft__runs_saved *saved, size_t count)
{
	size_t traces = count - 1, processes = count_other_processes(saved, count);
	if (saved->ring->is_guest)
		cli_put("weft: %zu more trace%s:", traces, traces == 1 ? "" : "s");
	else if (processes == traces)
		cli_put("weft: %zu more process%s:", traces, traces == 1 ? "" : "es");
	else if (!processes)
		cli_put("weft: %zu more program%s that process %d executed:", traces,
			traces == 1 ? "" : "s", (int)saved[0].ring->pid);
	else
		cli_put("weft: %zu more programs, in %zu more process%s:", traces, processes,
			processes == 1 ? "" : "es");
}

/* Reports all traces but the first, in one line, because there may be many. */
static void report_others(const struct weft__runs_saved *saved, size_t count)
{
	enum {
		SHOWN = 6
	};
	if (count < 2)
		return;
	report_count(saved, count);
	for (size_t i = 1; i < count && i <= SHOWN; i++)
		cli_put("%s %s", i > 1 ? "," : "", shown_file(&saved[i]));
	if (count > SHOWN + 1)
		cli_put(" and %zu more", count - SHOWN - 1);
	fputc('\n', stderr);
}

/* True if the buffer was full at some time: a saved buffer that was not is a file with a hole.
 * Reading the traces of hundreds of short processes would take long. */
static bool may_have_lost(const struct weft__runs_saved *saved)
{
	struct stat status;
	if (saved->stream || weft__runs_is_stdout(saved->file) || stat(saved->file, &status) != 0)
		return saved->stream;
	return (uint64_t)status.st_blocks * 512 >= (uint64_t)status.st_size / 4 * 3;
}

/* Buffers of later processes are smaller, so that these may lose events where the first does not.
 */
static void report_losses_of_others(const struct weft__runs_saved *saved, size_t count)
{
	enum {
		SHOWN = 3
	};
	size_t found = 0;
	for (size_t i = 1; i < count; i++) {
		struct content content = {0};
		char number[32];
		if (!may_have_lost(&saved[i]) || !find_content(&saved[i], &content) || !content.lost)
			continue;
		if (found++ < SHOWN)
			cli_inform("weft: %s: %s lost (%s)%s", shown_file(&saved[i]),
				grouped(content.lost, number), content.causes, advice(&saved[i], &content));
	}
	if (found > SHOWN)
		cli_inform("weft: %zu more traces have losses: see `weft info`", found - SHOWN);
}

static void report_running(const struct weft__runs_saved *saved, size_t count)
{
	enum {
		SHOWN = 6
	};
	char pids[SHOWN * 16] = "";
	size_t running = 0, used = 0;
	const struct weft__runs_saved *first = NULL;
	for (size_t i = 0; i < count; i++) {
		if (!saved[i].ring->is_running || saved[i].ring->is_link)
			continue;
		first = first ? first : &saved[i];
		if (running++ < SHOWN)
			used += (size_t)snprintf(pids + used, sizeof(pids) - used, "%s%d", used ? ", " : "",
				(int)saved[i].ring->pid);
	}
	if (running == 1)
		cli_error(
			"process %d is still running: %s ends here", (int)first->ring->pid, shown_file(first));
	else if (running)
		cli_error("%zu processes are still running (%s%s): their traces end here", running, pids,
			running > SHOWN ? ", …" : "");
}

/* Prints two commands that the user can copy. */
static void suggest(const char *file)
{
	static const char suffix[] = ".weft";
	char picture[PATH_MAX + 8];
	size_t length = strlen(file);
	if (length > strlen(suffix) && strcmp(file + length - strlen(suffix), suffix) == 0)
		length -= strlen(suffix);
	if (length > 1 && file[length - 1] == '/')
		length--;
	snprintf(picture, sizeof(picture), "%.*s.svg", (int)length, file);
	cli_error("`weft info %s` describes it, `weft render %s -o %s` draws it",
		weft__runs_shown(file), weft__runs_shown(file), weft__runs_shown(picture));
}

void record_report(
	const struct weft__runs_saved *saved, size_t count, size_t left_out, const char *directory)
{
	report_one(&saved[0]);
	report_others(saved, count);
	if (left_out)
		cli_inform("weft: %zu short helper program%s left out; --keep-all keeps %s", left_out,
			left_out == 1 ? " is" : "s are", left_out == 1 ? "it" : "them");
	report_losses_of_others(saved, count);
	report_running(saved, count);
	if (!weft__runs_is_stdout(saved[0].file) && !(saved[0].stream && !saved[0].stream->bytes))
		suggest(directory ? directory : saved[0].file);
}

struct record_sum record_sum_up(const struct weft__runs_saved *saved, size_t count)
{
	struct record_sum sum = {0};
	struct content content;
	for (size_t i = 0; i < count; i++) {
		if (!find_content(&saved[i], &content))
			continue;
		sum.events += content.events;
		sum.lost += content.lost + (saved[i].stream ? saved[i].stream->unwritten : 0);
		sum.is_cut |= saved[i].stream && saved[i].stream->is_cut;
	}
	return sum;
}
