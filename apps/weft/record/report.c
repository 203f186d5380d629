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

#include "cli.h"
#include "runs/message.h"
#include "runs/name.h"

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
		content.events++;
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
	if (saved->stream && saved->stream->unwritten)
		cli_error("%s more could not be written", grouped(saved->stream->unwritten, number));
}

/* Reports all traces but the first, in one line, because there may be many. */
static void report_others(const struct weft__runs_saved *saved, size_t count)
{
	enum {
		SHOWN = 6
	};
	if (count < 2)
		return;
	cli_put("weft: %zu more process%s:", count - 1, count == 2 ? "" : "es");
	for (size_t i = 1; i < count && i <= SHOWN; i++)
		cli_put("%s %s", i > 1 ? "," : "", shown_file(&saved[i]));
	if (count > SHOWN + 1)
		cli_put(" and %zu more", count - SHOWN - 1);
	fputc('\n', stderr);
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
	snprintf(picture, sizeof(picture), "%.*s.svg", (int)length, file);
	cli_error("`weft info %s` describes it, `weft render %s -o %s` draws it",
		weft__runs_shown(file), weft__runs_shown(file), weft__runs_shown(picture));
}

void record_report(const struct weft__runs_saved *saved, size_t count)
{
	report_one(&saved[0]);
	report_others(saved, count);
	report_running(saved, count);
	if (!weft__runs_is_stdout(saved[0].file) && !(saved[0].stream && !saved[0].stream->bytes))
		suggest(saved[0].file);
}

void record_report_nothing(const char *program)
{
	cli_error(
		"%s recorded nothing: it neither is linked with libweft nor starts a program that is, "
		"or it is set-user-ID",
		weft__runs_shown(program));
}

/* True if the reason is about a setting: the process recorded in spite of it. */
static bool is_about_setting(const char *reason)
{
	return strncmp(reason, "WEFT_LEVEL: ", 12) == 0 ||
		   strncmp(reason, "WEFT_CATEGORIES: ", 17) == 0 ||
		   strncmp(reason, "WEFT_SYSCALLS: ", 15) == 0;
}

static void report_refused(const char *path, pid_t pid)
{
	struct weft_buffer_summary summary;
	size_t size;
	if (!weft__runs_ring_summarize(path, pid, &summary, &size))
		return;
	const size_t shown = sizeof(summary.refused) / sizeof(summary.refused[0]);
	for (size_t i = 0; i < summary.refused_count && i < shown; i++)
		cli_error("process %u could not record: %s: %s", (unsigned)summary.refused[i].pid,
			summary.refused[i].step, strerror(summary.refused[i].reason));
	if (summary.refused_count > shown)
		cli_error("%u more processes could not record", (unsigned)(summary.refused_count - shown));
}

/* The link may come from a hostile process: escape its text for the terminal. */
static void make_harmless(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
			*text = '?';
}

/* `has_ring`: the process recorded something nonetheless. */
static void report_failure(const char *directory, const struct weft__runs_ring *ring, bool has_ring)
{
	char path[PATH_MAX + NAME_MAX + 1], reason[512];
	snprintf(path, sizeof(path), "%s%s", directory, ring->name);
	ssize_t size = readlink(path, reason, sizeof(reason) - 1);
	snprintf(path, sizeof(path), "%.*s", ring->stem_size, ring->name);
	reason[size > 0 ? size : 0] = '\0';
	make_harmless(reason);
	const char *outcome = has_ring && is_about_setting(reason) ? "recorded, but ignored a setting"
						  : has_ring                           ? "did not record everything"
															   : "could not record";
	cli_error("%s %s: %s", weft__runs_shown(path), outcome, size > 0 ? reason : strerror(errno));
}

static bool has_ring(const struct weft__runs_rings *rings, pid_t pid)
{
	for (size_t i = 0; i < rings->count; i++)
		if (rings->list[i].pid == pid && !rings->list[i].is_failure)
			return true;
	return false;
}

static void report_failures(const char *directory, const struct weft__runs_rings *rings)
{
	const size_t shown = 8; /* there may be many */
	size_t failures = 0;
	for (size_t i = 0; i < rings->count; i++) {
		const struct weft__runs_ring *ring = &rings->list[i];
		if (ring->is_failure && ++failures <= shown)
			report_failure(directory, ring, has_ring(rings, ring->pid));
	}
	if (failures > shown)
		cli_error("%zu more such messages are left out", failures - shown);
}

void record_report_missing(const char *directory, const struct weft__runs_rings *rings)
{
	char path[PATH_MAX + NAME_MAX + 1];
	report_failures(directory, rings);
	weft__runs_rings_report_refused(directory, rings);
	for (size_t i = 0; i < rings->count; i++) {
		snprintf(path, sizeof(path), "%s%s", directory, rings->list[i].name);
		if (!rings->list[i].is_failure)
			report_refused(path, rings->list[i].pid);
	}
}
