/* SPDX-License-Identifier: ISC
 *
 * The recording interface. An asynchronous program calls it to report which task runs, which task
 * waits for which, and which task woke which.
 *
 *     uint64_t task = weft_create(WEFT_KIND_TASK);   the current task creates a new one
 *     weft_label_as(task, "read config");            its name
 *     weft_switch(task);                             it runs on this thread
 *     weft_try_read(reply);                          it waits for another task
 *     weft_resolve(task);                            it is done
 *     weft_switch(WEFT_TASK_NONE);                   nothing runs: the thread is idle
 *
 * Link with libweft and run under `weft record`, or call weft_start with a buffer of your own. A
 * call that does not record, because recording is off or because of its level, costs two loads and
 * a branch that is not taken; its arguments are not evaluated. With WEFT_DISABLED defined before
 * this header is included, the calls compile to nothing, with any C99 or C++11 compiler. Otherwise
 * this header needs gcc or clang, and C11 or C++11.
 *
 * Any thread may call, also from signal handlers. Calls never block, allocate, lock or set errno,
 * and return nothing that needs checking. An event that cannot be recorded is counted by cause, and
 * readers of the trace show the counts. The buffer keeps the newest events: old ones are
 * overwritten.
 *
 * Calls act for the thread's current task. The variants that end in _as name the acting task, and
 * take 8 bytes more in the buffer. Task ids are unique in the process and below 2^53, also those of
 * tasks created while nothing is recorded: when recording starts, readers show them as tasks that
 * existed before.
 *
 * Each call has a category and a level, by which it can be switched on and off while the program
 * runs: see WEFT_CATEGORY_DEFINE below. Most calls are macros that test the level and then call a
 * function of the same name. The function itself records at any level: it is meant for taking its
 * address, as in &weft_resolve.
 *
 * `text` is any C string. A literal is stored once and referred to by its name's id; other text is
 * copied into the event, and is cut with an ellipsis beyond about 2,000 bytes.
 */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/clocks.h>
#include <weft/kinds.h>
#include <weft/levels.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The services that the recorder needs from the system. A program without an operating system, or
 * with a clock of its own, fills one and passes it to weft_start; the struct must stay valid while
 * anything records. Any thread may call the functions, also from signal handlers. */
struct weft_platform {
	void *context;

	/* A counter that never goes back on a thread, and its rate. NULL: the processor's counter. */
	uint64_t (*ticks)(void *context);
	uint64_t ticks_hz; /* 0: unknown; then `read_clocks` is required */

	/* Reads the monotonic clock and the time since 1970, in ns. NULL: the system has no such
	 * clocks. */
	void (*read_clocks)(void *context, uint64_t *ret_monotonic_ns, uint64_t *ret_unix_ns);

	/* The calling thread: a number that no other living thread has, and a name. 0: the recorder
	 * could not find out whether this thread has ended, so it must not record. Called at a thread's
	 * first event and by weft_thread_name(NULL). NULL: there is one thread. */
	uint32_t (*self)(void *context, char ret_name[16]);

	/* True if that thread has ended. Other threads may then use its part of the buffer. NULL: no
	 * thread ever ends. */
	bool (*has_ended)(void *context, uint32_t thread);

	/* 16 bytes that belong to the calling thread, zero at first. Called only in builds without
	 * thread-local storage (WEFT_FREESTANDING). NULL: there is one thread. */
	void *(*thread_memory)(void *context);

	/* Wakes all waiters on this word of the buffer, in any process. NULL: waiters poll every 20 ms
	 * instead. */
	void (*wake)(void *context, uint32_t *word);

	/* Makes every thread of the process pass a memory barrier, and returns true. With it, a thread
	 * that finds no free packet may take one from a thread that is between two events. NULL or
	 * false: not possible; a thread then keeps its packet until it ends. */
	bool (*barrier)(void *context);

	/* Instead of `ticks`: the address of a counter in memory, which saves the call. */
	const uint64_t *ticks_at;
};

/* ---- Categories and levels ----
 *
 * A category is a library or a part of a program whose recording can be turned up or down:
 *
 *     WEFT_CATEGORY_DECLARE(net);                             in a header, if several files use it
 *     WEFT_CATEGORY_DEFINE(net, "net", "connections");        in one .c file
 *     #define WEFT_CATEGORY net                               in each file whose calls belong to it
 *
 * Calls in files without WEFT_CATEGORY belong to "program". A call's level is info (weft_fail:
 * error), unless weft_at gives another:
 *
 *     weft_at(WEFT_LEVEL_DEBUG, weft_notef("%d of %d", done, all));
 *
 * WEFT_LEVEL and WEFT_CATEGORIES in the environment, `weft ctl` from outside at any time, or
 * weft_set_level set which levels are recorded; the default is info and above. Calls that say what
 * runs on a thread are never filtered: weft_switch, weft_enter, bands, weft_gc and weft_off_cpu. If
 * a filtered call would also switch to another task, the switch is recorded; a filtered weft_create
 * still returns an id of its own.
 *
 * Categories with the same name are one category, even if several libraries define it. A library
 * may be unloaded and loaded again. A process has 63 categories with a level of their own; all
 * further ones share "other". At most 512 objects can be registered; further ones are always off.
 */
#ifndef WEFT_CATEGORY
#define WEFT_CATEGORY program
#endif

#ifndef WEFT_DISABLED

/* Calls go through one jump instead of two (no PLT entry) where the compiler allows it. The saving
 * pays for the level test in front of each call. */
#if defined(__has_attribute) && !defined(WEFT_FREESTANDING)
#if __has_attribute(noplt)
#define WEFT__DIRECT __attribute__((noplt))
#endif
#endif
#ifndef WEFT__DIRECT
#define WEFT__DIRECT
#endif

struct weft_category {
	const uint8_t *level; /* calls up to this level are recorded */
	const char *name, *description;
	void *reserved;
};

extern struct weft_category weft_category_program, weft_category_always;
/* The level "off", and behind it, far away, that calls are not counted. */
extern const uint8_t weft__levels_off[];
#define weft__level_zero weft__levels_off[0]

/* Names of categories should not contain '=' or ','. An object is visible only inside its own
 * library or program.
 *
 * WEFT_CATEGORY_DEFINE calls these functions; call them directly for categories that are made in
 * another way. Any thread may call them, but not from signal handlers. The object and its text must
 * stay valid until it is unregistered. Before registration its level points at weft__level_zero. */
void weft_category_register(struct weft_category *category);
void weft_category_unregister(struct weft_category *category);

/* True if calls of that level would be recorded, in this file's category or in another. Use it to
 * skip arguments that are expensive to compute. */
#define weft_enabled(level)              weft__allows(&WEFT__OWN_CATEGORY, level)
#define weft_category_enabled(id, level) weft__allows(&weft_category_##id, level)

/* Gives the calls of this header that it contains a level, which must be a constant. */
#define weft_at(level, ...) WEFT__AT(level, __VA_ARGS__)

/* Sets the level of all categories that match `pattern`, in which each * stands for any text, and
 * of matching categories that are registered later. "*" alone sets all categories, but a category
 * registered later starts with the level that was set for its own name, if any. WEFT_ERROR_LIMIT:
 * categories registered later will not get this level, because only about 60 such calls, and
 * patterns of at most 58 bytes, are remembered. */
int weft_set_level(const char *pattern, enum weft_level level);

/* Starts recording into `buffer`: at least 64 KiB, aligned to 64 bytes; its old content is lost.
 * `platform` may be NULL for the operating system's. WEFT_ERROR_STATE if recording is already on.
 */
int weft_start(void *buffer, size_t size, const struct weft_platform *platform);

/* Stops recording and completes the buffer. A thread that is inside a call at that time may still
 * finish it, and a follower may miss that event. So the buffer must stay valid while threads live
 * that call functions of this header, and recording can start again only in another buffer. */
void weft_stop(void);

/* True if calls currently record. */
bool weft_is_recording(void);

/* The calling thread's name from now on, of which up to 15 bytes are kept. NULL: the name that the
 * operating system has for it. The recorder asks for that name at a thread's first event only,
 * because each question is a system call; so call this after a later pthread_setname_np(). */
void weft_thread_name(const char *name) WEFT__DIRECT;

/* The thread's current task; WEFT_TASK_NONE if there is none or recording is off. */
uint64_t weft_current(void) WEFT__DIRECT;

/* A kind of your own, by a name, which is a literal: weft_create(weft_kind("job")). Call it where
 * you create the task, which costs two loads and a test: its number, more than 256, belongs to the
 * present buffer, and may mean another kind in the next one. While nothing is recorded, if the name
 * is empty, and if the table of names is full, it is WEFT_KIND_UNKNOWN. */
#define weft_kind(name) WEFT__KIND(name)

/* The current task creates a task. `kind`: enum weft_kind, weft_kind(), or a number of your own
 * below 256. */
uint64_t weft_create(uint16_t kind) WEFT__DIRECT;
uint64_t weft_create_as(uint64_t task, uint16_t kind) WEFT__DIRECT;

/* For runtimes whose objects have numbers of their own: the first of WEFT_ID_SPACE ids that no
 * other call of this process gives to a task, so that no table of ids is needed. WEFT_TASK_NONE:
 * all of the some 400 spaces are taken. `id` is in such a space, and was not created before. */
#define WEFT_ID_SPACE UINT64_C(10000000000000)
uint64_t weft_id_space(void) WEFT__DIRECT;
void weft_create_id(uint64_t task, uint64_t id, uint16_t kind) WEFT__DIRECT;

/* The task runs on this thread from now on; WEFT_TASK_NONE: the thread is idle. */
void weft_switch(uint64_t task) WEFT__DIRECT;

/* The task runs on this thread until weft_leave; then the task continues that ran before, or the
 * thread is idle again. Pairs nest: each weft_leave undoes the last weft_enter of its thread. The
 * thread remembers 30 tasks to return to; with more pairs inside each other, the leaves of the
 * inner ones return to the last of these, and are counted as too deep. A weft_switch in between
 * changes the task that runs, not the one to return to. A weft_leave without a weft_enter makes the
 * thread idle: in a child made by fork, and after recording began in between. A signal handler may
 * enter if it leaves before it returns; a jump out of a pair leaves it open. */
void weft_enter(uint64_t task) WEFT__DIRECT;
void weft_leave(void) WEFT__DIRECT;

/* Enters the task and leaves it at the end of the block, however that ends: a declaration. */
#define WEFT_TASK_SCOPE(task) WEFT__TASK_SCOPE(task)

/* Calls about two tasks, and texts for a task: weft_read, weft_try_read, weft_resolve, weft_cancel,
 * weft_acquire, weft_signal, weft_send, weft_expect, weft_label, weft_note and others, which
 * weft_calls.h describes.
 *
 * weft_label_n and weft_note_n take a text that no NUL ends: it has `size` bytes, or ends before
 * its first NUL if that comes earlier. It is copied into the event. weft_labelf and weft_notef work
 * in the manner of printf: a literal format and up to 8 values, checked by the compiler. The reader
 * formats it; %n, * and wide characters are not supported. */
#include <weft/weft_calls.h>

/* The task waits for several tasks, and goes on with the first one that is done: it then reads that
 * one (weft_read_later) and no longer waits for the others. All events of the call share one
 * stamp. */
void weft_wait_any(unsigned count, const uint64_t *sources) WEFT__DIRECT;
void weft_wait_any_as(uint64_t task, unsigned count, const uint64_t *sources) WEFT__DIRECT;

/* Ends `target` with an error. */
void weft_fail(uint64_t target, const char *message) WEFT__DIRECT;
void weft_fail_as(uint64_t task, uint64_t target, const char *message) WEFT__DIRECT;

/* Begins and ends a span: a part of what the task does that has a name. Spans nest: weft_end ends
 * the one that the task began last. They belong to the task, so a span may last over a wait, and
 * continues when the task runs again, on any thread. Without a current task they belong to the
 * thread. A task's end ends its spans. Both calls of a pair need the same category and level. */
#define weft_begin(name)          weft_begin_as(WEFT_TASK_CURRENT, name)
#define weft_begin_as(task, name) WEFT__WITH_TEXT(BEGIN, weft__span_begin, task, name)
void weft_end(void) WEFT__DIRECT;
void weft_end_as(uint64_t task) WEFT__DIRECT;

/* A span from here to the end of the block, however that ends: a declaration. It ends even if its
 * level is no longer recorded then. */
#define WEFT_SPAN(name)           WEFT_SPAN_AT(WEFT_LEVEL_INFO, name)
#define WEFT_SPAN_AT(level, name) WEFT__SPAN(level, name)

/* A span that another clock measured: a GPU, a disk, the kernel, or this program where a pair of
 * calls would cost too much. It belongs to no task but to a track, which readers show as a line of
 * its own. Tracks are known by their names; spans of a track that overlap are shown on several
 * lines. `begin` and `end` are times of the clock, not after now:
 *
 *     weft_span("disk 0", WEFT_CLOCK_MONOTONIC_RAW, "write", begin_ns, end_ns);
 *
 * The recorder reads that clock of the system beside its own one, so that readers can place the
 * span. Without a call to the system it takes times of weft_now(). `clock`: see clocks.h. */
#define weft_span(track, clock, name, begin, end) WEFT__SPAN_ON(track, clock, name, begin, end)

/* The recorder's clock, in ticks: times for WEFT_CLOCK_RECORDER. 0 while nothing is recorded. */
uint64_t weft_now(void) WEFT__DIRECT;

/* Says what a clock shows now that only the program can read: WEFT_CLOCK_FOREIGN + n, in ns.
 * Readers place its spans by the latest such call of the recording, so repeat it at the rate at
 * which the clock drifts: every second for most. Before the first call, a span's end counts as now.
 */
void weft_clock_sync(unsigned clock, uint64_t now_ns) WEFT__DIRECT;

/* Begins and ends a moment: events that this thread records in between share one stamp, which is
 * most of what an event costs. Use it where a runtime does several things at once: a promise is
 * resolved, its waiters are signalled, a counter changes. Do not wait in between: until the moment
 * ends, followers of the buffer get no newer event of any thread. Beginning a moment ends the one
 * before. A signal handler that begins a moment ends the interrupted one; if it interrupted the
 * recording of an event, its own events have separate stamps. */
void weft_moment_begin(void) WEFT__DIRECT;
void weft_moment_end(void) WEFT__DIRECT;

/* An asynchronous operation in two calls instead of five, which share their stamps: a request, a
 * query, a timer.
 *
 *     uint64_t operation = weft_operation_begin("read header");
 *     weft_operation_end(operation, waiter);                     in the callback
 *
 * The first creates a task of the kind promise, names it, and says that the current task waits for
 * it. The second resolves it, and lets `waiter` read the result and run: the task that waited, or
 * WEFT_TASK_CURRENT. WEFT_TASK_NONE: no task waits any more. The two other calls fail and cancel
 * the operation instead. */
#define weft_operation_begin(label)          weft_operation_begin_as(WEFT_TASK_CURRENT, label)
#define weft_operation_begin_as(task, label) WEFT__OPERATION_BEGIN(task, label)
void weft_operation_end(uint64_t operation, uint64_t waiter) WEFT__DIRECT;
void weft_operation_fail(uint64_t operation, uint64_t waiter, const char *message) WEFT__DIRECT;
void weft_operation_cancel(uint64_t operation, uint64_t waiter) WEFT__DIRECT;

/* A garbage collection that took `duration_ns` has just ended on this thread. */
void weft_gc(uint64_t duration_ns) WEFT__DIRECT;

/* The thread had no processor for `duration_ns` since the current task began to run, or since the
 * last such call after that. Only for schedulers that know it: at level debug of the category
 * "cpu", the recorder itself measures it on Linux and records it where an activation ends. */
void weft_off_cpu(uint64_t duration_ns) WEFT__DIRECT;

/* Adds one of a fixed set of words to the task, with or without a number. */
#define weft_tag(text)              weft_tag_as(WEFT_TASK_CURRENT, text)
#define weft_tag_as(task, text)     WEFT__WITH_TEXT(TAG, weft__tag, task, text)
#define weft_tag_value(text, value) weft_tag_value_as(WEFT_TASK_CURRENT, text, value)
#define weft_tag_value_as(task, text, value) \
	WEFT__WITH_TEXT_AND(TAG, weft__tag_value, task, text, value)

/* Records a name with fields: weft_mark("request", "bytes", n, "path", path). Names are literals;
 * up to 6 values: integers, floating point, C strings. */
#define weft_mark(...)          WEFT__MARK(WEFT_TASK_CURRENT, __VA_ARGS__)
#define weft_mark_as(task, ...) WEFT__MARK(task, __VA_ARGS__)

/* Changes a counter by a number, or sets it. An integer is recorded with 64 bits; a floating-point
 * number as a double, which makes the counter real: readers show its later values, too, with a
 * fraction.
 *
 * The value changes whether or not anything is recorded, so a trace has the right one however late
 * it begins; so a counter's arguments are always evaluated. A program has up to 256 counters with
 * values; the changes of further ones are only recorded. A name that is no literal costs a search
 * at each call. A forked child begins with zeros. */
#define weft_counter_add(name, change) weft_counter_add_as(WEFT_TASK_CURRENT, name, change)
#define weft_counter_set(name, value)  weft_counter_set_as(WEFT_TASK_CURRENT, name, value)
#define weft_counter_add_as(task, name, change) \
	WEFT__COUNTED(WEFT__COUNTS(add, change), task, name, change)
#define weft_counter_set_as(task, name, value) \
	WEFT__COUNTED(WEFT__COUNTS(set, value), task, name, value)

/* The value of this process's counter of that name, rounded towards 0; 0 if there is none. */
int64_t weft_counter_read(const char *name);

/* Begins and ends a period of the whole thread (enum weft_band) with a reason: idle in "poll", gc
 * "minor". `reason` may be "". */
#define weft_band_begin(kind, reason) WEFT__BAND(kind, reason, true)
#define weft_band_end(kind, reason)   WEFT__BAND(kind, reason, false)

/* Asks the process that records or watches this program to save the buffer as of now: `weft record`
 * writes a file beside the trace. A mark "snapshot" with `reason` is recorded, too. While a watcher
 * listens, nothing older than the request is overwritten until it has made its copy, for at most a
 * second; events that find no room meanwhile are counted as held. Without a watcher the call costs
 * as much as a mark. */
void weft_snapshot_request(const char *reason) WEFT__DIRECT;

/* Requests a snapshot whenever a rule holds, without further calls: "counter queue > 100", "tag
 * 'timeout'", "waits > 1s". The watcher tests the rules on the events that it follows;
 * weft-trigger(5) describes them. At most 64 rules; adding a rule twice has no effect. */
void weft_trigger(const char *rule);

/* True if the program's tasks should be recorded again. A trace that has wrapped has lost the
 * creation of tasks that are still alive, so `weft ctl PID rundown` can ask for them. A runtime
 * that knows its tasks calls this where it can safely walk through them, once per round of its
 * event loop for example, and if it returns true calls weft_rundown_task for each. `seen` is the
 * runtime's own variable, 0 at first: several runtimes in one process all get the answer. */
bool weft_rundown_wanted(uint32_t *seen);

/* Records that a task is alive: its kind, its label (NULL: none), how long ago it was created
 * (WEFT_AGE_UNKNOWN if the runtime does not know), and the task that it waits for (WEFT_TASK_NONE:
 * none). */
void weft_rundown_task(
	uint64_t task, uint16_t kind, const char *label, uint64_t age_ns, uint64_t waits_for);

#endif /* WEFT_DISABLED */

#ifdef __cplusplus
}
#endif

#ifdef WEFT_DISABLED
#include <weft/weft_disabled.h>
#else
#include <weft/weft_macros.h>
#endif

#endif
