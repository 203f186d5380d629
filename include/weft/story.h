/* SPDX-License-Identifier: ISC
 *
 * A trace in words: what a task is, which task it waits for, which task woke it, which tasks belong
 * to it.
 *
 * Every function depends only on a finished model, and on its layout if there is one: any number of
 * threads may call at once. Text is valid UTF-8 without control characters and without marks that
 * change the writing direction, whatever the trace contains. Times in text count from the trace's
 * start. Only functions named create, group, related or kinds allocate; nothing here does
 * I/O.
 */
#ifndef WEFT_STORY_H
#define WEFT_STORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/layout.h>
#include <weft/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest sentence in characters, and the bytes that it needs with its NUL. */
#define WEFT_SENTENCE_LETTERS 120
#define WEFT_SENTENCE_BYTES   (4 * WEFT_SENTENCE_LETTERS + 1)

/* Pass this instead of a time to ask about the task as a whole. */
#define WEFT_STORY_WHOLE UINT64_MAX

/* An index of the edges that the model does not list by task: all edges to a task, and the create
 * and become edges from it. 4 bytes an edge, 8 a task; takes a second or less for 10^8 events.
 * Borrows the model. */
struct weft_story_index;

int weft_story_index_create(const struct weft_model *model, struct weft_story_index **ret_index);
void weft_story_index_destroy(struct weft_story_index *index);

/* Makes the index in steps of some milliseconds: WEFT_AGAIN if there is more to do, WEFT_OK and the
 * index, or WEFT_ERROR_MEMORY. After either of these the maker can only be destroyed. */
struct weft_story_index_maker;
int weft_story_index_maker_create(
	const struct weft_model *model, struct weft_story_index_maker **ret_maker);
int weft_story_index_maker_step(
	struct weft_story_index_maker *maker, struct weft_story_index **ret_index);
void weft_story_index_maker_destroy(struct weft_story_index_maker *maker);

/* The trace to describe. */
struct weft_story {
	const struct weft_model *model;
	const struct weft_layout *layout;     /* NULL: tasks start where they were created */
	const struct weft_story_index *index; /* NULL: sentences do not mention wake-ups */
};

/* ---- Sentences ----
 *
 * Each function writes one sentence in the present tense, with its full stop. It writes at most
 * `size` bytes with the NUL, cut after a whole character, and returns the length without the NUL. A
 * buffer of WEFT_SENTENCE_BYTES is always enough. */

/* A task, at a time or as a whole: "try 4472 'Wait for ARP response' waits for condition 4453 since
 * 12.491 ms; not signalled since." */
size_t weft_story_sentence(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, char *buffer, size_t size);

/* "bind 31 reads wait 26, which had ended 3 us before." */
size_t weft_story_edge_sentence(
	const struct weft_story *story, uint32_t edge, char *buffer, size_t size);

/* A band of the model: "Idle from 12.4 ms for 40.2 ms on thread main: epoll_wait." */
size_t weft_story_band_sentence(
	const struct weft_story *story, const struct weft_band_period *band, char *buffer, size_t size);

/* A counter at a time: "queue is 7 at 12.4 ms: +2 by read block 17 at 12.31 ms." */
size_t weft_story_counter_sentence(
	const struct weft_story *story, uint32_t counter, uint64_t at_ns, char *buffer, size_t size);

/* All losses of the trace, by cause; "" if nothing is missing. For programs that print a trace's
 * state without looking for problems, which include the losses. */
size_t weft_story_losses_sentence(const struct weft_story *story, char *buffer, size_t size);

/* A cluster: several tasks that are drawn as one shape. */
struct weft_story_group {
	uint32_t tasks, by_outcome[WEFT_OUTCOMES];
	uint64_t p50_ns, longest_ns; /* of their lifetimes */
	uint32_t longest;            /* task, or WEFT_NONE if there is none */
};

/* 0 or WEFT_ERROR_MEMORY. */
int weft_story_group_tasks(const struct weft_story *story, const uint32_t *tasks, uint32_t count,
	struct weft_story_group *ret_group);

/* A cell of a density: "514 tasks, 3 failed, p50 9 us, longest 1.2 ms." */
size_t weft_story_group_sentence(const struct weft_story_group *group, char *buffer, size_t size);

/* A fold: "514 × bind 'Gntshr.grant_access', below main: p50 9 us, longest 1.2 ms." `task` is one
 * of its tasks. */
size_t weft_story_fold_sentence(const struct weft_story *story, uint32_t task,
	const struct weft_story_group *group, char *buffer, size_t size);

/* A task's name in sentences: its label, or kind and id; at most `letters` characters. */
size_t weft_story_name(
	const struct weft_model *model, uint32_t task, unsigned letters, char *buffer, size_t size);

/* The name of a counter or histogram, followed by its process if the trace has several: "queue,
 * redis-server 4711".
 * The text is the model's, or in `room`, cut off at `size` bytes with the NUL. */
struct weft_slice weft_story_histogram_name(
	const struct weft_model *model, uint32_t histogram, char *room, size_t size);
struct weft_slice weft_story_counter_name(
	const struct weft_model *model, uint32_t counter, char *room, size_t size);

/* ---- Waiting and waking ---- */

struct weft_story_wait {
	uint32_t task;   /* the waiting task: what the given task had become by then */
	uint32_t source; /* the task that it waits for; WEFT_NONE: unknown */
	uint32_t others; /* number of further tasks that it waits for */
	uint64_t since;  /* ns */
	uint64_t until;  /* ns; UINT64_MAX: until the end of the trace */
	/* Only of a wait for any of several: its edges, which are the model's, and the task among these
	 * that ended it, or WEFT_NONE. That task, or else the first that has not ended, is `source`. */
	const uint32_t *any;
	uint32_t any_count;
	uint32_t got;
	/* `task` is a lock or another resource, which does not wait, but `source` holds it. So a chain
	 * of waits goes on with what the holder waits for. */
	bool is_held;
};

/* Finds the wait of `task` at a time. False if it runs then, does not exist then, or waits for no
 * task in particular, as a promise does that some task will resolve. */
bool weft_story_wait_at(const struct weft_story *story, uint32_t task, uint64_t at_ns,
	struct weft_story_wait *ret_wait);

/* Writes what a wait is for: "reply", or "any of cancel, reply, timer"; "" if that is unknown. At
 * most `size` bytes with the NUL; returns the length without it. */
size_t weft_story_wait_sources(
	const struct weft_model *model, const struct weft_story_wait *wait, char *buffer, size_t size);

#define WEFT_CALLS_BYTES 1100

/* Writes where in the code the task waits, the innermost call first: "say_hello (hello.c:12) ← main
 * (hello.c:20)"; "" if the trace does not say. At most WEFT_CALLS_BYTES - 1 bytes. */
size_t weft_story_wait_calls(
	const struct weft_model *model, const struct weft_story_wait *wait, char *buffer, size_t size);

/* A task that holds a lock, rwlock, semaphore, pool or queue. */
struct weft_story_hold {
	uint32_t task;
	uint64_t since; /* ns */
};

/* Finds the tasks that hold a resource at a time (WEFT_STORY_WHOLE: at the end), and writes at most
 * `room` of them, the one that holds it longest first. Returns their number; 0 also without an
 * index. */
uint32_t weft_story_holders(const struct weft_story *story, uint32_t resource, uint64_t at_ns,
	struct weft_story_hold *holds, uint32_t room);

/* A task of kind timer with a deadline, see WEFT_TAG_DEADLINE. */
struct weft_story_timer {
	uint64_t due;     /* ns */
	uint64_t late_ns; /* from then until it fired, or until the end if it has not ended; or 0 */
	bool has_fired;   /* it ran, or was resolved */
	bool is_late;     /* by more than a timer usually is */
};

/* False if the task is no timer, or its deadline is unknown. */
bool weft_story_timer(
	const struct weft_model *model, uint32_t task, struct weft_story_timer *ret_timer);

struct weft_story_wake {
	uint32_t task;   /* the task that woke it; never WEFT_NONE */
	uint32_t edge;   /* the signal, or the resolve of the task that it waited for */
	uint32_t source; /* the resolved task; WEFT_NONE: it was a signal */
	uint64_t time;   /* when that happened, ns */
	uint64_t runs;   /* when the task ran after it, ns */
};

/* Finds the last wake-up of `task` at or before a time (WEFT_STORY_WHOLE: in the whole trace).
 * Needs the index. False if the trace does not show it. */
bool weft_story_woken_by(const struct weft_story *story, uint32_t task, uint64_t at_ns,
	struct weft_story_wake *ret_wake);

/* The task that created `task`, or WEFT_NONE. */
uint32_t weft_story_creator(const struct weft_story *story, uint32_t task);

/* The tasks that belong to `task`: all that it becomes and that become it, the tasks for which
 * these wait, and the tasks that wait for them, transitively. In ascending order, `task` included;
 * at most `limit`, the nearest first; *ret_more is true if there are more. The caller frees
 * *ret_tasks. Needs the index. */
int weft_story_related(const struct weft_story *story, uint32_t task, uint32_t limit,
	uint32_t **ret_tasks, uint32_t *ret_count, bool *ret_more);

/* ---- The whole story of a task ---- */

enum weft_story_line_type {
	WEFT_STORY_FACT,       /* at the head: kind, id, outcome and so on */
	WEFT_STORY_LABEL,      /* it has this name from now on */
	WEFT_STORY_NOTE,       /* note, tag, mark or change of a counter */
	WEFT_STORY_EDGE,       /* an edge to another task, or from another task to it */
	WEFT_STORY_CHILD,      /* it creates a task, or several in a row */
	WEFT_STORY_ACTIVATION, /* it runs */
	WEFT_STORY_LEFT_OUT,   /* how many further lines of a type there are */
	WEFT_STORY_WAIT,       /* it waits, for long and for something that no edge's line names */
	WEFT_STORY_LINE_TYPES
};

struct weft_story_line {
	enum weft_story_line_type type;
	bool has_time;
	uint64_t time;     /* ns; valid if has_time */
	uint64_t duration; /* ns, or 0 */
	uint32_t task;     /* the other task, to jump to; or WEFT_NONE */
	uint32_t edge;     /* or WEFT_NONE */
	const char *title; /* "kind", "reads", "is signalled by" */
	const char *text;  /* "bind", "wait 26, which had ended 3 us before" */
};

struct weft_story_lines {
	uint32_t count;
	const struct weft_story_line *lines; /* facts, then the others in the order of time */
};

/* Consecutive similar activations are one line, and so are consecutive alike children. At most this
 * many lines of each type (labels and notes, edges, children, activations) are listed; one more
 * line has the number of the others. */
#define WEFT_STORY_LINES_MAX 200

/* Lists everything about a task. Needs the index. */
int weft_story_lines_create(
	const struct weft_story *story, uint32_t task, struct weft_story_lines **ret_lines);
void weft_story_lines_destroy(struct weft_story_lines *lines);

#ifdef __cplusplus
}
#endif
#endif
