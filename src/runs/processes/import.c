/* SPDX-License-Identifier: ISC
 *
 * Xen's records have the processor's counter. A file has it too, or CLOCK_MONOTONIC, which
 * `weft record xen:host` reads together with the counter.
 */
#include "runs/processes/import.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/error.h>
#include <weft/source.h>

#include "format/ftrace/capture.h"

#define COMPARISONS_MAX 64

struct import_clock {
	bool is_counter;
	double cycles_per_ns;
	uint64_t counter, monotonic_ns; /* at one time */
};

static const char *error_of(int error)
{
	return error == WEFT_ERROR_SYSTEM ? strerror(errno) : weft_error_text(error);
}

/* By the first and the last comparison; of one alone, by the rate of the cycles. */
static bool learn_monotonic(
	struct import_clock *clock, const struct weft_xentrace_note *notes, size_t count)
{
	uint64_t counter = 0, xen_ns = 0, last_counter = 0, last_ns = 0;
	unsigned comparisons = 0;
	for (size_t i = 0; i < count; i++) {
		const uint64_t *values = notes[i].values;
		if (notes[i].kind == WEFT_XENTRACE_NOTE_RATE)
			clock->cycles_per_ns = (double)values[0] / 1e9;
		if (notes[i].kind == WEFT_XENTRACE_NOTE_TIME) {
			counter = values[0];
			xen_ns = values[1];
		}
		if (notes[i].kind != WEFT_XENTRACE_NOTE_HOST || values[0] != xen_ns)
			continue;
		last_counter = counter;
		last_ns = values[1];
		if (comparisons++ == 0) {
			clock->counter = counter;
			clock->monotonic_ns = last_ns;
		}
	}
	if (last_ns > clock->monotonic_ns && last_counter > clock->counter)
		clock->cycles_per_ns =
			(double)(last_counter - clock->counter) / (double)(last_ns - clock->monotonic_ns);
	return comparisons && clock->cycles_per_ns > 0;
}

static bool learn_clock(struct import_clock *clock, const struct weft__ftrace_capture *capture,
	const struct weft_xentrace_note *notes, size_t count, char reason[])
{
	clock->is_counter = strcmp(capture->clock, "x86-tsc") == 0;
	if (clock->is_counter)
		return true;
	if (strcmp(capture->clock, "mono") != 0)
		snprintf(reason, WEFT__RUNS_IMPORT_REASON,
			"its clock is `%s`, which the trace of Xen does not have: record it with `trace-cmd "
			"record -C x86-tsc` or `perf sched record -k CLOCK_MONOTONIC`",
			capture->clock);
	else if (learn_monotonic(clock, notes, count))
		return true;
	else
		snprintf(reason, WEFT__RUNS_IMPORT_REASON,
			"its times are of CLOCK_MONOTONIC, of which the trace of Xen has no readings: `weft "
			"record xen:host` writes them, or record it with `trace-cmd record -C x86-tsc`");
	return false;
}

static uint64_t convert(const struct import_clock *clock, uint64_t time)
{
	if (clock->is_counter)
		return time;
	const double passed = (double)(int64_t)(time - clock->monotonic_ns) * clock->cycles_per_ns;
	const double cycles = (double)clock->counter + passed;
	return cycles > 0 && cycles < 0x1p63 ? clock->counter + (uint64_t)(int64_t)rint(passed) : 0;
}

static bool give(struct weft__ftrace_capture *capture, const struct import_clock *clock,
	weft__runs_take_note *take, void *context, char reason[])
{
	struct weft__runs_notes notes;
	struct weft__ftrace_event event = {0};
	uint32_t cpu;
	bool good = weft__runs_notes_init(&notes);
	notes.take = take;
	notes.context = context;
	while (good && weft__format_ftrace_capture_next(capture, &event, &cpu)) {
		event.time = convert(clock, event.time);
		weft__runs_notes_add(&notes, cpu, &event);
		good = !notes.has_failed;
	}
	if (good)
		weft__runs_notes_end(&notes, event.time);
	good = good && !notes.has_failed;
	weft__runs_notes_finish(&notes);
	if (!good)
		snprintf(reason, WEFT__RUNS_IMPORT_REASON, "%s", weft_error_text(WEFT_ERROR_MEMORY));
	return good;
}

static bool is_beside(const struct weft__ftrace_capture *capture, const struct import_clock *clock,
	uint64_t first_cycles)
{
	return capture->count && convert(clock, capture->list[capture->count - 1].time) >= first_cycles;
}

bool weft__runs_processes_import(const char *path, const struct weft_xentrace_note *notes,
	size_t note_count, uint64_t first_cycles, weft__runs_take_note *take, void *context,
	char reason[WEFT__RUNS_IMPORT_REASON])
{
	struct weft_source *source;
	struct weft__ftrace_capture capture = {0};
	struct import_clock clock = {0};
	size_t size;
	int error = weft_source_open(path, &source);
	if (error) {
		snprintf(reason, WEFT__RUNS_IMPORT_REASON, "%s", error_of(error));
		return false;
	}
	const uint8_t *bytes = weft_source_bytes(source, &size);
	error = weft__format_ftrace_capture_open(bytes, size, &capture);
	bool good = !error && learn_clock(&clock, &capture, notes, note_count, reason);
	if (error) {
		snprintf(reason, WEFT__RUNS_IMPORT_REASON, "%s",
			capture.wrong ? capture.wrong : weft_error_text(error));
	} else if (good && !is_beside(&capture, &clock, first_cycles)) {
		snprintf(reason, WEFT__RUNS_IMPORT_REASON,
			"it ends before the trace of Xen begins, or is of another boot");
		good = false;
	}
	good = good && give(&capture, &clock, take, context, reason);
	weft__format_ftrace_capture_finish(&capture);
	weft_source_close(source);
	return good;
}
