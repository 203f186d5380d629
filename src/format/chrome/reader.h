/* SPDX-License-Identifier: ISC
 *
 * The reader of Chrome's trace events: what its files share.
 *
 *     list.c     finds the list of events in the file, and its objects
 *     reader.c   the order of time; which file knows a phase
 *     slices.c   B, E, X: slices of threads
 *     asyncs.c   b, e, n, S, T, p, F: slices of ids, which are tasks
 *     node.c     the same of node's async_hooks
 *     remarks.c  instants, counters, flows
 *     own.c      what `weft export --to chrome` wrote
 */
#ifndef WEFT_FORMAT_CHROME_READER_H
#define WEFT_FORMAT_CHROME_READER_H

#include "format/chrome/entry.h"
#include "format/chrome/list.h"
#include "format/chrome/threads.h"
#include "format/format.h"
#include "format/order.h"

/* An end is searched for among that many open slices or callbacks, so that a hostile file takes
 * time in proportion to its size. No program nests so deeply. */
#define WEFT__CHROME_SEARCHED_MAX 256u

/* A slice that has begun. Those of a thread, and those of an id, are a list each. */
struct weft__chrome_slice {
	uint64_t end_ns;   /* of an X; else UINT64_MAX */
	uint64_t limit_ns; /* the least end of this one and those around it */
	uint64_t order;    /* of beginning */
	uint64_t name;     /* a hash, to find the slice of an end */
	uint32_t last_b;   /* the B that began last, of this one and those around it */
	uint32_t outer;    /* or WEFT__CHROME_NONE; of an unused one the next unused one */
	uint32_t thread;
	bool has_ended; /* before its time: its entry in the heap is ignored */
};

/* An id of asynchronous slices. */
struct weft__chrome_async {
	uint64_t hash;
	uint64_t task;      /* of the slice that is open now */
	uint32_t innermost; /* slice inside it; the outermost is the task itself */
	uint32_t thread;    /* where it began */
	bool is_open;
	/* If it is a resource of node: */
	bool is_promise, is_timer, has_run;
	uint32_t awaited; /* the promise that this one waits for */
	uint32_t outer;   /* the async that ran when its callback began */
};

struct weft__chrome_reader {
	struct weft__reader base;
	struct weft__chrome_list list;
	struct weft__order order; /* of the events in the file */
	size_t at;                /* in `order` */
	struct weft__chrome_threads threads;
	struct weft__chrome_texts texts;
	struct weft__chrome_entry entry; /* the one that is read */
	uint32_t thread;                 /* its thread */
	uint64_t now_ns, offset;         /* for the events that are made */
	struct weft_event *made;         /* of one entry: those from `given` on are to be returned */
	size_t made_count, made_capacity, given;
	struct weft_event spare; /* is written instead, once memory has run out */
	struct weft_field *fields;
	size_t field_capacity;
	struct weft__chrome_slice *slices;
	uint32_t slice_count, unused_slice;
	size_t slice_capacity;
	uint64_t begun; /* slices so far */
	uint32_t *heap; /* slices with an end, the earliest first */
	uint32_t heap_count;
	size_t heap_capacity;
	struct weft__chrome_async *asyncs;
	uint32_t async_count;
	size_t async_capacity;
	struct weft__index async_index;
	struct weft_loss_period *losses; /* that weft itself wrote */
	uint32_t loss_count;
	size_t loss_capacity;
	uint64_t last_task; /* the ids of tasks count up */
	int error;
};

/* ---- reader.c ---- */

/* A new event of the current time and thread, without tasks. Never NULL: once memory has run out,
 * `error` is set, and the event is lost. It is valid until the next call. */
struct weft_event *weft__format_chrome_make(
	struct weft__chrome_reader *r, enum weft_event_type type);
/* One about two tasks. */
void weft__format_chrome_make_edge(
	struct weft__chrome_reader *r, enum weft_event_type type, uint64_t task, uint64_t other);
void weft__format_chrome_make_text(struct weft__chrome_reader *r, enum weft_event_type type,
	uint64_t task, struct weft_slice text);
void weft__format_chrome_report(struct weft__chrome_reader *r, const char *message);
/* A new task's id. */
uint64_t weft__format_chrome_new_task(struct weft__chrome_reader *r);
struct weft__chrome_thread *weft__format_chrome_thread(
	struct weft__chrome_reader *r, uint32_t thread);

/* ---- slices.c ---- */

void weft__format_chrome_read_slice(struct weft__chrome_reader *r);
/* The X whose end is the earliest; WEFT__CHROME_NONE: none is open. */
uint32_t weft__format_chrome_next_end(const struct weft__chrome_reader *r);
/* Its time has come. */
void weft__format_chrome_end_next(struct weft__chrome_reader *r);
/* Begins a slice inside `outer`. WEFT__CHROME_NONE: memory has run out. */
uint32_t weft__format_chrome_open_slice(
	struct weft__chrome_reader *r, uint32_t outer, uint64_t end_ns);
void weft__format_chrome_free_slice(struct weft__chrome_reader *r, uint32_t slice);
/* The task that runs on the entry's thread, or WEFT_TASK_NONE. */
uint64_t weft__format_chrome_running(struct weft__chrome_reader *r);
/* The same, but never none. */
uint64_t weft__format_chrome_actor(struct weft__chrome_reader *r);
/* The name for people: clang and others have the important half in args.detail. */
struct weft_slice weft__format_chrome_name(struct weft__chrome_reader *r);

/* ---- asyncs.c ---- */

void weft__format_chrome_read_async(struct weft__chrome_reader *r);
/* The async of a hash; WEFT__CHROME_NONE: there is none. The second call adds it. */
uint32_t weft__format_chrome_find_async(struct weft__chrome_reader *r, uint64_t hash);
uint32_t weft__format_chrome_add_async(struct weft__chrome_reader *r, uint64_t hash);

/* ---- node.c ---- */

bool weft__format_chrome_is_node(const struct weft__chrome_reader *r);
void weft__format_chrome_read_node(struct weft__chrome_reader *r);

/* ---- remarks.c ---- */

void weft__format_chrome_read_instant(struct weft__chrome_reader *r);
/* Reads an object's members as fields of a mark: r->fields; returns their number. */
uint32_t weft__format_chrome_read_fields(
	struct weft__chrome_reader *r, const struct weft__json_value *object);
/* A note about the task: a mark, if the entry has arguments. */
void weft__format_chrome_make_remark(struct weft__chrome_reader *r, uint64_t task);
void weft__format_chrome_read_counter(struct weft__chrome_reader *r);
void weft__format_chrome_read_flow(struct weft__chrome_reader *r);
/* The flows that a slice says itself. */
void weft__format_chrome_read_bound_flow(struct weft__chrome_reader *r);

/* ---- own.c ---- */

bool weft__format_chrome_is_own(const struct weft__chrome_reader *r);
void weft__format_chrome_read_own(struct weft__chrome_reader *r);
/* True if weft wrote the entry and it is no event: it only draws, or is a period in which events
 * are missing, which is added to the losses. */
bool weft__format_chrome_survey_own(struct weft__chrome_reader *r);

#endif
