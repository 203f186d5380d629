/* SPDX-License-Identifier: ISC
 *
 * The lines of a trace in Chrome's format: each is one object of the list of events.
 *
 * Lines are held back for a while, with holes for the names of tasks, because most programs name a
 * task only after they have created it.
 */
#ifndef WEFT_EXPORT_CHROME_LINES_H
#define WEFT_EXPORT_CHROME_LINES_H

#include <stdbool.h>

#include <weft/export.h>
#include <weft/text.h>

#include "base/index.h"

/* Where a name is missing. */
struct weft__chrome_hole {
	size_t at;
	uint32_t task;
};

struct weft__chrome_lines {
	struct weft_export_chrome_sink sink;
	struct weft_text text;
	struct weft__chrome_hole *holes;
	uint32_t hole_count;
	size_t hole_capacity;
	size_t half; /* a beginning of a line: lines before it are written next; 0: none yet */
	bool has_lines;
	int error;
	/* The numbers of processes and threads, which are different ones, as the format wants. */
	uint64_t *pids, *tids;
	uint32_t pid_count, tid_count;
	size_t pid_capacity, tid_capacity;
	uint32_t *processes; /* of threads */
	size_t process_capacity;
	struct weft__index pid_index, tid_index;
	/* Appends a task's name. */
	void (*name)(void *context, uint32_t task, struct weft_text *text);
	void *context;
};

int weft__export_chrome_lines_init(struct weft__chrome_lines *lines);
void weft__export_chrome_lines_finish(struct weft__chrome_lines *lines);

/* Writes the names of processes and threads that are new. */
void weft__export_chrome_declare(
	struct weft__chrome_lines *lines, const struct weft_trace_description *trace);

/* Writes when and how the processes ended, as far as it is known, and what is lost. */
void weft__export_chrome_declare_ends(
	struct weft__chrome_lines *lines, const struct weft_trace_description *trace);

/* Begins a line up to its name, which is to be added next. */
void weft__export_chrome_begin(
	struct weft__chrome_lines *lines, char phase, uint64_t time_ns, uint32_t thread);
/* The name: a text, or that of a task. */
void weft__export_chrome_name(struct weft__chrome_lines *lines, struct weft_slice name);
void weft__export_chrome_name_task(struct weft__chrome_lines *lines, uint32_t task);
/* The member id2: a letter and a number, so that ids of different things differ. */
void weft__export_chrome_id(struct weft__chrome_lines *lines, const char *letter, uint64_t id);
/* The member id of an arrow, in hexadecimal, as Perfetto reads it. */
void weft__export_chrome_flow(struct weft__chrome_lines *lines, uint64_t id);
/* Ends the line, and perhaps hands out others. */
void weft__export_chrome_end(struct weft__chrome_lines *lines);
/* Hands out all lines. */
int weft__export_chrome_flush(struct weft__chrome_lines *lines);

#endif
