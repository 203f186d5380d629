/* SPDX-License-Identifier: ISC
 *
 * weft dump --follow: prints what is in a file and what is added to it, until Ctrl-C. Of a
 * program's buffer these are the events that it records, until the program ends; of another file
 * the bytes that are appended to it, each of which is decoded once.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <weft/follow.h>

#include "cli/attach.h"
#include "dump.h"
#include "tail/xentrace.h"

#define LOOK_MS 50

/* A file whose format has no parts that can be decoded alone is taken for complete if nothing is
 * added to it for so long. */
#define IDLE_LOOKS 20

static const uint64_t SECOND_NS = 1000000000;

/* Either a buffer that is followed, or a file that grows. */
struct growing_events {
	struct weft_follow *follow;
	struct weft_source_growth *growth;
	struct weft_decoder *decoder;
	unsigned idle_looks;
	bool has_events;
};

struct event_printer {
	const struct dump_options *options;
	struct weft_lines lines;
	struct weft_text text;
	struct dump_range range;
	uint64_t start_ns, count, shown;
};

/* ---- The events ---- */

static int open_events(const char *path, struct growing_events *e)
{
	int error = weft_follow_open(path, &e->follow);
	if (error != WEFT_ERROR_FORMAT && error != WEFT_ERROR_EMPTY)
		return error;
	error = weft_source_growth_open(path, &e->growth);
	if (!error)
		error = weft_decoder_create(&e->decoder);
	if (!error)
		weft_decoder_set_hz(e->decoder, cli_trace_hz());
	return error;
}

static void close_events(struct growing_events *e)
{
	weft_follow_close(e->follow);
	weft_decoder_destroy(e->decoder);
	weft_source_growth_close(e->growth);
}

/* Gives the decoder what was added to the file. WEFT_OK, WEFT_AGAIN if nothing was, or an error. */
static int feed(struct growing_events *e)
{
	const void *bytes;
	size_t size;
	int status = weft_source_growth_next(e->growth, &bytes, &size);
	if (status == WEFT_END)
		return weft_decoder_finish(e->decoder);
	if (status == WEFT_OK)
		e->idle_looks = 0;
	return status == WEFT_OK ? weft_decoder_feed(e->decoder, bytes, size) : status;
}

static int next_event(struct growing_events *e, struct weft_event *ret_event)
{
	int status;
	if (e->follow)
		return weft_follow_next(e->follow, ret_event);
	while ((status = weft_decoder_next(e->decoder, ret_event)) == WEFT_AGAIN) {
		status = feed(e);
		if (status != WEFT_OK)
			return status;
	}
	e->has_events |= status == WEFT_OK;
	return status;
}

static int wait_for_events(struct growing_events *e)
{
	if (e->follow)
		return weft_follow_wait(e->follow, SECOND_NS);
	if (!e->has_events && weft_decoder_is_pending(e->decoder) && ++e->idle_looks == IDLE_LOOKS)
		return weft_decoder_finish(e->decoder);
	poll(NULL, 0, LOOK_MS);
	return 0;
}

static const struct weft_trace_description *describe(const struct growing_events *e)
{
	return e->follow ? weft_follow_describe(e->follow) : weft_decoder_describe(e->decoder);
}

static const struct weft_diagnostics *diagnostics_of(const struct growing_events *e)
{
	return e->follow ? weft_follow_diagnostics(e->follow) : weft_decoder_diagnostics(e->decoder);
}

/* ---- Printing ---- */

static bool flush(struct event_printer *p)
{
	return p->text.size == 0 || (cli_write(&p->text) && fflush(stdout) == 0);
}

/* False after the end of the range. */
static bool print_event(
	struct event_printer *p, const struct growing_events *e, const struct weft_event *event)
{
	const struct weft_trace_description *trace = describe(e);
	if (p->count == 0) {
		p->start_ns = event->time_ns;
		p->range = dump_find_range(p->options, event->time_ns);
	}
	if (p->count++ == 0 || trace->thread_count > 1) /* there may be a new thread */
		weft_lines_init(&p->lines, trace, p->start_ns);
	if (event->time_ns >= p->range.end_ns && p->range.end_ns != UINT64_MAX)
		return false;
	if (event->time_ns < p->range.start_ns)
		return true;
	p->shown++;
	if (p->options->json)
		weft_lines_add_json(&p->lines, event, &p->text);
	else
		weft_lines_add_text(&p->lines, event, &p->text);
	return true;
}

/* Prints the events that are there. WEFT_AGAIN, WEFT_END, or an error; WEFT_OK: stop. */
static int print_ready(struct event_printer *p, struct growing_events *e)
{
	struct weft_event event;
	int status = WEFT_OK;
	bool goes_on = true;
	while (goes_on && !cli_is_interrupted() && (status = next_event(e, &event)) == WEFT_OK)
		goes_on = print_event(p, e, &event) && (p->text.size < DUMP_BLOCK_BYTES || flush(p));
	return flush(p) && goes_on && !cli_is_interrupted() ? status : WEFT_OK;
}

static int print_all(struct event_printer *p, struct growing_events *e)
{
	int status;
	while ((status = print_ready(p, e)) == WEFT_AGAIN) {
		status = wait_for_events(e);
		if (status < 0)
			break;
	}
	return status;
}

static void report(const char *path, const struct weft_diagnostics *diagnostics)
{
	char text[256];
	for (size_t i = 0; i < diagnostics->count; i++) {
		weft_diagnostic_format(&diagnostics->list[i], text, sizeof(text));
		cli_inform("%s: offset 0x%" PRIx64 ": %s", path, diagnostics->list[i].offset, text);
	}
}

/* Overwritten events were gone before this began; the others are missing from what was printed. */
static void report_losses(const char *path, const uint64_t *losses)
{
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		if (losses[cause])
			cli_inform("%s: %" PRIu64 " event%s lost (%s)", path, losses[cause],
				losses[cause] == 1 ? "" : "s", weft_loss_name((enum weft_loss)cause));
}

static int follow_events(const struct dump_options *options, const char *path)
{
	struct event_printer printer = {.options = options};
	struct growing_events events = {0};
	int status = open_events(path, &events);
	if (!status) {
		status = print_all(&printer, &events);
		if (events.follow)
			report_losses(path, weft_follow_describe(events.follow)->losses);
		report(path, diagnostics_of(&events));
	}
	if (status < 0)
		cli_trace_explain(path, status);
	else if (status == WEFT_END && printer.count == 0)
		cli_inform("%s: a valid trace without events", path);
	weft_text_finish(&printer.text);
	close_events(&events);
	return status < 0 ? CLI_UNREADABLE : CLI_DONE;
}

static int follow_records(const struct dump_options *options, const char *path)
{
	const struct dump_range range = dump_find_range(options, 0);
	const struct tail_xentrace records = {
		.json = options->json,
		.is_followed = true,
		.filter = &options->filter,
		.start_ns = range.start_ns,
		.end_ns = range.end_ns,
	};
	return tail_xentrace(path, &records);
}

/* A directory, device or pipe. */
static bool is_of_other_kind(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* Nothing says what the file will be before its first bytes come. */
static bool wait_for_begin(const char *path)
{
	struct stat status;
	while (stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0) {
		if (cli_is_interrupted())
			return false;
		poll(NULL, 0, LOOK_MS);
	}
	return true;
}

int dump_follow(const struct dump_options *options, const char *path)
{
	int error = weft_source_survive_truncation();
	if (error) {
		cli_trace_explain(path, error);
		return CLI_UNREADABLE;
	}
	if (is_of_other_kind(path)) {
		cli_inform("%s: not a regular file", path);
		return CLI_UNREADABLE;
	}
	cli_catch_interrupts();
	if (!wait_for_begin(path))
		return CLI_DONE;
	if (tail_xentrace_is(path))
		return follow_records(options, path);
	if (!xen_filter_is_empty(&options->filter))
		return cli_usage_error("dump", "--filter needs the records of a trace of Xen");
	return follow_events(options, path);
}
