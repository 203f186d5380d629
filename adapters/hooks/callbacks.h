/* SPDX-License-Identifier: ISC
 *
 * Callbacks as tasks, for libraries that call the program back.
 *
 * A hook passes a function of its own, a trampoline, instead of the program's callback, and keeps
 * the callback in a table under the address of what the program and the library know: a handle, a
 * request, a source. Here this address is called a subject. The trampoline lets the subject's task
 * run, and calls the callback:
 *
 *     HOOK(library_ask) int library_ask(struct request *request, void (*callback)(struct request
 * *))
 *     {
 *         ... weft__hooks_ask(request, callback, kind), and a label
 *         return NEXT(library_ask)(request, on_answer);
 *     }
 *     static void on_answer(struct request *request)
 *     {
 *         struct weft__hooks_run run = weft__hooks_begin_request(request, end, is_recorded);
 *         run.callback(request);
 *         weft__hooks_return(&run);
 *     }
 *
 * A request has one callback, and its task ends with that. A handle has many: its task goes on
 * until it is stopped. A task that is ended in its own callback ends when that returns; otherwise
 * the rest of the callback would belong to no task.
 */
#ifndef WEFT_ADAPTERS_CALLBACKS_H
#define WEFT_ADAPTERS_CALLBACKS_H

#include "hooks/hooks.h"

typedef void (*weft__hooks_callback)(void);

/* How a task ends. */
enum weft__hooks_ending {
	WEFT__HOOKS_GOES_ON,
	WEFT__HOOKS_RESOLVED,
	WEFT__HOOKS_FAILED, /* with a status, of which the adapter has a description */
	WEFT__HOOKS_CANCELLED,
	WEFT__HOOKS_CLOSED,
};

struct weft__hooks_end {
	enum weft__hooks_ending how;
	int status;
	void (*describe)(struct weft__hooks_text *text, int status);
};

#define WEFT__HOOKS_END(how) ((struct weft__hooks_end){how, 0, NULL})

/* ---- Subjects (subjects.c) ---- */

enum {
	WEFT__HOOKS_SUBJECT_BYTES = 64
};

/* Used by one thread at a time. */
struct weft__hooks_subject {
	weft__hooks_callback callback, second; /* `second`: another one, as the adapter needs it */
	uint64_t task;                         /* WEFT_TASK_NONE: none that is alive */
	uint32_t epoch;                        /* of the process that made `task` */
	uint32_t number;                       /* as the adapter needs it */
	struct weft__hooks_end close_end;      /* how the task ends that waits for a close */
	struct weft__hooks_alive alive;        /* for rundowns; valid with `task` */
	char name[WEFT__HOOKS_SUBJECT_BYTES];  /* "": unknown */
};

/* NULL: unknown. */
struct weft__hooks_subject *weft__hooks_subject_find(const void *address);

/* The task that a handle or request is, or WEFT_TASK_NONE. */
uint64_t weft__hooks_subject_task(const void *address);

/* Makes a subject if there is none. NULL: there are too many. */
struct weft__hooks_subject *weft__hooks_subject_put(const void *address);

void weft__hooks_subject_forget(const void *address);

/* Names the task, and keeps the name for rundowns. While recording. */
void weft__hooks_subject_label(
	struct weft__hooks_subject *subject, const struct weft__hooks_text *label);

/* Gives the subject's new task the name of its last one. While recording. */
void weft__hooks_subject_label_again(struct weft__hooks_subject *subject);

/* ---- Tasks (callbacks.c) ----
 *
 * The first ones are called in a recording part of a hook; those that say so have one. Tasks are
 * of the category of the file that calls. */

/* A request is about to be given to the library: its task is created by the current one or, if none
 * runs, by the thread's. The caller names it. NULL: there are too many. */
#define weft__hooks_ask(request, callback, kind) \
	weft__hooks_ask_in(&WEFT__OWN_CATEGORY, request, callback, kind)
struct weft__hooks_subject *weft__hooks_ask_in(const struct weft_category *category,
	const void *request, weft__hooks_callback callback, uint16_t kind);

/* A handle is about to be started with that callback. Its task is made, which the caller names;
 * false: it waits already, and goes on. */
#define weft__hooks_start(subject, callback, kind) \
	weft__hooks_start_in(&WEFT__OWN_CATEGORY, subject, callback, kind)
bool weft__hooks_start_in(const struct weft_category *category, struct weft__hooks_subject *subject,
	weft__hooks_callback callback, uint16_t kind);

/* Ends the task that waits in this handle, now or when its running callback returns. */
void weft__hooks_stop(struct weft__hooks_subject *subject, struct weft__hooks_end end);

/* If the task's callback is running, and it should end with that, it does not: `*ret_end` says how
 * it ends later. */
void weft__hooks_postpone(uint64_t task, struct weft__hooks_end *ret_end);

/* The library has refused the request. Has a recording part. */
void weft__hooks_refused(const void *request, struct weft__hooks_end end);

/* The program stops the handle: it no longer waits. Has a recording part. */
void weft__hooks_cancel(const void *handle);

/* " in on_timer" */
void weft__hooks_append_callback(struct weft__hooks_text *text, weft__hooks_callback callback);

/* Labels the subject's task with that text, to which the callback is appended. */
void weft__hooks_label_callback(struct weft__hooks_subject *subject, weft__hooks_callback callback,
	struct weft__hooks_text *label);

/* ---- Callbacks (callbacks.c), all with a recording part ---- */

/* From the begin of a callback to weft__hooks_return. */
struct weft__hooks_run {
	const void *address;
	weft__hooks_callback callback; /* NULL: the program gave none */
	uint64_t task;                 /* WEFT_TASK_NONE: nothing is recorded */
	uint32_t epoch;
	unsigned depth;
	uintptr_t was_inside;
};

/* The callback of a request: its task ends with it, and the request may be used again in it. */
struct weft__hooks_run weft__hooks_begin_request(
	const void *request, struct weft__hooks_end end, bool is_recorded);

/* The callback of a handle, which may be called again. A task that is made only now has `word` as
 * its name; NULL: nothing is recorded. */
#define weft__hooks_begin_handle(handle, word) \
	weft__hooks_begin_handle_in(&WEFT__OWN_CATEGORY, handle, word)
struct weft__hooks_run weft__hooks_begin_handle_in(
	const struct weft_category *category, const void *handle, const char *word);

/* The last callback of a handle's task, which may be started again in it. */
#define weft__hooks_begin_last(handle, word) \
	weft__hooks_begin_last_in(&WEFT__OWN_CATEGORY, handle, word)
struct weft__hooks_run weft__hooks_begin_last_in(
	const struct weft_category *category, const void *handle, const char *word);

/* The task of the callback that runs ends when that returns. */
void weft__hooks_ends(const struct weft__hooks_run *run, struct weft__hooks_end end);

/* The callback has returned. What it was called for may have been freed. */
void weft__hooks_return(const struct weft__hooks_run *run);

/* ---- Loops (callbacks.c), with a recording part ---- */

struct weft__hooks_loop {
	uint64_t caller;
	uint32_t epoch;
	unsigned depth;
};

/* The library's loop begins and ends: on its thread, only callbacks run, and the task that has
 * called the loop does not run meanwhile. What the library does between callbacks, as waiting for
 * descriptors, is recorded by no adapter. */
struct weft__hooks_loop weft__hooks_loop_begin(void);
void weft__hooks_loop_end(const struct weft__hooks_loop *loop);

#endif
