/* SPDX-License-Identifier: ISC
 *
 * The switches between threads of Linux, and the threads that are made, in pages of the kernel's
 * ring buffer (trace_pipe_raw of tracefs). The kernel describes pages and events in texts, which
 * are read first: no number or offset is assumed.
 *
 *     page     u64 time
 *              commit: the bytes of the events, and whether earlier ones were lost
 *              events
 *     event    u32 bits 0-4 type, 5-31 time since the event before
 *              data
 */
#ifndef WEFT_FORMAT_FTRACE_PAGE_H
#define WEFT_FORMAT_FTRACE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT__FTRACE_NAME_BYTES 16

/* A field's offset and size in its page or event; size 0: it has none. */
struct weft__ftrace_field {
	uint32_t offset, size;
};

struct weft__ftrace_formats {
	struct weft__ftrace_field time, commit, data; /* of a page */
	struct weft__ftrace_field type;               /* of any event */
	uint32_t switch_id, fork_id;
	struct weft__ftrace_field prev_name, prev_pid, prev_state, next_name, next_pid;
	struct weft__ftrace_field parent_pid, child_pid;
};

/* Each takes the kernel's text: events/header_page, and the files `format` in events/sched/
 * sched_switch and sched_process_fork. False if it lacks something. */
bool weft__format_ftrace_learn_page(
	struct weft__ftrace_formats *formats, const char *text, size_t size);
bool weft__format_ftrace_learn_switch(
	struct weft__ftrace_formats *formats, const char *text, size_t size);
bool weft__format_ftrace_learn_fork(
	struct weft__ftrace_formats *formats, const char *text, size_t size);

/* The bytes of a page. */
static inline size_t weft__format_ftrace_page_bytes(const struct weft__ftrace_formats *formats)
{
	return (size_t)formats->data.offset + formats->data.size;
}

struct weft__ftrace_event {
	uint64_t time;
	bool is_fork;
	uint32_t pid;                       /* that runs now, or was made */
	uint32_t other;                     /* that ran before, or made it */
	bool has_ended;                     /* `other` never runs again */
	char name[WEFT__FTRACE_NAME_BYTES]; /* of `pid` and `other`; empty in a fork */
	char other_name[WEFT__FTRACE_NAME_BYTES];
};

struct weft__ftrace_page {
	const uint8_t *at, *end;
	uint64_t time; /* of the last event */
	bool has_lost; /* events before this page are missing */
	uint64_t lost; /* how many; 0: the kernel does not say */
};

/* Begins to read a page; false if its header is damaged. */
bool weft__format_ftrace_begin(const struct weft__ftrace_formats *formats, const uint8_t *bytes,
	size_t size, struct weft__ftrace_page *ret_page);

/* The next switch or fork; false at the page's end, or where it is damaged. */
bool weft__format_ftrace_next(const struct weft__ftrace_formats *formats,
	struct weft__ftrace_page *page, struct weft__ftrace_event *ret_event);

#endif
