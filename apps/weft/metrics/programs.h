/* SPDX-License-Identifier: ISC
 *
 * The parts of `weft metrics`, of which other commands use the first: the counters of running
 * programs, and a line for each, as text or JSON.
 */
#ifndef WEFT_APPS_METRICS_PROGRAMS_H
#define WEFT_APPS_METRICS_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <weft/text.h>
#include <weft/trace.h>

#include "metrics/value.h"
#include "runs/attach/counters.h"
#include "runs/attach/page.h"

/* ---- programs.c: reading ---- */

struct metrics_program {
	struct weft__runs_linked linked;
	struct weft__runs_counters counters;
	bool is_domain; /* of Xen: its pid is the domain's number */
};

struct metrics_programs {
	struct metrics_program *list;
	size_t count;
	struct weft__metrics_sample *samples; /* in the order of programs and of their counters */
	size_t sample_count;
};

/* The processes of which the user gave the numbers. CLI_DONE, or another status after a message. */
int metrics_programs_name(const char *command, char *const *operands, int count,
	struct weft__runs_linked_list *ret_linked);

/* Called for a program whose counters cannot be read. */
typedef void metrics_unreadable(pid_t pid, int error);

/* Reads the counters of all these programs, or the children of their metrics; those that cannot be
 * read, as they have ended or have none, are left out. False without memory. The caller calls
 * finish in any case. */
bool metrics_programs_read(const struct weft__runs_linked_list *linked, bool children,
	metrics_unreadable *unreadable, struct metrics_programs *ret_programs);
/* Adds what the hypervisor counts of each domain of Xen, if this is dom0. False without memory. */
bool metrics_programs_add_domains(struct metrics_programs *programs);
void metrics_programs_finish(struct metrics_programs *programs);

/* Lists the samples of the programs. False without memory. */
bool metrics_programs_list(struct metrics_programs *programs);

/* ---- lines.c: a line for each counter ---- */

/* A member of an object, without its end. Its `time` is on the trace's own clock, as --at takes it.
 */
void metrics_add_json_exemplar(struct weft_text *text, const struct weft__runs_counter *counter);

void metrics_add_text_head(struct weft_text *text);
void metrics_add_text(struct weft_text *text, const struct weft__metrics_sample *sample);
/* Without the program. */
void metrics_add_value(struct weft_text *text, const struct weft__runs_counter *counter);
/* An object, without a newline behind it. */
void metrics_add_json(struct weft_text *text, const struct weft__metrics_sample *sample);

/* ---- traces.c: values at the end of a trace ---- */

/* The metrics that a buffer of a trace has: those that its program had at its end. False: none, or
 * too little memory. The caller calls weft__runs_counters_finish() if it is true. */
bool metrics_trace_buffer(
	const struct weft_trace_buffer *buffer, struct weft__runs_counters *ret_metrics);

/* The same of the calls of categories at the level "count". */
bool metrics_trace_counted(
	const struct weft_trace_buffer *buffer, struct weft__runs_counters *ret_counted);

/* True if an operand is a trace, not a process: then all have to be. */
bool metrics_names_traces(char **operands, int count);

/* Reads counters and metrics of all programs of a trace as they were at its end. Counters of which
 * the trace does not know the value are left out. CLI_DONE, or another status after a message; the
 * caller calls finish in any case. */
int metrics_trace_read(char **files, int count, struct metrics_programs *ret_programs);

#endif
