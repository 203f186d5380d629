/* SPDX-License-Identifier: ISC
 *
 * The functions of weft_ffi.h: each tests the level first, as a macro of weft.h does, and then
 * calls the same code.
 */
#include <string.h>

#include <weft/error.h>
#include <weft/weft_ffi.h>

#include "abi/event_abi.h"
#include "record/compose.h"
#include "record/counters.h"
#include "record/cpu.h"
#include "record/reserve.h"
#include "record/text.h"

_Static_assert((int)WEFT_VALUE_I64 == (int)WEFT_ABI_VALUE_I64, "value types");
_Static_assert((int)WEFT_VALUE_U64 == (int)WEFT_ABI_VALUE_U64, "value types");
_Static_assert((int)WEFT_VALUE_F64 == (int)WEFT_ABI_VALUE_F64, "value types");
_Static_assert((int)WEFT_VALUE_TEXT == (int)WEFT_ABI_VALUE_TEXT, "value types");
_Static_assert((int)WEFT_VALUE_POINTER == (int)WEFT_ABI_VALUE_POINTER, "value types");
_Static_assert((int)WEFT_VALUE_BOOL == (int)WEFT_ABI_VALUE_BOOL, "value types");
_Static_assert(offsetof(struct weft_value, size) == 4, "a value's size");
_Static_assert(offsetof(struct weft_value, is) == 8, "a value's content");

#define PATTERN_ROOM 256

WEFT__ALWAYS_INLINE bool is_enabled(struct weft_category *category, unsigned level)
{
	return weft__allows(
		category ? category : &weft_category_program, level ? level : WEFT_LEVEL_INFO);
}

#define is_on(category, level, event)                             \
	weft__takes((category) ? (category) : &weft_category_program, \
		(level) ? (level) : (unsigned)WEFT_LEVEL_INFO, WEFT__EVENT_##event)

WEFT__ALWAYS_INLINE bool is_recording(void)
{
	return weft__allows(&weft_category_always, WEFT_LEVEL_ERROR);
}

/* ---- Starting, levels ---- */

WEFT__EXPORT int weft_ffi_start(void *buffer, size_t size)
{
	return weft_start(buffer, size, NULL);
}

WEFT__EXPORT void weft_ffi_stop(void)
{
	weft_stop();
}

WEFT__EXPORT bool weft_ffi_is_recording(void)
{
	return is_recording() && weft_is_recording();
}

WEFT__EXPORT bool weft_ffi_is_enabled(struct weft_category *category, unsigned level)
{
	return is_enabled(category, level);
}

WEFT__EXPORT int weft_ffi_set_level(const char *pattern, size_t size, unsigned level)
{
	char copy[PATTERN_ROOM];
	uint32_t room = size < sizeof(copy) ? (uint32_t)size : (uint32_t)sizeof(copy);
	uint32_t length = pattern ? weft__record_measure(pattern, room) : 0;
	if (!pattern || length == sizeof(copy))
		return WEFT_ERROR_ARGUMENT;
	memcpy(copy, pattern, length);
	copy[length] = '\0';
	return weft_set_level(copy, (enum weft_level)level);
}

/* ---- Tasks ---- */

WEFT__EXPORT uint64_t weft_ffi_current(void)
{
	return is_recording() ? weft_current() : WEFT_TASK_NONE;
}

WEFT__EXPORT uint16_t weft_ffi_kind(const char *name, size_t size, uint64_t *cache)
{
	if (!is_recording())
		return WEFT_KIND_UNKNOWN;
	return weft__record_kind(NULL, cache, name, weft__record_bounded(size));
}

WEFT__EXPORT uint64_t weft_ffi_create(
	struct weft_category *category, unsigned level, uint64_t task, uint16_t kind)
{
	return is_on(category, level, CREATE) ? weft__record_create(category, task, kind)
										  : weft__create_unseen();
}

WEFT__EXPORT uint64_t weft_ffi_id_space(void)
{
	return weft_id_space();
}

WEFT__EXPORT void weft_ffi_create_id(
	struct weft_category *category, unsigned level, uint64_t task, uint64_t id, uint16_t kind)
{
	if (is_on(category, level, CREATE))
		weft__record_create_id(category, task, id, kind);
}

WEFT__EXPORT void weft_ffi_batch(struct weft_category *category, unsigned level, unsigned clock,
	uint64_t begin, const struct weft_batch_event *events, size_t count)
{
	bool is_allowed = is_enabled(category, level);
	if (is_allowed || is_recording())
		weft__record_batch(category, !is_allowed, clock, begin, events, count);
}

WEFT__EXPORT void weft_ffi_switch(uint64_t task)
{
	if (is_recording())
		weft_switch(task);
}

WEFT__EXPORT void weft_ffi_enter(uint64_t task)
{
	if (is_recording())
		weft_enter(task);
}

WEFT__EXPORT void weft_ffi_leave(void)
{
	if (is_recording())
		weft_leave();
}

/* The task that runs all the same if the level filters the call; WEFT_TASK_CURRENT: none. */
#define RUNS_SAME(task, other)  WEFT_TASK_CURRENT
#define RUNS_TASK(task, other)  (task)
#define RUNS_OTHER(task, other) (other)

#define WEFT__EDGE(name, parameter, event, small, runs, text)                          \
	WEFT__EXPORT void weft_ffi_##name(                                                 \
		struct weft_category *category, unsigned level, uint64_t task, uint64_t other) \
	{                                                                                  \
		if (is_on(category, level, event))                                             \
			weft_##name##_as(task, other);                                             \
		else if (RUNS_##runs(task, other) != WEFT_TASK_CURRENT)                        \
			weft_ffi_switch(RUNS_##runs(task, other));                                 \
	}
#define WEFT__MESSAGE(name, event, text) WEFT__EDGE(name, key, event, 0, SAME, text)

#define WEFT__STATEMENT(name, event, text)                             \
	WEFT__EXPORT void weft_ffi_##name(                                 \
		struct weft_category *category, unsigned level, uint64_t task) \
	{                                                                  \
		if (is_on(category, level, event))                             \
			weft_##name##_as(task);                                    \
	}

#define WEFT__TEXT(name, event, meaning)                                                        \
	WEFT__EXPORT void weft_ffi_##name(struct weft_category *category, unsigned level,           \
		uint64_t task, const char *text, size_t size, uint64_t *cache)                          \
	{                                                                                           \
		if (is_on(category, level, event))                                                      \
			weft__record_text(WEFT_ABI_##event, task, cache, text, weft__record_bounded(size)); \
	}                                                                                           \
	WEFT__EXPORT void weft_ffi_##name##f(struct weft_category *category, unsigned level,        \
		uint64_t task, const char *format, size_t size, uint64_t *cache, unsigned count,        \
		const struct weft_value *values)                                                        \
	{                                                                                           \
		if (is_on(category, level, event))                                                      \
			weft__record_formatted(WEFT_ABI_##event##F, task, cache, format,                    \
				weft__record_bounded(size), count, values);                                     \
	}

#include <weft/calls.def>

WEFT__EXPORT void weft_ffi_wait_any(struct weft_category *category, unsigned level, uint64_t task,
	const uint64_t *sources, unsigned count)
{
	if (is_on(category, level, WAIT_ANY))
		weft_wait_any_as(task, count, sources);
}

WEFT__EXPORT void weft_ffi_fail(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t target, const char *message, size_t size)
{
	if (is_on(category, level ? level : (unsigned)WEFT_LEVEL_ERROR, FAIL))
		weft__record_failure(task, target, message, weft__record_bounded(size));
}

WEFT__EXPORT uint64_t weft_ffi_operation_begin(struct weft_category *category, unsigned level,
	uint64_t task, const char *label, size_t size, uint64_t *cache)
{
	if (!is_on(category, level, CREATE))
		return weft__create_unseen();
	return weft__record_operation(category, task, cache, label, weft__record_bounded(size));
}

WEFT__EXPORT void weft_ffi_operation_end(
	struct weft_category *category, unsigned level, uint64_t operation, uint64_t waiter)
{
	if (is_on(category, level, RESOLVE))
		weft_operation_end(operation, waiter);
	else if (is_recording())
		weft__operation_continues(waiter);
}

WEFT__EXPORT void weft_ffi_operation_cancel(
	struct weft_category *category, unsigned level, uint64_t operation, uint64_t waiter)
{
	if (is_on(category, level, CANCEL))
		weft_operation_cancel(operation, waiter);
	else if (is_recording())
		weft__operation_continues(waiter);
}

WEFT__EXPORT void weft_ffi_operation_fail(struct weft_category *category, unsigned level,
	uint64_t operation, uint64_t waiter, const char *message, size_t size)
{
	if (is_on(category, level ? level : (unsigned)WEFT_LEVEL_ERROR, FAIL))
		weft__record_failed_operation(operation, waiter, message, weft__record_bounded(size));
	else if (is_recording())
		weft__operation_continues(waiter);
}

/* ---- Texts, values, counters ---- */

WEFT__EXPORT bool weft_ffi_begin(struct weft_category *category, unsigned level, uint64_t task,
	const char *name, size_t size, uint64_t *cache)
{
	if (!is_on(category, level, BEGIN))
		return false;
	weft__record_text(WEFT_ABI_BEGIN, task, cache, name, weft__record_bounded(size));
	return true;
}

WEFT__EXPORT void weft_ffi_end(uint64_t task)
{
	if (is_recording())
		weft_end_as(task);
}

WEFT__EXPORT void weft_ffi_span(
	struct weft_category *category, unsigned level, const struct weft_given_span *span)
{
	if (is_on(category, level, SPAN))
		weft__span(span);
}

WEFT__EXPORT uint64_t weft_ffi_now(void)
{
	return is_recording() ? weft_now() : 0;
}

WEFT__EXPORT void weft_ffi_clock_sync(unsigned clock, uint64_t now_ns)
{
	if (is_recording())
		weft_clock_sync(clock, now_ns);
}

WEFT__EXPORT void weft_ffi_tag(struct weft_category *category, unsigned level, uint64_t task,
	const char *text, size_t size, uint64_t *cache)
{
	if (is_on(category, level, TAG))
		weft__record_text(WEFT_ABI_TAG, task, cache, text, weft__record_bounded(size));
}

WEFT__EXPORT void weft_ffi_tag_value(struct weft_category *category, unsigned level, uint64_t task,
	const char *text, size_t size, uint64_t *cache, int64_t value)
{
	if (is_on(category, level, TAG))
		weft__record_text_with(
			WEFT_ABI_TAG_VALUE, task, cache, text, weft__record_bounded(size), (uint64_t)value);
}

WEFT__EXPORT void weft_ffi_mark(struct weft_category *category, unsigned level, uint64_t task,
	const char *names, size_t size, uint64_t *cache, unsigned count,
	const struct weft_value *values)
{
	if (is_on(category, level, MARK))
		weft__record_mark(task, cache, names, weft__record_bounded(size), count, values);
}

WEFT__ALWAYS_INLINE void count(struct weft_category *given, unsigned level, unsigned kind,
	uint64_t task, uint64_t *cache, const char *name, size_t size, int64_t value)
{
	struct weft_category *category = given ? given : &weft_category_program;
	bool is_on = is_enabled(category, level);
	if (!is_on && weft__counts(category))
		weft__record_count_tallied(category, kind, cache, name, weft__record_bounded(size), value);
	else
		weft__record_count(is_on, kind, task, cache, name, weft__record_bounded(size), value);
}

WEFT__EXPORT void weft_ffi_counter_add(struct weft_category *category, unsigned level,
	uint64_t task, const char *name, size_t size, uint64_t *cache, int64_t change)
{
	count(category, level, WEFT_ABI_COUNTER, task, cache, name, size, change);
}

WEFT__EXPORT void weft_ffi_counter_set(struct weft_category *category, unsigned level,
	uint64_t task, const char *name, size_t size, uint64_t *cache, int64_t value)
{
	count(category, level, WEFT_ABI_COUNTER_SET, task, cache, name, size, value);
}

static int64_t bits_of(double value)
{
	int64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

WEFT__EXPORT void weft_ffi_counter_add_f64(struct weft_category *category, unsigned level,
	uint64_t task, const char *name, size_t size, uint64_t *cache, double change)
{
	count(category, level, WEFT_ABI_COUNTER_F64, task, cache, name, size, bits_of(change));
}

WEFT__EXPORT void weft_ffi_counter_set_f64(struct weft_category *category, unsigned level,
	uint64_t task, const char *name, size_t size, uint64_t *cache, double value)
{
	count(category, level, WEFT_ABI_COUNTER_SET_F64, task, cache, name, size, bits_of(value));
}

WEFT__EXPORT int64_t weft_ffi_counter_read(const char *name, size_t size)
{
	return weft__record_counter_value(name, weft__record_bounded(size));
}

/* ---- The thread ---- */

WEFT__EXPORT void weft_ffi_thread_name(const char *name, size_t size)
{
	if (is_recording())
		weft__record_name_thread(name, weft__record_bounded(size));
}

WEFT__ALWAYS_INLINE void put_band(
	unsigned kind, bool begin, const char *reason, size_t size, uint64_t *cache)
{
	if (!is_recording())
		return;
	weft__record_cpu_look_at_band(kind, begin);
	weft__record_text_with(WEFT_ABI_BAND, WEFT_TASK_CURRENT, cache, reason,
		weft__record_bounded(size), weft__record_band_operand(kind, begin));
}

WEFT__EXPORT void weft_ffi_band_begin(
	unsigned kind, const char *reason, size_t size, uint64_t *cache)
{
	put_band(kind, true, reason, size, cache);
}

WEFT__EXPORT void weft_ffi_band_end(unsigned kind, const char *reason, size_t size, uint64_t *cache)
{
	put_band(kind, false, reason, size, cache);
}

WEFT__EXPORT void weft_ffi_gc(uint64_t duration_ns)
{
	if (is_recording())
		weft_gc(duration_ns);
}

WEFT__EXPORT void weft_ffi_off_cpu(uint64_t duration_ns)
{
	if (is_recording())
		weft_off_cpu(duration_ns);
}

WEFT__EXPORT void weft_ffi_moment_begin(void)
{
	if (is_recording())
		weft_moment_begin();
}

WEFT__EXPORT void weft_ffi_moment_end(void)
{
	if (is_recording())
		weft_moment_end();
}

/* ---- Snapshots and rundown ---- */

WEFT__EXPORT void weft_ffi_snapshot_request(const char *reason, size_t size)
{
	if (is_recording())
		weft__record_request_snapshot(reason, weft__record_bounded(size));
}

WEFT__EXPORT void weft_ffi_trigger(const char *rule, size_t size)
{
	weft__record_add_trigger(rule, weft__record_bounded(size));
}

WEFT__EXPORT bool weft_ffi_rundown_wanted(uint32_t *seen)
{
	return is_recording() && weft_rundown_wanted(seen);
}

WEFT__EXPORT void weft_ffi_rundown_task(uint64_t task, uint16_t kind, const char *label,
	size_t size, uint64_t age_ns, uint64_t waits_for)
{
	const struct weft__living living = {task, age_ns, waits_for, kind};
	if (is_recording())
		weft__record_alive(NULL, &living, label, weft__record_bounded(size));
}
