/* SPDX-License-Identifier: ISC
 *
 * The processes and threads that a trace of Chrome names, and what is true of each thread while its
 * events are read.
 */
#ifndef WEFT_FORMAT_CHROME_THREADS_H
#define WEFT_FORMAT_CHROME_THREADS_H

#include <stdint.h>

#include <weft/trace.h>

#include "base/index.h"
#include "format/chrome/entry.h"

/* Events of further ones are left out: real traces have thousands at most. */
#define WEFT__CHROME_PROCESSES_MAX 4096u
#define WEFT__CHROME_THREADS_MAX   65536u

#define WEFT__CHROME_NONE UINT32_MAX

struct weft__chrome_process {
	uint64_t hash; /* of its pid */
	uint64_t pid;
	char *name, *host; /* NULL: unknown */
	/* As weft itself wrote it; see struct weft_trace_buffer. */
	uint64_t end_ns, ending, wait_status, categories;
};

struct weft__chrome_thread {
	uint64_t hash; /* of pid and tid */
	uint64_t tid;
	uint32_t process;
	char *name; /* NULL: unknown */
	/* From here on for the reader. */
	uint64_t task;      /* that stands for the thread; 0: none yet */
	uint32_t innermost; /* of its slices that are open */
	uint32_t callback;  /* the async that runs on it, as node says */
	uint32_t owed;      /* ends of slices that were ended before */
};

struct weft__chrome_threads {
	struct weft__chrome_process *processes;
	struct weft__chrome_thread *list;
	uint32_t process_count, count;
	size_t process_capacity, capacity;
	struct weft__index process_index, index;
	uint64_t losses[WEFT_LOSS_CAUSES];
	struct weft_clock clock; /* if weft itself wrote it; else its name is NULL */
	/* For the description of the trace. */
	struct weft_trace_buffer *buffers;
	struct weft_trace_thread *described;
};

int weft__format_chrome_threads_init(struct weft__chrome_threads *threads);
void weft__format_chrome_threads_finish(struct weft__chrome_threads *threads);

/* The thread of an event, which the first call for it adds; WEFT__CHROME_NONE: there are too
 * many. 0 or an error. */
int weft__format_chrome_find_thread(struct weft__chrome_threads *threads,
	const struct weft__chrome_entry *entry, uint32_t *ret_thread);

/* Takes a metadata event about a thread or a process. 0 or an error. */
int weft__format_chrome_metadata(struct weft__chrome_threads *threads,
	struct weft__chrome_texts *texts, const struct weft__chrome_entry *entry);

/* Fills the description, which borrows from `threads`; no thread is added after that. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__format_chrome_describe(
	struct weft__chrome_threads *threads, struct weft_trace_description *description);

#endif
