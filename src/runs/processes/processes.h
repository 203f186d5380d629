/* SPDX-License-Identifier: ISC
 *
 * Which process this machine's processors run, by the kernel's own tracing (tracefs), as notes for
 * a trace of Xen. It has an instance of tracefs to itself, so that other tracing goes on as it is.
 */
#ifndef WEFT_RUNS_PROCESSES_PROCESSES_H
#define WEFT_RUNS_PROCESSES_PROCESSES_H

#include <stdbool.h>

#include "runs/processes/notes.h"

#define WEFT__RUNS_PROCESSES_REASON 256

struct weft__runs_processes;

/* Begins to trace; removes what a killed program may have left there. NULL with a reason. */
struct weft__runs_processes *weft__runs_processes_start(char reason[WEFT__RUNS_PROCESSES_REASON]);

/* Gives the notes of all that the kernel has recorded since the last call. False if `take` was. */
bool weft__runs_processes_read(
	struct weft__runs_processes *processes, weft__runs_take_note *take, void *context);

/* Ends the tracing; what was recorded before can still be read. */
void weft__runs_processes_stop(struct weft__runs_processes *processes);
void weft__runs_processes_close(struct weft__runs_processes *processes);

#endif
