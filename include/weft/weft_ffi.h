/* SPDX-License-Identifier: ISC
 *
 * The recording interface for other languages: plain functions, without macros, variable arguments
 * or C strings. weft.h says what each call means; this header says how to pass it.
 *
 *     struct weft_category *net = weft_ffi_category("net", 3, "connections", 11);
 *     uint64_t task = weft_ffi_create(net, 0, WEFT_TASK_CURRENT, WEFT_KIND_TASK);
 *     weft_ffi_label(net, 0, task, "accept", 6, NULL);
 *
 * Parameters that most functions have:
 *
 *     category   a handle of weft_ffi_category; NULL: the category "program"
 *     level      enum weft_level; 0: info, or error for weft_ffi_fail
 *     task       the acting task, or WEFT_TASK_CURRENT (2^64 - 2) for the thread's current task
 *     text, size a text in UTF-8. It ends after `size` bytes, or before its first NUL if that comes
 *                earlier. NULL is an empty text. Texts are copied before the function returns.
 *     cache      NULL: the text is copied into the event. Otherwise 8 bytes, aligned and zero at
 *                first, that belong to this text alone and stay valid: the text is stored once, as
 *                with a literal in weft.h, and later calls only compare the cache. All threads may
 *                use one cache at the same time. A text of more than 1,024 bytes is always copied.
 *
 * A call that does not record costs a function call, two loads and a branch. As in weft.h any
 * thread may call, also from signal handlers (but for weft_ffi_category, _start, _stop and
 * _set_level); calls never block, allocate, lock or set errno, and events that cannot be recorded
 * are counted.
 *
 * The functions, the struct and the numbers of this header are stable: later versions of libweft
 * with the same soname add functions, and never change one.
 */
#ifndef WEFT_FFI_H
#define WEFT_FFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/clocks.h>
#include <weft/kinds.h>
#include <weft/levels.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Starting, levels ---- */

/* Records into `buffer` with the operating system's clock: at least 64 KiB, aligned to 64 bytes.
 * Returns 0 or a negative code of error.h. Not needed under `weft record` or with WEFT_OUT. */
int weft_ffi_start(void *buffer, size_t size);
void weft_ffi_stop(void);

/* True if calls currently record. */
bool weft_ffi_is_recording(void);

struct weft_category;

/* The category of that name; the same handle if it is called again. The handle is never freed.
 * NULL, which is the category "program", after 64 different names. Names are cut at 63 bytes and
 * descriptions at 127; names should not contain '=' or ','. */
struct weft_category *weft_ffi_category(
	const char *name, size_t name_size, const char *description, size_t description_size);

/* True if calls of that level would be recorded. Use it to skip arguments that are expensive to
 * compute. */
bool weft_ffi_is_enabled(struct weft_category *category, unsigned level);

/* weft_set_level: of all categories that match the pattern. Patterns have at most 255 bytes. */
int weft_ffi_set_level(const char *pattern, size_t size, unsigned level);

/* ---- Tasks ---- */

/* The thread's current task; WEFT_TASK_NONE if there is none or recording is off. */
uint64_t weft_ffi_current(void);

/* weft_kind: the number of a kind of your own, by a name. Ask for it where you create the task. */
uint16_t weft_ffi_kind(const char *name, size_t size, uint64_t *cache);

/* `task` creates a task, whose id is returned. It is unique, also if nothing is recorded. */
uint64_t weft_ffi_create(
	struct weft_category *category, unsigned level, uint64_t task, uint16_t kind);

/* weft_id_space, weft_create_id: for runtimes whose objects have numbers of their own. */
uint64_t weft_ffi_id_space(void);
void weft_ffi_create_id(
	struct weft_category *category, unsigned level, uint64_t task, uint64_t id, uint16_t kind);

/* The task runs on this thread from now on; WEFT_TASK_NONE: the thread is idle. Not filtered by
 * level. */
void weft_ffi_switch(uint64_t task);

/* The task runs on this thread until weft_ffi_leave; then the one that ran before. Not filtered by
 * level. */
void weft_ffi_enter(uint64_t task);
void weft_ffi_leave(void);

/* Calls about two tasks, and texts for a task: weft_ffi_read, weft_ffi_resolve, weft_ffi_signal,
 * weft_ffi_label, weft_ffi_notef and others, which weft_ffi_calls.h describes. */
#include <weft/weft_ffi_calls.h>

/* weft_wait_any_as. */
void weft_ffi_wait_any(struct weft_category *category, unsigned level, uint64_t task,
	const uint64_t *sources, unsigned count);
void weft_ffi_fail(struct weft_category *category, unsigned level, uint64_t task, uint64_t target,
	const char *message, size_t size);

/* `task` begins an operation and waits for it; the operation ends, and `waiter` reads its result.
 */
uint64_t weft_ffi_operation_begin(struct weft_category *category, unsigned level, uint64_t task,
	const char *label, size_t size, uint64_t *cache);
void weft_ffi_operation_end(
	struct weft_category *category, unsigned level, uint64_t operation, uint64_t waiter);
void weft_ffi_operation_cancel(
	struct weft_category *category, unsigned level, uint64_t operation, uint64_t waiter);
void weft_ffi_operation_fail(struct weft_category *category, unsigned level, uint64_t operation,
	uint64_t waiter, const char *message, size_t size);

/* ---- Texts, values, counters ---- */

void weft_ffi_tag(struct weft_category *category, unsigned level, uint64_t task, const char *text,
	size_t size, uint64_t *cache);
void weft_ffi_tag_value(struct weft_category *category, unsigned level, uint64_t task,
	const char *text, size_t size, uint64_t *cache, int64_t value);

/* Begins a span of the task. True if it is recorded: then, and only then, call weft_ffi_end, which
 * is not filtered by level. */
bool weft_ffi_begin(struct weft_category *category, unsigned level, uint64_t task, const char *name,
	size_t size, uint64_t *cache);
void weft_ffi_end(uint64_t task);

/* A span that another clock measured, on a track. */
struct weft_given_span {
	const char *track, *name;
	size_t track_size, name_size;
	uint64_t *track_cache, *name_cache; /* as in all calls: NULL, or 8 bytes of the text's own */
	uint64_t begin, end;
	uint32_t clock; /* enum weft_clock_number */
	uint32_t reserved;
};

void weft_ffi_span(
	struct weft_category *category, unsigned level, const struct weft_given_span *span);

/* The recorder's clock, in ticks: times for WEFT_CLOCK_RECORDER. 0 while nothing is recorded. */
uint64_t weft_ffi_now(void);

/* Says what a clock of the program's own shows now: WEFT_CLOCK_FOREIGN + n, in ns. */
void weft_ffi_clock_sync(unsigned clock, uint64_t now_ns);

enum weft_value_type {
	WEFT_VALUE_I64 = 1,
	WEFT_VALUE_U64 = 2,
	WEFT_VALUE_F64 = 3,
	WEFT_VALUE_TEXT = 4,
	WEFT_VALUE_POINTER = 5, /* shown in hexadecimal; `u64` */
	WEFT_VALUE_BOOL = 7,    /* `u64`: 0 or 1 */
};

/*      0        4        8                16
 *      ┌────────┬────────┬────────────────┐
 *      │  type  │  size  │ i64 … text     │
 *      └────────┴────────┴────────────────┘ */
struct weft_value {
	uint32_t type; /* enum weft_value_type */
	uint32_t size; /* of a text in bytes; of other types ignored */
	union {
		int64_t i64;
		uint64_t u64;
		double f64;
		const char *text;
	} is;
};

/* A mark with up to 15 values. `names` is its name and the name of each value, with a NUL in
 * between and none at the end: "request\0bytes\0path" with size 18. In all, names have at most
 * 1,024 bytes; a longer mark is counted as lost. */
void weft_ffi_mark(struct weft_category *category, unsigned level, uint64_t task, const char *names,
	size_t size, uint64_t *cache, unsigned count, const struct weft_value *values);

void weft_ffi_counter_add(struct weft_category *category, unsigned level, uint64_t task,
	const char *name, size_t size, uint64_t *cache, int64_t change);
void weft_ffi_counter_set(struct weft_category *category, unsigned level, uint64_t task,
	const char *name, size_t size, uint64_t *cache, int64_t value);

void weft_ffi_counter_add_f64(struct weft_category *category, unsigned level, uint64_t task,
	const char *name, size_t size, uint64_t *cache, double change);
void weft_ffi_counter_set_f64(struct weft_category *category, unsigned level, uint64_t task,
	const char *name, size_t size, uint64_t *cache, double value);

/* The value of this process's counter of that name, rounded towards 0; 0 if there is none. Values
 * change also while nothing is recorded. */
int64_t weft_ffi_counter_read(const char *name, size_t size);

/* ---- Metrics ---- */

/* metrics.h says what they are, and has the type weft_metric, which is uint64_t. Its functions that
 * take no text are called as they are: weft_metric_add, _change, _set, _record, _exemplar, _read,
 * _end, weft_limit_allows. */

/* The type of a metric, as struct weft_metric_type. Pointers and size_t have 8 bytes, or 4:
 *
 *      ┌──────┬──────┬──────┬───────────┬───────────┬───────────┐
 *      │ name │ unit │ help │ name_size │ unit_size │ help_size │
 *      └──────┴──────┴──────┴───────────┴───────────┴───────────┘
 *      ┌──────┬───────┬───────┬──────┬──────────┐
 *      │ kind │ scale │ first │ last │ billable │
 *      └──────┴───────┴───────┴──────┴──────────┘
 */
struct weft_ffi_metric {
	const char *name, *unit, *help;
	size_t name_size, unit_size, help_size;
	uint8_t kind; /* enum weft_metric_kind */
	int8_t scale;
	uint8_t first_exponent, last_exponent;
	uint32_t is_billable; /* 0 or 1 */
};

struct weft_ffi_pair {
	const char *key, *value;
	size_t key_size, value_size;
};

/* weft_metric_get, _child and _child_n. */
uint64_t weft_ffi_metric_get(
	const struct weft_ffi_metric *metric, const struct weft_ffi_pair *labels, unsigned pairs);
uint64_t weft_ffi_metric_child(
	uint64_t parent, const char *key, size_t key_size, const char *value, size_t value_size);
uint64_t weft_ffi_metric_child_n(uint64_t parent, const char *key, size_t key_size, uint64_t value);

/* ---- The thread: not filtered by level ---- */

/* The thread's name from now on, of which up to 15 bytes are kept; NULL: the operating system's. */
void weft_ffi_thread_name(const char *name, size_t size);

/* `kind`: enum weft_band. */
void weft_ffi_band_begin(unsigned kind, const char *reason, size_t size, uint64_t *cache);
void weft_ffi_band_end(unsigned kind, const char *reason, size_t size, uint64_t *cache);
void weft_ffi_gc(uint64_t duration_ns);
void weft_ffi_off_cpu(uint64_t duration_ns);
void weft_ffi_moment_begin(void);
void weft_ffi_moment_end(void);

/* ---- Many events with one call ---- */

/*      0        4       6        8        16       24
 *      ┌────────┬───────┬────────┬────────┬────────┐
 *      │ delta  │ event │  kind  │  task  │ other  │
 *      └────────┴───────┴────────┴────────┴────────┘ */
struct weft_batch_event {
	uint32_t delta; /* after the event before it; the first one: after `begin` */
	uint16_t event; /* enum weft_batch_type; others are left out */
	uint16_t kind;  /* create: of the new task; read: 1 as in read_later; signal: 1 as in
					 * weft_signal,  0 as in weft_signal_only; else 0 */
	uint64_t task;  /* the acting task; not used by switch */
	uint64_t other; /* the second task, or the key; not used by expect */
};

enum weft_batch_type {
	WEFT_BATCH_CREATE = 1, /* as weft_create_id */
	WEFT_BATCH_READ = 2,
	WEFT_BATCH_TRY_READ = 3,
	WEFT_BATCH_RESOLVE = 4,
	WEFT_BATCH_BECOME = 6,
	WEFT_BATCH_SWITCH = 13,
	WEFT_BATCH_SIGNAL = 14,
	WEFT_BATCH_EXPECT = 16,
	WEFT_BATCH_CANCEL = 18,
	WEFT_BATCH_CLOSE = 19,
	WEFT_BATCH_TIME_OUT = 20,
	WEFT_BATCH_WAIT_ANY = 24, /* those in a row with delta 0 and one task are one wait */
	WEFT_BATCH_ACQUIRE = 25,
	WEFT_BATCH_RELEASE = 26,
	WEFT_BATCH_SEND = 28,
	WEFT_BATCH_RECEIVE = 29,
};

/* Events that have happened before the call, each at a time of its own.
 *
 * `begin` and all deltas are in ns of WEFT_CLOCK_MONOTONIC, or in ticks of WEFT_CLOCK_RECORDER. The
 * times are kept if the call stands between weft_ffi_moment_begin and _end, which an event loop
 * calls at the beginning and the end of each turn: as followers of a running program wait for a
 * moment's end, nothing that they show was earlier. Times before the thread's latest event become
 * that one's, and times to come the present one, as do all outside of moments. A switch by what is
 * read or signalled is recorded also if the level filters the rest. */
void weft_ffi_batch(struct weft_category *category, unsigned level, unsigned clock, uint64_t begin,
	const struct weft_batch_event *events, size_t count);

/* ---- Snapshots and rundown ---- */

void weft_ffi_snapshot_request(const char *reason, size_t size);
void weft_ffi_trigger(const char *rule, size_t size);

/* See weft_rundown_wanted; a label of size 0 is none. */
bool weft_ffi_rundown_wanted(uint32_t *seen);
void weft_ffi_rundown_task(uint64_t task, uint16_t kind, const char *label, size_t size,
	uint64_t age_ns, uint64_t waits_for);

#ifdef __cplusplus
}
#endif

#endif
