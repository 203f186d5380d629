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

/* NULL after a message. */
struct watch_trace *watch_trace_open(const char *path, pid_t pid);

void watch_trace_begin_look(struct watch_trace *trace);

/* A thread is seen. Threads with the same `stack` do the same; its words follow. */
void watch_trace_see(
	struct watch_trace *trace, const struct weft__outside_thread *thread, uint32_t stack);

/* Notes which threads have ended. True if it is time to write. */
bool watch_trace_end_look(struct watch_trace *trace);

/* Writes what was seen; `words` has those of each stack. Numbers of stacks may be given anew then.
 */
void watch_trace_write(struct watch_trace *trace, const struct watch_words *words);

/* Ends the trace, which was of the process of that name. False after a message. */
bool watch_trace_close(struct watch_trace *trace, const char *process, bool has_ended);

#endif
