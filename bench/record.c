/* SPDX-License-Identifier: ISC
 *
 * The cost of recording an event, compared with the minimum that any recorder needs: a stamp and a
 * store.
 *
 * Each line is a loop of calls into the shared library; measure.h explains the timing.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/context.h>
#include <weft/decoder.h>
#include <weft/weft.h>
#include <weft/weft_ffi.h>

#include "bound.h"
#include "disabled.h"
#include "measure.h"

enum {
	SAMPLE = 100, /* events for measuring the size */
};

#define BUFFER_BYTES ((size_t)16 << 20)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void *buffer;

static void start(const struct weft_platform *platform)
{
	if (weft_start(buffer, BUFFER_BYTES, platform)) {
		fprintf(stderr, "recording does not start\n");
		exit(1);
	}
}

/* ---- Lower bounds ---- */

LOOP(do_bound_store, bound_store(i))
LOOP(do_bound_commit, bound_commit(i))

static void enter_and_store(uint64_t *ring)
{
	bound_enter(ring);
	do_bound_store(ring);
}

static void enter_and_commit(uint64_t *ring)
{
	bound_enter(ring);
	do_bound_commit(ring);
}

static const struct subject bounds[] = {
	{"loads its position, stamps, stores", enter_and_store},
	{"and commits", enter_and_commit},
};

static void print_bounds(void)
{
	measure_print_section("a call into a shared library that does no more than this");
	for (size_t i = 0; i < COUNT(bounds); i++) {
		struct measured measured = measure_subject(&bounds[i], &measure_floor);
		measure_print_line(bounds[i].name, &measured, 16);
	}
}

/* ---- Events ---- */

static const uint64_t three[] = {1, 2, 3};
static const struct weft_context outer = {.trace_high = 1, .trace_low = 2, .span = 3, .flags = 1};
static struct weft_context inner;

LOOP(do_resolve, weft_resolve(i))
LOOP(do_create, KEEP(weft_create(WEFT_KIND_TASK)))
LOOP(do_switch, weft_switch(i))
LOOP(do_enter, (weft_enter(i), weft_leave()))
LOOP(do_read, weft_read(i))
LOOP(do_try_read, weft_try_read(i))
LOOP(do_wait_any, weft_wait_any(3, three))
LOOP(do_signal, weft_signal(i))
LOOP(do_become, weft_become(i))
LOOP(do_expect, weft_expect())
LOOP(do_span, weft_begin("deflate"); weft_end())
LOOP(do_context, weft_context_begin("deflate", &outer, &inner); weft_context_end(&outer))
LOOP(do_track, weft_span("disk", WEFT_CLOCK_RECORDER, "write", i, i))
LOOP(do_track_clock, weft_span("disk", WEFT_CLOCK_MONOTONIC, "write", i, i))
LOOP(do_gc, weft_gc(i))
LOOP(do_resolve_as, weft_resolve_as(7, i))
LOOP(do_label, weft_label("a literal"))
LOOP(do_tag, weft_tag("a tag"))
LOOP(do_tag_value, weft_tag_value("a tag", (int64_t)i))
LOOP(do_counter, weft_counter_add("a counter", 1))
LOOP(do_band, weft_band_begin(WEFT_BAND_IDLE, "poll"))
LOOP(do_mark, weft_mark("request", "bytes", i, "status", 200))
LOOP(do_notef, weft_notef("%d of %d", (int)i, MEASURE_EVENTS))
LOOP(do_note_text, weft_note((const char *)"some text of 28 bytes length" + (i & 1)))
LOOP(do_fail, weft_fail(i, "no such file"))

static void do_context_in_task(uint64_t *ring)
{
	weft_switch(7);
	do_context(ring);
	weft_switch(WEFT_TASK_NONE);
}

/* An operation: five events. */
static inline void five_calls(void)
{
	uint64_t operation = weft_create(WEFT_KIND_PROMISE);
	weft_label_as(operation, "read header");
	weft_try_read(operation);
	weft_resolve(operation);
	weft_read_as(7, operation);
}

LOOP(do_five_calls, five_calls())
LOOP(do_operation, weft_operation_end(weft_operation_begin("read header"), 7))

static const struct subject events[] = {
	{"resolve", do_resolve},
	{"create", do_create},
	{"switch", do_switch},
	{"enter and leave", do_enter},
	{"read", do_read},
	{"try_read", do_try_read},
	{"wait_any, three sources", do_wait_any},
	{"signal", do_signal},
	{"become", do_become},
	{"expect", do_expect},
	{"begin and end of a span", do_span},
	{"the same with a context", do_context},
	{"the same in a task", do_context_in_task},
	{"span on a track, recorder's clock", do_track},
	{"span on a track, monotonic clock", do_track_clock},
	{"gc", do_gc},
	{"resolve, explicit task", do_resolve_as},
	{"label, literal", do_label},
	{"tag", do_tag},
	{"tag with a value", do_tag_value},
	{"counter", do_counter},
	{"band", do_band},
	{"mark, two integers", do_mark},
	{"notef, two integers", do_notef},
	{"note, text of 28 bytes", do_note_text},
	{"fail, text of 12 bytes", do_fail},
	{"an operation, five calls", do_five_calls},
	{"an operation, begin and end", do_operation},
};

/* Bytes per event, from the offsets at which a reader finds them. Recording is off. */
static double measure_bytes(const struct subject *subject)
{
	struct weft_decoder *decoder;
	struct weft_event event;
	uint64_t first = 0, last = 0;
	unsigned count = 0;
	start(NULL);
	subject->run(NULL);
	weft_stop();
	if (weft_decoder_create(&decoder) ||
		weft_decoder_feed_borrowed(decoder, buffer, BUFFER_BYTES) || weft_decoder_finish(decoder))
		exit(1);
	while (count < SAMPLE && weft_decoder_next(decoder, &event) == WEFT_OK) {
		first = count++ ? first : event.offset;
		last = event.offset;
	}
	weft_decoder_destroy(decoder);
	return count > 1 ? (double)(last - first) / (count - 1) : 0;
}

static void print_list(const struct subject *subjects, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double bytes = measure_bytes(&subjects[i]);
		start(NULL);
		struct measured measured = measure_subject(&subjects[i], &measure_floor);
		weft_stop();
		measure_print_line(subjects[i].name, &measured, bytes);
	}
}

/* ---- Calls without effect ---- */

static void print_without_effect(const char *name, void (*run)(uint64_t *ring))
{
	const struct subject subject = {name, run};
	struct measured measured = measure_subject(&subject, &measure_empty);
	measure_print_line(name, &measured, 0);
}

static void print_disabled(void)
{
	measure_print_section("weft, resolve without effect; the floor is the empty loop");
	start(NULL);
	weft_set_level("*", WEFT_LEVEL_OFF);
	print_without_effect("its category off", do_resolve);
	weft_set_level("*", WEFT_LEVEL_COUNT);
	print_without_effect("its category at count", do_resolve);
	weft_set_level("*", WEFT_LEVEL_INFO);
	weft_stop();
	print_without_effect("nothing recorded", do_resolve);
	print_without_effect(disabled_resolve.name, disabled_resolve.run);
}

/* ---- Counters, whose values change in any case ---- */

static uint64_t plain_cell, atomic_cell;
LOOP(do_add, plain_cell++)
LOOP(do_atomic_add, __atomic_fetch_add(&atomic_cell, 1, __ATOMIC_RELAXED))

LOOP(add_to_shared, weft_counter_add("shared", 1))

static void print_counters(void)
{
	measure_print_section("weft, counters without an event; the floor is the empty loop");
	print_without_effect("a plain add, for comparison", do_add);
	print_without_effect("an atomic add, for comparison", do_atomic_add);
	start(NULL);
	weft_set_level("*", WEFT_LEVEL_OFF);
	print_without_effect("counter, its category off", do_counter);
	weft_set_level("*", WEFT_LEVEL_INFO);
	weft_stop();
	print_without_effect("counter, nothing recorded", do_counter);
	measure_print_mean_of_two("one counter", add_to_shared);
}

/* ---- Special cases, each with a line of its own ---- */

static uint64_t count_ticks(void *context)
{
	return ++*(uint64_t *)context;
}

/* The recorder's own work, with nothing hidden behind the clock. Two threads would share the
 * counter. */
static void print_counter_clock(void)
{
	uint64_t counter = 0;
	const struct weft_platform counting = {
		.context = &counter, .ticks = count_ticks, .ticks_hz = 1000000000};
	const struct subject subject = {"resolve, a counter as clock", do_resolve};
	start(&counting);
	struct measured measured = measure_subject_alone(&subject, &measure_floor);
	weft_stop();
	measure_print_line(subject.name, &measured, 0);
}

static uint64_t counter_in_memory;

LOOP(do_resolve_counting, (counter_in_memory++, weft_resolve(i)))

static void print_clock_in_memory(void)
{
	const struct weft_platform counting = {.ticks_at = &counter_in_memory, .ticks_hz = 1000000000};
	const struct subject subject = {"resolve, a counter in memory", do_resolve_counting};
	start(&counting);
	struct measured measured = measure_subject_alone(&subject, &measure_floor);
	weft_stop();
	measure_print_line(subject.name, &measured, 0);
}

/* Beside the lines "switch" and "enter and leave" of the events. */
static void print_cpu(void)
{
	static const struct subject measured_events[] = {
		{"switch, off-CPU time measured", do_switch},
		{"enter and leave, the same", do_enter},
	};
	for (size_t i = 0; i < COUNT(measured_events); i++) {
		start(NULL);
		weft_set_level("cpu", WEFT_LEVEL_DEBUG);
		struct measured measured = measure_subject(&measured_events[i], &measure_floor);
		weft_stop();
		measure_print_line(measured_events[i].name, &measured, 0);
	}
	weft_set_level("cpu", WEFT_LEVEL_INFO);
}

/* The sequence that mirage-profile measures: two promises, a bind on them, both are woken, a
 * counter. Each step is what a runtime does in one go. */
static inline void run_of_eleven(void)
{
	weft_moment_begin();
	uint64_t first = weft_create(WEFT_KIND_WAIT), second = weft_create(WEFT_KIND_WAIT);
	uint64_t bind = weft_create(WEFT_KIND_BIND);
	weft_try_read_as(bind, first);
	weft_moment_begin();
	weft_resolve(first);
	weft_read_as(bind, first);
	weft_become(second);
	weft_moment_begin();
	weft_resolve(second);
	weft_read(second);
	weft_resolve(bind);
	weft_counter_add("runs", 1);
	weft_moment_end();
}

LOOP(do_eleven, run_of_eleven())

/* Counts different times among the events of a run. */
static unsigned count_stamps(void)
{
	struct weft_decoder *decoder;
	struct weft_event event;
	uint64_t last = UINT64_MAX;
	unsigned stamps = 0;
	start(NULL);
	run_of_eleven();
	weft_stop();
	if (weft_decoder_create(&decoder) ||
		weft_decoder_feed_borrowed(decoder, buffer, BUFFER_BYTES) || weft_decoder_finish(decoder))
		exit(1);
	for (unsigned i = 0; i < 11 && weft_decoder_next(decoder, &event) == WEFT_OK; i++) {
		stamps += event.time_ns != last;
		last = event.time_ns;
	}
	weft_decoder_destroy(decoder);
	return stamps;
}

static void print_moments(void)
{
	char name[40];
	snprintf(name, sizeof(name), "11 events in %u moments", count_stamps());
	const struct subject subject = {name, do_eleven};
	start(NULL);
	struct measured measured = measure_subject(&subject, &measure_floor);
	weft_stop();
	measure_print_line(subject.name, &measured, 0);
}

/* ---- The same events by the functions for other languages ---- */

static uint64_t label_cache, counter_cache, mark_cache;

static void ffi_mark(uint64_t i)
{
	const struct weft_value values[] = {
		{WEFT_VALUE_U64, 0, {.u64 = i}}, {WEFT_VALUE_I64, 0, {.i64 = 200}}};
	weft_ffi_mark(NULL, 0, WEFT_TASK_CURRENT, "request\0bytes\0status", 20, &mark_cache, 2, values);
}

LOOP(do_ffi_resolve, weft_ffi_resolve(NULL, 0, WEFT_TASK_CURRENT, i))
LOOP(do_ffi_create, KEEP(weft_ffi_create(NULL, 0, WEFT_TASK_CURRENT, WEFT_KIND_TASK)))
LOOP(do_ffi_label, weft_ffi_label(NULL, 0, WEFT_TASK_CURRENT, "a literal", 9, &label_cache))
LOOP(do_ffi_counter,
	weft_ffi_counter_add(NULL, 0, WEFT_TASK_CURRENT, "a counter", 9, &counter_cache, 1))
LOOP(do_ffi_mark, ffi_mark(i))
LOOP(do_ffi_note, weft_ffi_note(NULL, 0, WEFT_TASK_CURRENT,
					  (const char *)"some text of 28 bytes length" + (i & 1), 28 - (i & 1), NULL))

/* A turn of a loop: 64 events with one call. */
#define BATCH 64
static struct weft_batch_event batch[BATCH];

static void fill_batch(void)
{
	for (uint32_t i = 0; i < BATCH; i++)
		batch[i] = (struct weft_batch_event){10, WEFT_BATCH_RESOLVE, 0, WEFT_TASK_CURRENT, i};
}

static void ffi_batch(uint64_t i)
{
	if (i % BATCH)
		return;
	weft_ffi_moment_begin();
	weft_ffi_batch(NULL, 0, WEFT_CLOCK_MONOTONIC, i, batch, BATCH);
	weft_ffi_moment_end();
}
LOOP(do_ffi_batch, ffi_batch(i))

static const struct subject ffi_events[] = {
	{"resolve", do_ffi_resolve},
	{"create", do_ffi_create},
	{"label, cached", do_ffi_label},
	{"counter, cached", do_ffi_counter},
	{"mark, two integers, cached", do_ffi_mark},
	{"note, text of 28 bytes", do_ffi_note},
	{"64 resolves in a batch: of each", do_ffi_batch},
};

static void print_ffi(void)
{
	measure_print_section("weft_ffi.h, enabled");
	fill_batch();
	print_list(ffi_events, COUNT(ffi_events));
	measure_print_section("weft_ffi.h without effect; the floor is the empty loop");
	print_without_effect("resolve, nothing recorded", do_ffi_resolve);
}

static void print_special(void)
{
	measure_print_section("weft, special cases");
	print_moments();
	print_clock_in_memory();
	print_counter_clock();
	print_cpu();
}

/* ---- With contexts that other processes read ---- */

static const struct subject shown[] = {
	{"switch", do_switch},
	{"begin and end of a span with a context", do_context},
	{"the same in a task", do_context_in_task},
};

/* It cannot be taken back, so it is last. */
static void print_shown(void)
{
	if (!weft_context_publish("bench"))
		return;
	measure_print_section("weft, enabled, after weft_context_publish()");
	print_list(shown, COUNT(shown));
}

int main(void)
{
	buffer = aligned_alloc(4096, BUFFER_BYTES);
	if (!buffer)
		return 1;
	memset(buffer, 1, BUFFER_BYTES); /* touch every page */
	measure_print_heading();
	measure_print_floors();
	print_bounds();
	measure_print_section("weft, enabled");
	print_list(events, COUNT(events));
	print_disabled();
	print_counters();
	print_ffi();
	print_special();
	print_shown();
	free(buffer);
	return 0;
}
