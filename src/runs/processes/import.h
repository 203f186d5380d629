/* SPDX-License-Identifier: ISC
 *
 * The processes in a file of trace-cmd or perf that was recorded in dom0 beside a trace of Xen.
 */
#ifndef WEFT_RUNS_PROCESSES_IMPORT_H
#define WEFT_RUNS_PROCESSES_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runs/processes/notes.h"

#define WEFT__RUNS_IMPORT_REASON 256

/* Gives the notes of the file, from the trace's `first_cycles` on and those that tell what ran
 * then. `notes` are those of the trace of Xen, which convert times of CLOCK_MONOTONIC. False with a
 * reason. */
bool weft__runs_processes_import(const char *path, const struct weft_xentrace_note *notes,
	size_t note_count, uint64_t first_cycles, weft__runs_take_note *take, void *context,
	char reason[WEFT__RUNS_IMPORT_REASON]);

#endif
