/* SPDX-License-Identifier: ISC
 *
 * The calls of weft.h where WEFT_DISABLED is defined: they compile to nothing. Any C99 or C++11
 * compiler accepts this file, so it uses no extension, and no macro that counts its arguments,
 * which older versions of MSVC get wrong.
 */
#ifndef WEFT_DISABLED_H
#define WEFT_DISABLED_H

#ifndef WEFT_DISABLED /* this file was included by itself */
#define WEFT_DISABLED
#endif

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Arguments are not evaluated, but count as used: this function is only called inside sizeof, and
 * never defined. */
int weft__unused(int count, ...);
#define WEFT__UNUSED(...) ((void)sizeof(weft__unused(0, __VA_ARGS__)))

/* Functions, because compilers warn about unused constants. */
static inline uint64_t weft__no_task(void)
{
	return 0;
}
static inline bool weft__false(void)
{
	return false;
}
static inline int weft__success(void)
{
	return 0;
}

#include <weft/weft_calls.h>

#define WEFT_CATEGORY_DECLARE(id)                   struct weft_category
#define WEFT_CATEGORY_DEFINE(id, name, description) struct weft_category
struct weft_category;

#define weft_start(b, s, p)          (WEFT__UNUSED(b, s, p), weft__success())
#define weft_stop()                  ((void)0)
#define weft_category_register(c)    WEFT__UNUSED(c)
#define weft_category_unregister(c)  WEFT__UNUSED(c)
#define weft_enabled(level)          (WEFT__UNUSED(level), weft__false())
#define weft_category_enabled(c, l)  (WEFT__UNUSED(l), weft__false())
#define weft_set_level(p, level)     (WEFT__UNUSED(p, level), weft__success())
#define weft_is_recording()          weft__false()
#define weft_thread_name(name)       WEFT__UNUSED(name)
#define weft_current()               weft__no_task()
#define weft_create(kind)            (WEFT__UNUSED(kind), weft__no_task())
#define weft_create_as(task, kind)   (WEFT__UNUSED(task, kind), weft__no_task())
#define weft_id_space()              weft__no_task()
#define weft_create_id(task, i, k)   WEFT__UNUSED(task, i, k)
#define weft_switch(task)            WEFT__UNUSED(task)
#define weft_enter(task)             WEFT__UNUSED(task)
#define weft_leave()                 ((void)0)
#define weft_moment_begin()          ((void)0)
#define weft_moment_end()            ((void)0)
#define weft_wait_any(count, ...)    WEFT__UNUSED(count, __VA_ARGS__)
#define weft_wait_any_as(t, n, ...)  WEFT__UNUSED(t, n, __VA_ARGS__)
#define weft_fail(target, message)   WEFT__UNUSED(target, message)
#define weft_fail_as(t, x, message)  WEFT__UNUSED(t, x, message)
#define weft_begin(name)             WEFT__UNUSED(name)
#define weft_begin_as(task, name)    WEFT__UNUSED(task, name)
#define weft_end()                   ((void)0)
#define weft_end_as(task)            WEFT__UNUSED(task)
#define WEFT_SPAN(name)              WEFT__UNUSED(name)
#define WEFT_SPAN_AT(level, name)    WEFT__UNUSED(level, name)
#define weft_now()                   weft__no_task()
#define weft_clock_sync(clock, ns)   WEFT__UNUSED(clock, ns)
#define weft_span(t, c, n, b, e)     WEFT__UNUSED(t, c, n, b, e)
#define weft_gc(duration_ns)         WEFT__UNUSED(duration_ns)
#define weft_off_cpu(duration_ns)    WEFT__UNUSED(duration_ns)
#define weft_tag(text)               WEFT__UNUSED(text)
#define weft_tag_as(task, text)      WEFT__UNUSED(task, text)
#define weft_tag_value(text, v)      WEFT__UNUSED(text, v)
#define weft_tag_value_as(t, x, v)   WEFT__UNUSED(t, x, v)
#define weft_mark(...)               WEFT__UNUSED(__VA_ARGS__)
#define weft_mark_as(task, ...)      WEFT__UNUSED(task, __VA_ARGS__)
#define weft_counter_add(name, n)    WEFT__UNUSED(name, n)
#define weft_counter_set(name, n)    WEFT__UNUSED(name, n)
#define weft_counter_add_as(t, x, n) WEFT__UNUSED(t, x, n)
#define weft_counter_set_as(t, x, n) WEFT__UNUSED(t, x, n)
#define weft_counter_read(name)      (WEFT__UNUSED(name), (int64_t)0)
#define weft_band_begin(kind, why)   WEFT__UNUSED(kind, why)
#define weft_band_end(kind, why)     WEFT__UNUSED(kind, why)
#define weft_snapshot_request(why)   WEFT__UNUSED(why)
#define WEFT_TASK_SCOPE(task)        WEFT__UNUSED(task)

#define weft_kind(name)                      (WEFT__UNUSED(name), (uint16_t)WEFT_KIND_UNKNOWN)
#define weft_operation_begin(label)          (WEFT__UNUSED(label), weft__no_task())
#define weft_operation_begin_as(task, label) (WEFT__UNUSED(task, label), weft__no_task())
#define weft_operation_end(o, waiter)        WEFT__UNUSED(o, waiter)
#define weft_operation_cancel(o, waiter)     WEFT__UNUSED(o, waiter)
#define weft_operation_fail(o, waiter, why)  WEFT__UNUSED(o, waiter, why)

#define weft_at(level, ...) \
	do {                    \
		__VA_ARGS__;        \
	} while (0)

#define weft_trigger(rule)               WEFT__UNUSED(rule)
#define weft_rundown_wanted(seen)        (WEFT__UNUSED(seen), weft__false())
#define weft_rundown_task(t, k, l, a, w) WEFT__UNUSED(t, k, l, a, w)

#ifdef __cplusplus
}
#endif

#endif
