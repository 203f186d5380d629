/* SPDX-License-Identifier: ISC
 *
 * Every call of weft.h, as C and as C++. tests/e2e/header.py compiles this in many ways; with
 * WITHOUT_CALLS defined, the same functions contain no calls.
 */
#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NAME "a macro"

#ifndef WITHOUT_CALLS
WEFT_CATEGORY_DECLARE(part);
WEFT_CATEGORY_DEFINE(part, "part", "a part of " NAME);
#endif

uint64_t work(uint64_t task, int number, const char *text, double ratio);
uint64_t evaluated(void); /* must not be called when recording is compiled out */

#ifndef WITHOUT_CALLS
/* Bit-fields, which have no size of their own. */
struct flags {
	unsigned first : 1, rest : 31;
};

static void calls_with_bits(struct flags flags)
{
	weft_tag_value("first", flags.first);
	weft_counter_set("rest", flags.rest);
}

/* The calls that return nothing. */
static void all_calls(uint64_t task, int number, const char *text, double ratio)
{
	weft_stop();
	weft_thread_name(text);
	weft_switch(task);
	weft_switch(evaluated());
	weft_enter(evaluated());
	weft_leave();
	WEFT_TASK_SCOPE(task);
	WEFT_TASK_SCOPE(evaluated());
#define WEFT__EDGE(name, other, event, small, runs, text) \
	weft_##name(task);                                    \
	weft_##name(evaluated());                             \
	weft_##name##_as(task, evaluated());                  \
	weft_##name##_as(evaluated(), task);
#define WEFT__MESSAGE(name, event, text) WEFT__EDGE(name, key, event, 0, SAME, text)
#define WEFT__STATEMENT(name, event, text) \
	weft_##name();                         \
	weft_##name##_as(evaluated());
#define WEFT__TEXT(name, event, meaning)   \
	weft_##name("literal");                \
	weft_##name(text + 1);                 \
	weft_##name##_as(task, "two " NAME);   \
	weft_##name##_n(text, (size_t)number); \
	weft_##name##_n_as(evaluated(), "literal", 3);
#include <weft/calls.def>
	weft_wait_any(1, &task);
	weft_wait_any_as(evaluated(), 1, &task);
	weft_fail(task, text);
	weft_fail_as(task, task, "literal");
	weft_begin("literal");
	weft_begin(text);
	weft_begin_as(evaluated(), "literal");
	weft_end();
	weft_end_as(task);
	WEFT_SPAN("literal");
	WEFT_SPAN(text);
	WEFT_SPAN_AT(WEFT_LEVEL_DEBUG, NAME);
	weft_at(WEFT_LEVEL_DEBUG, weft_begin("literal"));
	weft_span("literal", WEFT_CLOCK_MONOTONIC, "literal", task, evaluated());
	weft_span(text, WEFT_CLOCK_FOREIGN + 1, text, 1, weft_now());
	weft_at(WEFT_LEVEL_DEBUG, weft_span("literal", WEFT_CLOCK_RECORDER, NAME, task, task));
	weft_clock_sync(WEFT_CLOCK_FOREIGN, task);
	weft_gc(task);
	weft_off_cpu(task);
	weft_moment_begin();
	weft_moment_end();
	weft_switch(weft_create(weft_kind("job")));
	weft_create_id(WEFT_TASK_CURRENT, weft_id_space() + evaluated(), WEFT_KIND_TASK);
	weft_operation_end(weft_operation_begin("literal"), task);
	weft_operation_cancel(weft_operation_begin(text), WEFT_TASK_CURRENT);
	weft_operation_fail(weft_operation_begin_as(evaluated(), NAME), WEFT_TASK_NONE, text);
	weft_at(WEFT_LEVEL_DEBUG, task = weft_operation_begin("a level"));
	weft_labelf("no value");
	weft_labelf("%s %d", text, number);
	weft_labelf_as(task, "%.2f", ratio);
	weft_notef("no value");
	weft_notef("%d %s %f %c", number, text, ratio, 'x');
	weft_notef_as(task, "%p %ld", (void *)&number, 3L);
	weft_tag("tag");
	weft_tag_as(evaluated(), text);
	weft_tag_value("tag", number);
	weft_tag_value_as(task, text, number);
	weft_mark("nothing");
	weft_mark("some", "number", number, "text", text, "ratio", ratio);
	weft_mark_as(task, "more", "task", evaluated(), "true", number > 0);
	weft_counter_add("counter", 1);
	weft_counter_add_as(task, "counter", -1);
	weft_counter_set(text, number);
	weft_counter_set_as(task, "counter", number);
	weft_counter_set(text, ratio);
	weft_counter_add_as(task, "counter", 0.5f);
	weft_counter_add("counter", (long double)ratio);
	weft_counter_add("counter", 'x');
	weft_counter_add("counter", sizeof(ratio));
	weft_counter_add("counter", number > 0);
	weft_band_begin(WEFT_BAND_IDLE, "poll");
	weft_band_end(WEFT_BAND_IDLE, text);
	weft_at(WEFT_LEVEL_DEBUG, weft_resolve(evaluated()));
	weft_at(WEFT_LEVEL_TRACE, weft_notef("%d %d", number, number));
	weft_at(WEFT_LEVEL_ERROR, weft_mark("some", "number", number));
	if (weft_enabled(WEFT_LEVEL_DEBUG) || weft_category_enabled(part, WEFT_LEVEL_TRACE))
		weft_switch(evaluated());
	weft_set_level("part*", WEFT_LEVEL_OFF);
}

#undef WEFT_CATEGORY
#define WEFT_CATEGORY part
static void calls_of_a_part(uint64_t task)
{
	if (task)
		weft_at(WEFT_LEVEL_ERROR, weft_fail(task, NAME));
	else
		weft_note(NAME);
}
#endif

uint64_t work(uint64_t task, int number, const char *text, double ratio)
{
	uint64_t result = task + (uint64_t)number + (text ? 1 : 0) + (ratio > 0 ? 1 : 0);
#ifndef WITHOUT_CALLS
	struct flags flags = {1, 2};
	calls_with_bits(flags);
	all_calls(task, number, text, ratio);
	calls_of_a_part(task);
	uint64_t child = weft_create(WEFT_KIND_TASK);
	uint64_t other = weft_create_as(child, WEFT_KIND_BIND);
	if (weft_is_recording())
		result += evaluated();
	weft_switch(other);
	result += weft_current() == 0 ? 0 : 1;
#endif
	return result;
}

#ifdef __cplusplus
}
#endif
