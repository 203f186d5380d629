/* SPDX-License-Identifier: ISC
 *
 * weft_ffi.h records what weft.h records, bounds its texts, and obeys levels.
 */
#include "record_trace.h"

#include <sys/mman.h>
#include <unistd.h>

#include <weft/error.h>
#include <weft/weft_ffi.h>

#define BUFFER_BYTES ((size_t)256 << 10)
#define TEXT(text)   text, sizeof(text) - 1

static struct weft_category *own;
static uint64_t caches[9]; /* of texts that are stored once */

static int start(void **state)
{
	*state = trace_buffer(BUFFER_BYTES);
	return weft_ffi_start(*state, BUFFER_BYTES);
}

static int finish(void **state)
{
	weft_ffi_stop();
	free(*state);
	return 0;
}

static void read_back(struct trace *t, void **state)
{
	weft_ffi_stop();
	trace_open(t, *state, BUFFER_BYTES);
}

/* ---- The same calls by both headers ---- */

static void call_tasks(uint64_t as)
{
	uint64_t child = weft_create_as(as, WEFT_KIND_BIND);
	weft_wait_any_as(as, 2, (const uint64_t[]){child, 5});
	weft_fail_as(as, child, "no luck");
#define WEFT__EDGE(name, other, event, small, runs, text) weft_##name##_as(as, child);
#define WEFT__MESSAGE(name, event, text)                  weft_##name##_as(as, 9);
#define WEFT__STATEMENT(name, event, text)                weft_##name##_as(as);
#include <weft/calls.def>
	weft_switch(child);
}

static void call_tasks_ffi(uint64_t as)
{
	uint64_t child = weft_ffi_create(own, 0, as, WEFT_KIND_BIND);
	weft_ffi_wait_any(own, 0, as, (const uint64_t[]){child, 5}, 2);
	weft_ffi_fail(own, 0, as, child, TEXT("no luck"));
#define WEFT__EDGE(name, other, event, small, runs, text) weft_ffi_##name(own, 0, as, child);
#define WEFT__MESSAGE(name, event, text)                  weft_ffi_##name(own, 0, as, 9);
#define WEFT__STATEMENT(name, event, text)                weft_ffi_##name(own, 0, as);
#include <weft/calls.def>
	weft_ffi_switch(child);
}

static void call_operations(uint64_t as)
{
	weft_operation_end(weft_operation_begin_as(as, "one"), as);
	weft_operation_cancel(weft_operation_begin_as(as, "two"), WEFT_TASK_NONE);
	weft_operation_fail(weft_operation_begin_as(as, "three"), as, "no luck");
}

static void call_operations_ffi(uint64_t as)
{
	uint64_t cache = 0;
	weft_ffi_operation_end(own, 0, weft_ffi_operation_begin(own, 0, as, TEXT("one"), &cache), as);
	weft_ffi_operation_cancel(
		own, 0, weft_ffi_operation_begin(own, 0, as, TEXT("two"), NULL), WEFT_TASK_NONE);
	weft_ffi_operation_fail(
		own, 0, weft_ffi_operation_begin(own, 0, as, TEXT("three"), NULL), as, TEXT("no luck"));
}

static void call_texts(uint64_t as)
{
	weft_label_as(as, "label");
	weft_note_as(as, "note");
	weft_begin_as(as, "span");
	weft_end_as(as);
	weft_tag_as(as, "tag");
	weft_tag_value_as(as, "valued", -5);
	weft_notef_as(as, "%d of %s", 3, "five");
	weft_labelf_as(as, "%d of %s", 3, "five");
	weft_mark_as(as, "mark", "n", 7, "u", (uint64_t)UINT64_MAX, "f", 0.5, "s", "text");
	weft_mark_as(as, "empty");
	weft_counter_add_as(as, "counter", -1);
	weft_counter_set_as(as, "counter", 9);
	weft_counter_add_as(as, "counter", -0.5);
	weft_counter_set_as(as, "counter", 9.25);
}

/* `caches`: NULL, or one for each text. */
static void call_texts_ffi(uint64_t as, uint64_t *c)
{
	const struct weft_value format_values[] = {
		{WEFT_VALUE_I64, 0, {.i64 = 3}}, {WEFT_VALUE_TEXT, 4, {.text = "five and more"}}};
	const struct weft_value mark_values[] = {
		{WEFT_VALUE_I64, 0, {.i64 = 7}},
		{WEFT_VALUE_U64, 0, {.u64 = UINT64_MAX}},
		{WEFT_VALUE_F64, 0, {.f64 = 0.5}},
		{WEFT_VALUE_TEXT, 4, {.text = "text"}},
	};
	weft_ffi_label(own, 0, as, TEXT("label"), c ? &c[0] : NULL);
	weft_ffi_note(own, 0, as, TEXT("note"), c ? &c[1] : NULL);
	if (weft_ffi_begin(own, 0, as, TEXT("span"), c ? &c[8] : NULL))
		weft_ffi_end(as);
	weft_ffi_tag(own, 0, as, TEXT("tag"), c ? &c[2] : NULL);
	weft_ffi_tag_value(own, 0, as, TEXT("valued"), c ? &c[3] : NULL, -5);
	weft_ffi_notef(own, 0, as, TEXT("%d of %s"), c ? &c[4] : NULL, 2, format_values);
	weft_ffi_labelf(own, 0, as, TEXT("%d of %s"), c ? &c[4] : NULL, 2, format_values);
	weft_ffi_mark(own, 0, as, TEXT("mark\0n\0u\0f\0s"), c ? &c[5] : NULL, 4, mark_values);
	weft_ffi_mark(own, 0, as, TEXT("empty"), c ? &c[6] : NULL, 0, NULL);
	weft_ffi_counter_add(own, 0, as, TEXT("counter"), c ? &c[7] : NULL, -1);
	weft_ffi_counter_set(own, 0, as, TEXT("counter"), c ? &c[7] : NULL, 9);
	weft_ffi_counter_add_f64(own, 0, as, TEXT("counter"), c ? &c[7] : NULL, -0.5);
	weft_ffi_counter_set_f64(own, 0, as, TEXT("counter"), c ? &c[7] : NULL, 9.25);
}

static void call_thread(void)
{
	weft_moment_begin();
	weft_band_begin(WEFT_BAND_IDLE, "poll");
	weft_band_end(WEFT_BAND_IDLE, "poll");
	weft_gc(1000);
	weft_off_cpu(2000);
	weft_moment_end();
	weft_enter(5);
	weft_leave();
	weft_snapshot_request("now");
	weft_trigger("waits > 1s");
	weft_rundown_task(3, WEFT_KIND_TASK, "alive", 77, 4);
	weft_rundown_task(4, WEFT_KIND_TASK, NULL, WEFT_AGE_UNKNOWN, WEFT_TASK_NONE);
}

static void call_thread_ffi(void)
{
	uint64_t cache = 0;
	weft_ffi_moment_begin();
	weft_ffi_band_begin(WEFT_BAND_IDLE, TEXT("poll"), &cache);
	weft_ffi_band_end(WEFT_BAND_IDLE, TEXT("poll"), NULL);
	weft_ffi_gc(1000);
	weft_ffi_off_cpu(2000);
	weft_ffi_moment_end();
	weft_ffi_enter(5);
	weft_ffi_leave();
	weft_ffi_snapshot_request(TEXT("now"));
	weft_ffi_trigger(TEXT("waits > 1s"));
	weft_ffi_rundown_task(3, WEFT_KIND_TASK, TEXT("alive"), 77, 4);
	weft_ffi_rundown_task(4, WEFT_KIND_TASK, NULL, 0, WEFT_AGE_UNKNOWN, WEFT_TASK_NONE);
}

static bool is_same_text(struct weft_slice a, struct weft_slice b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

static void assert_same_fields(const struct weft_event *a, const struct weft_event *b)
{
	assert_int_equal(a->field_count, b->field_count);
	for (unsigned i = 0; i < a->field_count; i++) {
		assert_true(is_same_text(a->fields[i].name, b->fields[i].name));
		assert_int_equal(a->fields[i].type, b->fields[i].type);
		if (a->fields[i].type == WEFT_FIELD_TEXT)
			assert_true(is_same_text(a->fields[i].value.text, b->fields[i].value.text));
		else
			assert_int_equal(a->fields[i].value.u64, b->fields[i].value.u64);
	}
}

/* Ids never repeat in a process: in two traces, they are the same if counted from the first. */
static uint64_t counted(uint64_t id, uint64_t first)
{
	return id >= first && id < WEFT_TASK_CURRENT ? id - first : id;
}

static void assert_same_event(
	const struct weft_event *a, uint64_t first_a, const struct weft_event *b, uint64_t first_b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(counted(a->task, first_a), counted(b->task, first_b));
	assert_int_equal(counted(a->other, first_a), counted(b->other, first_b));
	assert_int_equal(a->value, b->value);
	if (!a->kind_name.size) /* otherwise the number depends on the table of names */
		assert_int_equal(a->kind, b->kind);
	assert_true(is_same_text(a->kind_name, b->kind_name));
	assert_true(is_same_text(a->text, b->text));
	assert_same_fields(a, b);
}

static void call_all(void)
{
	uint64_t first = weft_create(WEFT_KIND_TASK);
	weft_switch(first);
	call_tasks(WEFT_TASK_CURRENT);
	call_tasks(first);
	call_operations(WEFT_TASK_CURRENT);
	call_operations(first);
	weft_create(weft_kind("job"));
	call_texts(WEFT_TASK_CURRENT);
	call_texts(first);
	call_texts(WEFT_TASK_CURRENT);
	call_thread();
}

static void call_all_ffi(void)
{
	uint64_t first = weft_ffi_create(NULL, 0, WEFT_TASK_CURRENT, WEFT_KIND_TASK);
	weft_ffi_switch(first);
	call_tasks_ffi(WEFT_TASK_CURRENT);
	call_tasks_ffi(first);
	call_operations_ffi(WEFT_TASK_CURRENT);
	call_operations_ffi(first);
	weft_ffi_create(own, 0, WEFT_TASK_CURRENT, weft_ffi_kind("jobs", 3, NULL));
	call_texts_ffi(WEFT_TASK_CURRENT, caches);
	call_texts_ffi(first, caches);
	call_texts_ffi(WEFT_TASK_CURRENT, NULL);
	call_thread_ffi();
}

static void both_headers_record_the_same(void **state)
{
	void *other = trace_buffer(BUFFER_BYTES);
	struct trace by_macros, by_ffi;
	call_all();
	read_back(&by_macros, state);
	assert_int_equal(weft_ffi_start(other, BUFFER_BYTES), 0);
	call_all_ffi();
	weft_ffi_stop();
	trace_open(&by_ffi, other, BUFFER_BYTES);
	unsigned count = 0;
	uint64_t first_a = 0, first_b = 0;
	while (trace_next(&by_macros)) {
		assert_true(trace_next(&by_ffi));
		first_a = count ? first_a : by_macros.event.other;
		first_b = count ? first_b : by_ffi.event.other;
		assert_same_event(&by_macros.event, first_a, &by_ffi.event, first_b);
		count++;
	}
	assert_true(count > 50);
	trace_close(&by_ffi);
	weft_decoder_destroy(by_macros.decoder);
	free(other);
}

static void a_thread_gets_a_name(void **state)
{
	struct trace t;
	weft_ffi_note(NULL, 0, 7, TEXT("first"), NULL);
	weft_ffi_thread_name("parser and more", 6);
	weft_ffi_note(NULL, 0, 7, TEXT("second"), NULL);
	read_back(&t, state);
	assert_true(trace_next(&t) && trace_next(&t));
	assert_string_equal(weft_decoder_describe(t.decoder)->threads[0].name, "parser");
	trace_close(&t);
}

static void a_moment_has_one_time(void **state)
{
	struct trace t;
	uint64_t before = weft_now(), now = weft_ffi_now();
	assert_in_range(now, before, weft_now());
	weft_ffi_moment_begin();
	weft_ffi_note(NULL, 0, 7, TEXT("first"), NULL);
	weft_ffi_note(NULL, 0, 7, TEXT("second"), NULL);
	weft_ffi_moment_end();
	weft_ffi_note(NULL, 0, 7, TEXT("later"), NULL);
	read_back(&t, state);
	uint64_t time = trace_expect(&t, WEFT_EVENT_NOTE, 7, 0)->time_ns;
	assert_int_equal(trace_expect(&t, WEFT_EVENT_NOTE, 7, 0)->time_ns, time);
	assert_true(trace_expect(&t, WEFT_EVENT_NOTE, 7, 0)->time_ns > time);
	trace_close(&t);
}

/* ---- Texts ---- */

static void texts_end_at_their_size_or_first_nul(void **state)
{
	struct trace t;
	uint64_t cache = 0;
	weft_ffi_label(NULL, 0, 7, "label and more", 5, NULL);
	weft_ffi_note(NULL, 0, 7, "a\0b", 3, NULL);
	weft_ffi_note(NULL, 0, 7, NULL, 3, NULL);
	weft_ffi_note(NULL, 0, 7, "", 0, NULL);
	weft_ffi_tag(NULL, 0, 7, "tagged", 3, &cache);
	weft_ffi_counter_add(NULL, 0, 7, "queue#1", 5, NULL, 1);
	weft_ffi_fail(NULL, 0, 7, 8, "why not", 3);
	weft_ffi_rundown_task(7, 0, "alive", 2, 0, WEFT_TASK_NONE);
	read_back(&t, state);
	static const char *const texts[] = {"label", "a", "", "", "tag", "queue", "why", "al"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_true(trace_next(&t));
		trace_text(t.event.text, texts[i]);
	}
	trace_close(&t);
}

static void long_texts_are_cut(void **state)
{
	struct trace t;
	char text[4000];
	memset(text, 'x', sizeof(text)); /* without a NUL */
	weft_ffi_note(NULL, 0, 7, text, sizeof(text), NULL);
	weft_ffi_counter_add(NULL, 0, 7, text, sizeof(text), NULL, 1);
	weft_ffi_counter_add(NULL, 0, 7, text, 1024, NULL, 1);
	weft_ffi_mark(NULL, 0, 7, text, sizeof(text), NULL, 0, NULL);
	read_back(&t, state);
	assert_true(trace_next(&t));
	assert_true(t.event.text.size > 2000 && t.event.text.size < 2040);
	assert_memory_equal(t.event.text.bytes + t.event.text.size - 3, "\xe2\x80\xa6", 3);
	assert_true(trace_next(&t));
	assert_int_equal(t.event.text.size, 1024);
	assert_int_equal(trace_loss(&t, WEFT_LOSS_TOO_BIG), 2);
	trace_close(&t);
}

/* ---- Levels and categories ---- */

static void a_category_is_found_again(void **state)
{
	(void)state;
	struct weft_category *net = weft_ffi_category(TEXT("net"), TEXT("connections"));
	assert_non_null(net);
	assert_ptr_equal(weft_ffi_category("net and more", 3, NULL, 0), net);
	assert_ptr_not_equal(weft_ffi_category(TEXT("ne"), NULL, 0), net);
	assert_true(weft_ffi_is_enabled(net, WEFT_LEVEL_INFO));
	assert_true(weft_ffi_is_enabled(net, 0));
	assert_false(weft_ffi_is_enabled(net, WEFT_LEVEL_DEBUG));
	assert_int_equal(weft_ffi_set_level("net=", 3, WEFT_LEVEL_DEBUG), 0);
	assert_true(weft_ffi_is_enabled(net, WEFT_LEVEL_DEBUG));
	assert_false(weft_ffi_is_enabled(NULL, WEFT_LEVEL_DEBUG));
}

static void a_pattern_has_a_limit(void **state)
{
	(void)state;
	char pattern[300];
	memset(pattern, 'p', sizeof(pattern));
	assert_int_equal(
		weft_ffi_set_level(pattern, sizeof(pattern), WEFT_LEVEL_DEBUG), WEFT_ERROR_ARGUMENT);
	assert_int_equal(weft_ffi_set_level(NULL, 0, WEFT_LEVEL_DEBUG), WEFT_ERROR_ARGUMENT);
}

/* `size` is the most that is read of a text: a NUL ends it before. Only the names of a mark have
 * NULs in between. */
static void nothing_is_read_after_a_nul(void **state)
{
	static const size_t sizes[] = {1, 2, 8, 255, 256, 4096, UINT32_MAX, SIZE_MAX};
	static uint64_t names[4];
	(void)state;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	const char *text = strcpy(pages + page - 2, "a");
	const struct weft_value value = {.type = WEFT_VALUE_TEXT, .size = UINT32_MAX, .is.text = text};
	uint64_t task = weft_ffi_create(NULL, 0, WEFT_TASK_CURRENT, WEFT_KIND_TASK);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t size = sizes[i];
		assert_int_equal(weft_ffi_set_level(text, size, WEFT_LEVEL_DEBUG), 0);
		assert_non_null(weft_ffi_category(text, size, text, size));
		weft_ffi_kind(text, size, &names[0]);
		weft_ffi_label(NULL, 0, task, text, size, &names[1]);
		weft_ffi_label(NULL, 0, task, text, size, NULL);
		weft_ffi_note(NULL, 0, task, text, size, NULL);
		weft_ffi_begin(NULL, 0, task, text, size, &names[2]);
		weft_ffi_end(task);
		weft_ffi_tag(NULL, 0, task, text, size, NULL);
		weft_ffi_tag_value(NULL, 0, task, text, size, NULL, 1);
		weft_ffi_labelf(NULL, 0, task, text, size, &names[3], 1, &value);
		weft_ffi_notef(NULL, 0, task, text, size, NULL, 1, &value);
		weft_ffi_counter_add(NULL, 0, task, text, size, NULL, 1);
		weft_ffi_counter_set_f64(NULL, 0, task, text, size, NULL, 1);
		weft_ffi_fail(NULL, 0, task, task, text, size);
		weft_ffi_operation_begin(NULL, 0, task, text, size, NULL);
		weft_ffi_operation_fail(NULL, 0, task, task, text, size);
		weft_ffi_thread_name(text, size);
		weft_ffi_band_begin(WEFT_BAND_GC, text, size, NULL);
		weft_ffi_band_end(WEFT_BAND_GC, text, size, NULL);
		weft_ffi_snapshot_request(text, size);
		weft_ffi_trigger(text, size);
		weft_ffi_rundown_task(task, WEFT_KIND_TASK, text, size, 0, 0);
	}
	munmap(pages, 2 * page);
}

static void filtered_calls_still_switch(void **state)
{
	struct trace t;
	struct weft_category *off = weft_ffi_category(TEXT("off"), NULL, 0);
	assert_int_equal(weft_ffi_set_level(TEXT("off"), WEFT_LEVEL_OFF), 0);
	uint64_t task = weft_ffi_create(off, 0, WEFT_TASK_CURRENT, WEFT_KIND_TASK);
	assert_true(task > 0 && task != weft_ffi_create(off, 0, task, WEFT_KIND_TASK));
	weft_ffi_signal(off, 0, WEFT_TASK_CURRENT, task);
	assert_int_equal(weft_ffi_current(), task);
	weft_ffi_read(off, 0, 5, task);
	assert_int_equal(weft_ffi_current(), 5);
	weft_ffi_read(off, 0, WEFT_TASK_CURRENT, task);
	weft_ffi_resolve(off, 0, 6, task);
	weft_ffi_note(off, 0, 6, TEXT("note"), NULL);
	weft_ffi_fail(off, 0, 6, task, TEXT("why"));
	read_back(&t, state);
	trace_expect(&t, WEFT_EVENT_SWITCH, task, 0);
	trace_expect(&t, WEFT_EVENT_SWITCH, 5, 0);
	trace_close(&t);
}

static void a_category_that_is_off_records_only_switches(void **state)
{
	struct trace t;
	unsigned count = 0;
	assert_int_equal(weft_ffi_set_level(TEXT("own"), WEFT_LEVEL_OFF), 0);
	call_tasks_ffi(7);
	call_operations_ffi(7);
	call_texts_ffi(7, NULL);
	assert_int_equal(weft_ffi_set_level(TEXT("own"), WEFT_LEVEL_INFO), 0);
	read_back(&t, state);
	for (; trace_next(&t); count++)
		assert_int_equal(t.event.type, WEFT_EVENT_SWITCH);
	assert_in_range(count, 1, 10);
	trace_close(&t);
}

/* Calls each function as task 5 while task 4 runs, and lists the task that runs afterwards. */
static size_t list_current(struct weft_category *category, uint64_t *list)
{
	size_t count = 0;
	uint64_t begun;
#define AFTER(call) (weft_ffi_switch(4), call, list[count++] = weft_ffi_current())
	AFTER(weft_ffi_create(category, 0, 5, WEFT_KIND_BIND));
#define WEFT__EDGE(name, other, event, small, runs, text) AFTER(weft_ffi_##name(category, 0, 5, 6));
#define WEFT__MESSAGE(name, event, text)                  AFTER(weft_ffi_##name(category, 0, 5, 9));
#define WEFT__STATEMENT(name, event, text)                AFTER(weft_ffi_##name(category, 0, 5));
#include <weft/calls.def>
	AFTER(weft_ffi_wait_any(category, 0, 5, (const uint64_t[]){6, 7}, 2));
	AFTER(weft_ffi_fail(category, 0, 5, 11, TEXT("no luck")));
	AFTER(begun = weft_ffi_operation_begin(category, 0, 5, TEXT("one"), NULL));
	AFTER(weft_ffi_operation_end(category, 0, begun, 5));
	AFTER(begun = weft_ffi_operation_begin(category, 0, 5, TEXT("two"), NULL));
	AFTER(weft_ffi_operation_cancel(category, 0, begun, 5));
	AFTER(begun = weft_ffi_operation_begin(category, 0, 5, TEXT("three"), NULL));
	AFTER(weft_ffi_operation_fail(category, 0, begun, 5, TEXT("no luck")));
	AFTER(begun = weft_ffi_operation_begin(category, 0, 5, TEXT("four"), NULL));
	AFTER(weft_ffi_operation_cancel(category, 0, begun, WEFT_TASK_NONE));
#undef AFTER
	return count;
}

/* A level leaves out events, but not what runs. */
static void levels_do_not_change_what_runs(void **state)
{
	uint64_t with[40], without[40];
	(void)state;
	size_t count = list_current(own, with);
	assert_int_equal(weft_ffi_set_level(TEXT("own"), WEFT_LEVEL_OFF), 0);
	assert_int_equal(list_current(own, without), count);
	assert_int_equal(weft_ffi_set_level(TEXT("own"), WEFT_LEVEL_INFO), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(with[i], without[i]);
}

/* 40 ns of a foreign clock before it was set to 1000 are 40 ns of the trace before that. */
static void foreign_clocks_are_set(void **state)
{
	struct trace t;
	weft_ffi_clock_sync(WEFT_CLOCK_FOREIGN + 3, 1000);
	weft_ffi_note(NULL, 0, 7, TEXT("after"), NULL);
	weft_span("disk", WEFT_CLOCK_FOREIGN + 3, "seek", 900, 1000 - 40);
	read_back(&t, state);
	uint64_t set_by_ns = trace_expect(&t, WEFT_EVENT_NOTE, 7, 0)->time_ns;
	assert_true(trace_next(&t));
	assert_int_equal(t.event.end_ns - t.event.begin_ns, 60);
	/* Without the call, the span would end at its own event. */
	assert_true(t.event.end_ns + 40 <= set_by_ns);
	trace_close(&t);
}

static void failures_are_errors(void **state)
{
	struct trace t;
	assert_int_equal(weft_ffi_set_level(TEXT("program"), WEFT_LEVEL_ERROR), 0);
	weft_ffi_resolve(NULL, 0, 6, 7);
	weft_ffi_fail(NULL, 0, 6, 8, TEXT("why"));
	weft_ffi_resolve(NULL, WEFT_LEVEL_ERROR, 6, 9);
	read_back(&t, state);
	trace_expect(&t, WEFT_EVENT_FAIL, 6, 8);
	trace_expect(&t, WEFT_EVENT_RESOLVE, 6, 9);
	trace_close(&t);
}

/* Runs last: it takes the whole table. */
static void categories_without_number_belong_to_the_program(void **state)
{
	(void)state;
	char name[8];
	struct weft_category *last = own;
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		last = weft_ffi_category(name, strlen(name), NULL, 0);
	}
	assert_null(last);
	assert_non_null(weft_ffi_category(TEXT("c0"), NULL, 0));
	assert_true(weft_ffi_is_enabled(last, WEFT_LEVEL_ERROR));
}

static void calls_before_the_start_do_nothing(void **state)
{
	(void)state;
	uint32_t seen = 0;
	own = weft_ffi_category(TEXT("own"), TEXT("of this test"));
	assert_false(weft_ffi_is_recording());
	assert_int_equal(weft_ffi_now(), 0);
	assert_false(weft_ffi_is_enabled(own, WEFT_LEVEL_ERROR));
	assert_false(weft_ffi_rundown_wanted(&seen));
	assert_int_equal(weft_ffi_current(), WEFT_TASK_NONE);
	uint64_t task = weft_ffi_create(own, 0, WEFT_TASK_CURRENT, 0);
	assert_true(task > 0 && weft_ffi_create(own, 0, task, 0) != task);
	call_tasks_ffi(task);
	call_texts_ffi(WEFT_TASK_CURRENT, caches);
	call_thread_ffi();
	weft_ffi_thread_name(TEXT("parser"));
}

int main(void)
{
#define RECORDED(test) cmocka_unit_test_setup_teardown(test, start, finish)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_before_the_start_do_nothing),
		RECORDED(both_headers_record_the_same),
		RECORDED(a_thread_gets_a_name),
		RECORDED(a_moment_has_one_time),
		RECORDED(texts_end_at_their_size_or_first_nul),
		RECORDED(long_texts_are_cut),
		RECORDED(a_category_is_found_again),
		RECORDED(a_pattern_has_a_limit),
		RECORDED(nothing_is_read_after_a_nul),
		RECORDED(filtered_calls_still_switch),
		RECORDED(a_category_that_is_off_records_only_switches),
		RECORDED(levels_do_not_change_what_runs),
		RECORDED(foreign_clocks_are_set),
		RECORDED(failures_are_errors),
		RECORDED(categories_without_number_belong_to_the_program),
	};
	return cmocka_run_group_tests_name("ffi", tests, NULL, NULL);
}
