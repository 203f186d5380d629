/* SPDX-License-Identifier: ISC
 *
 * Prints the events of a trace that grows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <weft/lines.h>

#include "cli/attach.h"
#include "cli/cli.h"
#include "tail.h"

/* Size of written blocks; a line has about 100 bytes. */
#define BLOCK_BYTES ((size_t)64 << 10)

static const uint64_t SECOND_NS = 1000000000;

struct tail_printer {
	const struct tail_events *what;
	struct weft_growing *growing;
	struct weft_lines lines;
	struct weft_text text;
	uint64_t first_ns;         /* times in text count from here */
	uint64_t start_ns, end_ns; /* of the events that are printed */
	uint64_t reported[WEFT_LOSS_CAUSES];
	time_t reported_at;
	uint64_t count;
};

/* Prints new losses by cause, at most once a second unless it is the `last` time. */
static void report_losses(struct tail_printer *p, bool last)
{
	const uint64_t *losses = weft_growing_describe(p->growing)->losses;
	if (time(NULL) == p->reported_at && !last)
		return;
	p->reported_at = time(NULL);
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++) {
		uint64_t lost = losses[cause] - p->reported[cause];
		p->reported[cause] = losses[cause];
		if (lost)
			cli_inform("%s: %" PRIu64 " event%s lost (%s)", p->what->name, lost,
				lost == 1 ? "" : "s",
				cause == WEFT_LOSS_STALLED       ? "stalled: overwritten before they were read"
				: cause == WEFT_LOSS_OVERWRITTEN ? "overwritten before the first one that was read"
												 : weft_loss_name((enum weft_loss)cause));
	}
}

static void report_damage(const struct tail_printer *p)
{
	const struct weft_diagnostics *diagnostics = weft_growing_diagnostics(p->growing);
	char text[256];
	for (size_t i = 0; i < diagnostics->count; i++) {
		weft_diagnostic_format(&diagnostics->list[i], text, sizeof(text));
		cli_inform(
			"%s: offset 0x%" PRIx64 ": %s", p->what->name, diagnostics->list[i].offset, text);
	}
}

static void begin_line(struct tail_printer *p, uint64_t time_ns)
{
	p->first_ns = time_ns;
	if (p->what->range)
		p->what->range(p->what->context, time_ns, &p->start_ns, &p->end_ns);
}

/* False after the end of the range. */
static bool add_event(struct tail_printer *p, const struct weft_event *event)
{
	const struct weft_trace_description *trace = weft_growing_describe(p->growing);
	if (event->time_ns < p->start_ns && p->what->only_new)
		return true;
	if (p->count == 0)
		begin_line(p, event->time_ns);
	if (p->count++ == 0 || trace->thread_count > 1) /* there may be a new thread */
		weft_lines_init(&p->lines, trace, p->first_ns);
	if (event->time_ns >= p->end_ns && p->end_ns != UINT64_MAX)
		return false;
	if (event->time_ns < p->start_ns)
		return true;
	if (p->what->json)
		weft_lines_add_json(&p->lines, event, &p->text);
	else
		weft_lines_add_text(&p->lines, event, &p->text);
	return true;
}

/* Flushes at once, so that the reader of a pipe gets it now. */
static bool flush(struct tail_printer *p)
{
	return p->text.size == 0 || (cli_write(&p->text) && fflush(stdout) == 0);
}

static bool flush_block(struct tail_printer *p)
{
	if (p->text.size < BLOCK_BYTES)
		return true;
	report_losses(p, false);
	return flush(p);
}

/* Prints the events that are there. WEFT_AGAIN, WEFT_END, or an error; WEFT_OK: stop. */
static int print_ready(struct tail_printer *p)
{
	struct weft_event event;
	int status = WEFT_OK;
	bool goes_on = true;
	while (goes_on && !cli_is_interrupted() &&
		   (status = weft_growing_next(p->growing, &event)) == WEFT_OK)
		goes_on = add_event(p, &event) && flush_block(p);
	return flush(p) && goes_on && !cli_is_interrupted() ? status : WEFT_OK;
}

static int print_all(struct tail_printer *p)
{
	int status;
	while ((status = print_ready(p)) == WEFT_AGAIN) {
		report_losses(p, false);
		status = weft_growing_wait(p->growing, SECOND_NS);
		if (status < 0)
			break;
	}
	return status;
}

/* Leaves out what was recorded before now. After a second look, the mark is at least the time of
 * the first. An input without marks is read up to its end. */
static int skip_old(struct tail_printer *p)
{
	struct weft_growing_state state;
	struct weft_event event;
	int status = WEFT_OK;
	for (int look = 0; look < 2 && status >= 0; look++)
		status = weft_growing_wait(p->growing, 0);
	weft_growing_state(p->growing, &state);
	p->start_ns = state.mark_ns;
	while (!state.mark_ns && status == WEFT_OK)
		status = weft_growing_next(p->growing, &event);
	return status < 0 ? status : 0;
}

/* The first Ctrl-C ends the command after printing what was read; the second ends it at once. */
int tail_events(struct weft_growing *growing, const struct tail_events *what)
{
	struct tail_printer p = {.what = what, .growing = growing, .end_ns = UINT64_MAX};
	cli_catch_interrupts();
	int status = what->only_new ? skip_old(&p) : 0;
	if (status == WEFT_OK)
		status = print_all(&p);
	report_losses(&p, true);
	report_damage(&p);
	weft_text_finish(&p.text);
	if (status < 0)
		cli_trace_explain(what->name, status);
	else if (status == WEFT_END && p.count == 0 && !what->only_new)
		cli_inform("%s: a valid trace without events", what->name);
	return status < 0 ? CLI_UNREADABLE : CLI_DONE;
}
