/* SPDX-License-Identifier: ISC
 *
 * Linux's scheduler and its system calls in pages of the kernel's ring buffer
 * (trace_pipe_raw of tracefs). The kernel describes pages and events in texts, which are read
 * first: no number or offset is assumed.
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

enum weft__ftrace_kind {
	WEFT__FTRACE_SWITCH, /* sched_switch */
	WEFT__FTRACE_FORK,   /* sched_process_fork */
	WEFT__FTRACE_WAKING, /* sched_waking: `other` wakes `pid` */
	WEFT__FTRACE_WAKEUP, /* sched_wakeup: `pid` is runnable; nothing says why */
	WEFT__FTRACE_BORN,   /* sched_wakeup_new: the same of a new one */
	WEFT__FTRACE_CALL,   /* raw_syscalls: sys_enter */
	WEFT__FTRACE_RETURN, /* raw_syscalls: sys_exit */
	WEFT__FTRACE_KINDS,
	WEFT__FTRACE_LOSS, /* no event of the kernel: some are missing before this time */
};

#define WEFT__FTRACE_FIELDS_MAX 5

struct weft__ftrace_formats {
	struct weft__ftrace_field time, commit, data; /* of a page */
	struct weft__ftrace_field type, flags, actor; /* of any event */
	struct {
		bool is_known;
		uint32_t id;
		struct weft__ftrace_field fields[WEFT__FTRACE_FIELDS_MAX];
	} events[WEFT__FTRACE_KINDS];
};

/* Takes the kernel's text events/header_page. False if it lacks something. */
bool weft__format_ftrace_learn_page(
	struct weft__ftrace_formats *formats, const char *text, size_t size);
/* Takes a file `format` of an event. False if it lacks something, or if it is another event. */
bool weft__format_ftrace_learn_event(
	struct weft__ftrace_formats *formats, const char *text, size_t size);

/* The bytes of a page. */
static inline size_t weft__format_ftrace_page_bytes(const struct weft__ftrace_formats *formats)
{
	return (size_t)formats->data.offset + formats->data.size;
}

struct weft__ftrace_event {
	uint64_t time;
	enum weft__ftrace_kind kind;
	uint32_t pid; /* that runs now, was made, is woken, or calls */
	/* That ran before, made it, or wakes it; or the number of the call; or how many events are
	 * lost, 0: unknown. */
	uint32_t other;
	bool has_ended;                     /* `other` never runs again */
	bool is_runnable;                   /* `other` would run on */
	bool is_interrupt;                  /* an interrupt did it, on behalf of no thread */
	char name[WEFT__FTRACE_NAME_BYTES]; /* of `pid` and `other`; "": unknown */
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

/* The next event of a known kind; false at the page's end, or where it is damaged. */
bool weft__format_ftrace_next(const struct weft__ftrace_formats *formats,
	struct weft__ftrace_page *page, struct weft__ftrace_event *ret_event);

/* The data of the next event of any kind; false at the page's end, or where it is damaged. */
bool weft__format_ftrace_next_data(
	struct weft__ftrace_page *page, const uint8_t **ret_data, size_t *ret_size);

/* Reads an event's data; false if they are of no known kind, or too short. */
bool weft__format_ftrace_read(const struct weft__ftrace_formats *formats, const uint8_t *data,
	size_t size, uint64_t time, struct weft__ftrace_event *ret_event);

#endif
