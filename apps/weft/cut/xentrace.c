/* SPDX-License-Identifier: ISC
 *
 * weft cut of Xen's own trace: records of a range, of some domains and classes, in xentrace's
 * format.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "cli/output.h"
#include "cli/xen_writer.h"
#include "runs/processes/import.h"

static bool append(void *output, const void *bytes, size_t size)
{
	return cli_output_append(output, bytes, size);
}

/* ---- Notes ---- */

#define VCPUS_MAX 0x8000u /* of dom0: a note has 15 bits */

struct cycle_range {
	uint64_t start, end;
};

struct note_list {
	struct weft_xentrace_note *list;
	size_t count, capacity;
};

/* Times are up to 0.04 % larger than those of the cycles: `share` says in which direction to err.
 * `first` is the trace's first record. */
static uint64_t cycles_at(const struct weft_clock *clock, const struct weft_xentrace_record *first,
	uint64_t time_ns, double share)
{
	if (time_ns <= first->time_ns || time_ns == UINT64_MAX)
		return time_ns == UINT64_MAX ? UINT64_MAX : 0;
	double passed = (double)(time_ns - first->time_ns) * ((double)clock->hz / 1e9) * share;
	double cycles = (double)first->cycles + passed;
	return cycles < 1.8e19 ? (uint64_t)cycles : UINT64_MAX;
}

static uint32_t vcpu_of(const struct weft_xentrace_note *note)
{
	return note->values[1] >> 48 & (VCPUS_MAX - 1);
}

static bool is_switch_or_fork(const struct weft_xentrace_note *note)
{
	return note->kind == WEFT_XENTRACE_NOTE_SWITCH || note->kind == WEFT_XENTRACE_NOTE_FORK;
}

/* True for a note that belongs in the part. Of the switches before the part, that is the last one
 * of each vCPU, whose number + 1 is in `last`. */
static bool is_wanted(const struct weft_xentrace_note *note, size_t number,
	const struct cycle_range *range, const size_t *last)
{
	if (!is_switch_or_fork(note))
		return note->kind != WEFT_XENTRACE_NOTE_RATE;
	return note->values[0] < range->end &&
		   (note->values[0] >= range->start || last[vcpu_of(note)] == number + 1);
}

/* A name has the time of the next switch or fork. A name behind the range may belong to a later
 * process with the same pid. */
static void add_names(struct xen_writer *writer, const struct weft_xentrace_note *list, size_t from,
	size_t next, const struct cycle_range *range)
{
	for (size_t i = from; i < next && list[next].values[0] < range->end; i++)
		if (list[i].kind == WEFT_XENTRACE_NOTE_NAME)
			xen_writer_add_note(writer, &list[i]);
}

static void add_notes(struct xen_writer *writer, const struct weft_xentrace_note *list,
	size_t count, const struct cycle_range *range)
{
	size_t *last = calloc(VCPUS_MAX, sizeof(*last)), names = 0;
	for (size_t i = 0; i < count && last; i++)
		if (list[i].kind == WEFT_XENTRACE_NOTE_SWITCH && list[i].values[0] < range->start)
			last[vcpu_of(&list[i])] = i + 1;
	for (size_t i = 0; i < count; i++) {
		if (is_switch_or_fork(&list[i])) {
			add_names(writer, list, names, i, range);
			names = i + 1;
		}
		if (list[i].kind != WEFT_XENTRACE_NOTE_NAME &&
			(!last || is_wanted(&list[i], i, range, last)))
			xen_writer_add_note(writer, &list[i]);
	}
	free(last);
}

/* The trace's notes and those of `processes`; the rate is the first of them, also if it was
 * estimated: a part has fewer records to estimate it from. */
static void write_notes(struct xen_writer *writer, const struct weft_cut_range *range,
	const struct xen_filter *filter, const struct note_list *processes,
	const struct cli_trace *trace, const struct weft_xentrace_record *first)
{
	const struct weft_clock *clock = &weft_decoder_describe(trace->decoder)->clock;
	const struct cycle_range cycles = {cycles_at(clock, first, range->start_ns, 0.999),
		cycles_at(clock, first, range->end_ns, 1.001)};
	const struct weft_xentrace_note *list,
		filtered = {.kind = WEFT_XENTRACE_NOTE_FILTERED},
		rate = {WEFT_XENTRACE_NOTE_RATE, {clock->hz, clock->rate == WEFT_RATE_ESTIMATED}};
	const size_t count = weft_decoder_xentrace_notes(trace->decoder, &list);
	if (clock->rate != WEFT_RATE_ASSUMED)
		xen_writer_add_note(writer, &rate);
	if (!xen_filter_is_empty(filter))
		xen_writer_add_note(writer, &filtered);
	add_notes(writer, list, count, &cycles);
	add_notes(writer, processes->list, processes->count, &cycles);
}

/* ---- Processes of another file ---- */

static bool keep_note(void *context, const struct weft_xentrace_note *note)
{
	struct note_list *notes = context;
	if (notes->count == notes->capacity) {
		const size_t capacity = 2 * notes->capacity + 1024;
		struct weft_xentrace_note *list = realloc(notes->list, capacity * sizeof(*list));
		if (!list)
			return false;
		notes->list = list;
		notes->capacity = capacity;
	}
	notes->list[notes->count++] = *note;
	return true;
}

/* Reads the file of trace-cmd or perf. False after a message. */
static bool import_processes(const char *path, const struct cli_trace *trace,
	const struct weft_xentrace_record *first, struct note_list *processes)
{
	char reason[WEFT__RUNS_IMPORT_REASON];
	const struct weft_xentrace_note *notes;
	const size_t count = weft_decoder_xentrace_notes(trace->decoder, &notes);
	if (!path)
		return true;
	for (size_t i = 0; i < count; i++)
		if (notes[i].kind == WEFT_XENTRACE_NOTE_SWITCH) {
			cli_error("%s has the processes of dom0 already", trace->name);
			return false;
		}
	if (weft__runs_processes_import(
			path, notes, count, first->cycles, keep_note, processes, reason))
		return true;
	cli_error("%s: %s", path, reason);
	return false;
}

/* ---- Records ---- */

/* Copies the records from the given one on; returns a status of the decoder. */
static int copy_records(struct xen_writer *writer, const struct weft_cut_range *range,
	const struct xen_filter *filter, const struct cli_trace *trace, int status,
	struct weft_xentrace_record *record, uint64_t *ret_records)
{
	struct xen_filter_state state = {0};
	*ret_records = 0;
	for (uint64_t i = 1; status == WEFT_OK && !xen_writer_error(writer); i++) {
		if (record->time_ns >= range->end_ns && range->end_ns != UINT64_MAX)
			break;
		bool is_taken = xen_filter_has(filter, &state, record);
		bool is_in_range = record->time_ns >= range->start_ns;
		if (is_in_range && (is_taken || xen_filter_keeps(filter, record)))
			xen_writer_add(writer, record);
		*ret_records += is_in_range && is_taken;
		if (i % 65536 == 0) {
			if (trace->input)
				weft_source_forget(weft_input_source(trace->input));
			if (!cli_progress_step(i))
				break;
		}
		status = weft_decoder_next_xentrace(trace->decoder, record);
	}
	xen_writer_flush(writer);
	xen_filter_state_finish(&state);
	return status;
}

static int judge(
	const struct xen_writer *writer, const struct cli_trace *trace, int status, const char *output)
{
	int error = xen_writer_error(writer);
	if (error)
		cli_error("%s: %s", output,
			error == WEFT_ERROR_SYSTEM ? strerror(errno) : weft_error_text(error));
	cli_trace_report(trace);
	return status < 0 ? cli_trace_fail(trace, status) : error ? CLI_NO : CLI_DONE;
}

static int write_part(const struct weft_cut_range *range, const struct cut_request *request,
	const struct cli_trace *trace, int status, struct weft_xentrace_record *record,
	const struct note_list *processes, const char *name, uint64_t *ret_records)
{
	const struct xen_filter *filter = &request->filter;
	struct cli_output output;
	struct xen_writer *writer = xen_writer_create(append, &output);
	if (!writer) {
		cli_error("%s: %s", name, weft_error_text(WEFT_ERROR_MEMORY));
		return CLI_NO;
	}
	if (!cli_output_open(name, &output)) {
		xen_writer_destroy(writer);
		return CLI_NO;
	}
	if (status == WEFT_OK)
		write_notes(writer, range, filter, processes, trace, record);
	status = copy_records(writer, range, filter, trace, status, record, ret_records);
	int answer = judge(writer, trace, status, name);
	if (answer == CLI_DONE && *ret_records)
		answer = cli_output_commit(&output) ? CLI_DONE : CLI_NO;
	else
		cli_output_abandon(&output);
	xen_writer_destroy(writer);
	return answer;
}

int cut_write_xentrace(const struct weft_cut_range *range, const struct cut_request *request,
	const struct cli_trace *trace, int status, struct weft_xentrace_record *record,
	const char *name, uint64_t *ret_records)
{
	struct note_list processes = {0};
	int answer = CLI_NO;
	*ret_records = 0;
	if (status != WEFT_OK || import_processes(request->processes, trace, record, &processes))
		answer = write_part(range, request, trace, status, record, &processes, name, ret_records);
	free(processes.list);
	return answer;
}

int cut_xentrace(const struct cut_request *request, const struct cli_trace *trace)
{
	const struct weft_cut_range range = cut_find_range(request, 0);
	struct weft_xentrace_record record;
	uint64_t records;
	int answer = cut_write_xentrace(&range, request, trace,
		weft_decoder_next_xentrace(trace->decoder, &record), &record, request->output, &records);
	if (answer == CLI_DONE && !records) {
		cli_error("%s: no record in that range", trace->name);
		answer = CLI_NO;
	}
	return answer;
}
