/* SPDX-License-Identifier: ISC
 *
 * The looks of a watch as a trace in weft's format: a task for each thread, and one for each call
 * in which threads wait.
 */
#ifndef WEFT_APPS_WHY_WATCH_TRACE_H
#define WEFT_APPS_WHY_WATCH_TRACE_H

#include "outside/outside.h"

struct watch_trace;

/* The activity of a thread, in words. */
struct watch_words {
	const char *call;  /* in which it waits; "runs" */
	const char *calls; /* "take (FILE:28) ← work (FILE:36)"; "": unknown */
	bool runs;
};

/* `process` is the name of the process, which must outlive the trace. If the trace is followed,
 * `path` is a new file, which is there from now on. NULL after a message. */
struct watch_trace *watch_trace_open(
	const char *path, pid_t pid, const char *process, bool is_live);

void watch_trace_begin_look(struct watch_trace *trace);

/* A thread is seen. Threads with the same `stack` do the same; its words follow. */
void watch_trace_see(
	struct watch_trace *trace, const struct weft__outside_thread *thread, uint32_t stack);

/* Notes which threads have ended. True if it is time to write. */
bool watch_trace_end_look(struct watch_trace *trace);

/* Writes what was seen; `words` has those of each stack. */
void watch_trace_write(struct watch_trace *trace, const struct watch_words *words);

/* Numbers of stacks are given anew from now on, after all was written. */
void watch_trace_drop_stacks(struct watch_trace *trace);

/* Shows what was written to those that follow the trace. False: it cannot be written. */
bool watch_trace_flush(struct watch_trace *trace);

/* Ends the trace. False after a message. */
bool watch_trace_close(struct watch_trace *trace, bool has_ended);

#endif
