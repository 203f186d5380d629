/* SPDX-License-Identifier: ISC
 *
 * Shared by the files of weft cut.
 */
#ifndef WEFT_APPS_CUT_H
#define WEFT_APPS_CUT_H

#include <weft/cut.h>

#include "cli/checkpoint.h"
#include "cli/xen_filter.h"

/* The arguments of a cut, as given on the command line. */
struct cut_request {
	char **files;
	int file_count;
	const char *output;
	struct cli_time start;
	uint64_t duration_ns;
	uint64_t past_ns; /* UINT64_MAX: all that is before the range is read */
	struct xen_filter filter;
	const char *processes; /* a file of trace-cmd or perf for a trace of Xen; or NULL */
};

/* The range on the trace's clock, given its first event's time. */
struct weft_cut_range cut_find_range(const struct cut_request *request, uint64_t trace_start_ns);

/* Leaves out what the request does not need of a trace whose first event is `event`, and replaces
 * that by the next one, if `status` is WEFT_OK. Returns the new status. */
int cut_skip_past(const struct cut_request *request, struct weft_cut_range *range,
	struct weft_decoder *decoder, int status, struct weft_event *event);

/* Writes the part of one file to `output`; `event` is its first event, if `status` is WEFT_OK, or
 * the first one after the checkpoint `from`, if that is not NULL. Reports damage. Returns an exit
 * status, and the number of events in the range. */
int cut_write(const struct weft_cut_range *range, const struct cli_trace *trace,
	const struct cli_checkpoint *from, int status, struct weft_event *event, const char *output,
	uint64_t *ret_events);

/* Makes the directory that several files are cut or merged into. Other traces in it would later be
 * opened with them. False after a message. */
bool cut_make_directory(const char *verb, const char *directory, bool *ret_is_new);

/* Cuts a trace of several files, each into a file of its own in the directory `output`. */
int cut_several(const struct cut_request *request, const struct cli_trace *trace);

/* Cuts Xen's own trace, in its format. */
int cut_xentrace(const struct cut_request *request, const struct cli_trace *trace);

/* The same for one of several files, of which `record` is the first record, if `status` is WEFT_OK.
 * Returns an exit status, and the number of records in the range, which may be 0. */
int cut_write_xentrace(const struct weft_cut_range *range, const struct cut_request *request,
	const struct cli_trace *trace, int status, struct weft_xentrace_record *record,
	const char *output, uint64_t *ret_records);

#endif
