/* SPDX-License-Identifier: ISC
 *
 * Linux's own tracing of processes, as notes for a trace of Xen.
 */
#ifndef WEFT_RUNS_PROCESSES_NOTES_H
#define WEFT_RUNS_PROCESSES_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/xentrace.h>

#include "format/ftrace/page.h"

/* Takes a note; false ends the reading. */
typedef bool weft__runs_take_note(void *context, const struct weft_xentrace_note *note);

struct weft__runs_notes {
	char (*names)[WEFT__FTRACE_NAME_BYTES]; /* by pid: as the notes have them */
	weft__runs_take_note *take;
	void *context;
	bool has_failed;        /* `take` was false */
	uint8_t has_cpu[4096u]; /* a bit for each processor that had events */
};

/* False without memory. */
bool weft__runs_notes_init(struct weft__runs_notes *notes);
void weft__runs_notes_finish(struct weft__runs_notes *notes);

/* Gives the notes of an event, whose time is one of the counter. */
void weft__runs_notes_add(
	struct weft__runs_notes *notes, uint32_t cpu, const struct weft__ftrace_event *event);

/* Nothing was recorded after that time. */
void weft__runs_notes_end(struct weft__runs_notes *notes, uint64_t time);

#endif
