/* SPDX-License-Identifier: ISC
 *
 * Searches: the matches, their fields and their order. Expressions themselves are tested in
 * tests/e2e/pattern.py.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <weft/search.h>

#include "loaded.h"

static struct weft_search *search(const struct loaded *loaded, const char *text, bool is_expression)
{
	struct weft_search *search;
	assert_int_equal(
		weft_search_create(loaded->model, text, strlen(text), is_expression, NULL, &search), 0);
	return search;
}

static uint64_t count_in_field(const struct weft_search *search, enum weft_search_field field)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < search->match_count; i++)
		count += search->matches[i].field == field;
	return count;
}

static uint64_t id_of(const struct loaded *loaded, uint32_t task)
{
	return loaded->model->tasks.id[task];
}

/* Task 12 of kind bind, "Net.read"; task 7, "write 12"; a note, a counter, a failure. */
static struct loaded small_trace(void)
{
	struct made made = make_begin();
	made.time = 10;
	make_create(&made, 0, 12, WEFT_KIND_BIND);
	make_label(&made, 12, "Net.read");
	make_create(&made, 0, 7, WEFT_KIND_TASK);
	make_label(&made, 7, "write 12");
	made.time = 20;
	make(&made,
		(struct weft_event){.type = WEFT_EVENT_NOTE, .task = 7, .text = {"reads nothing", 13}});
	made.time = 30;
	make_counter(&made, 12, "read-bytes", 5, false);
	made.time = 40;
	make_counter(&made, 12, "read-bytes", 5, false);
	make_fail(&made, 0, 7, "bad READ");
	return make_end(&made);
}

/* The text of a mark with its fields is no string of the model. */
static void fields_of_marks_are_found(void **state)
{
	static char long_text[5000];
	memset(long_text, 'x', sizeof(long_text) - 3);
	memcpy(long_text + sizeof(long_text) - 3, "end", 3);
	const struct weft_field fields[] = {{{"bytes", 5}, WEFT_FIELD_I64, {.i64 = 4096}},
		{{"body", 4}, WEFT_FIELD_TEXT, {.text = {long_text, sizeof(long_text)}}}};
	static const struct {
		const char *text;
		uint32_t found;
	} cases[] = {{"sent bytes=40", 1}, {"sent", 2}, {"xend", 1}, {"bytes=5", 0}, {"end", 2}};
	struct made made = make_begin();
	(void)state;
	make_create(&made, 0, 1, WEFT_KIND_TASK);
	make(&made, (struct weft_event){.type = WEFT_EVENT_MARK, .task = 1, .text = {"sent", 4}});
	make(&made,
		(struct weft_event){.type = WEFT_EVENT_NOTE, .task = 1, .text = {"before the end", 14}});
	make(&made, (struct weft_event){.type = WEFT_EVENT_MARK,
					.task = 1,
					.text = {"sent", 4},
					.fields = fields,
					.field_count = 2});
	struct loaded loaded = make_end(&made);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_search *found = search(&loaded, cases[i].text, false);
		assert_int_equal(found->found, cases[i].found);
		assert_int_equal(count_in_field(found, WEFT_SEARCH_NOTE), cases[i].found);
		weft_search_destroy(found);
	}
	loaded_finish(&loaded);
}

static void each_match_has_a_place_and_a_time(void **state)
{
	struct loaded loaded = small_trace();
	(void)state;
	struct weft_search *found = search(&loaded, "read", false);
	static const struct {
		uint64_t time, id;
		enum weft_search_field field;
	} expected[] = {{10, 12, WEFT_SEARCH_LABEL}, {20, 7, WEFT_SEARCH_NOTE},
		{30, 12, WEFT_SEARCH_COUNTER}, {40, 7, WEFT_SEARCH_MESSAGE}};
	assert_int_equal(found->match_count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(found->matches[i].time, expected[i].time);
		assert_int_equal(id_of(&loaded, found->matches[i].task), expected[i].id);
		assert_int_equal(found->matches[i].field, expected[i].field);
	}
	assert_int_equal(found->task_count, 2);
	assert_int_equal(id_of(&loaded, found->tasks[0]) + id_of(&loaded, found->tasks[1]), 7 + 12);
	weft_search_destroy(found);
	loaded_finish(&loaded);
}

static void a_capital_asks_for_capitals(void **state)
{
	struct loaded loaded = small_trace();
	(void)state;
	struct weft_search *capital = search(&loaded, "READ", false);
	struct weft_search *expression = search(&loaded, "^bad\\WR", true);
	struct weft_search *within = search(&loaded, "^rEAD", true);
	struct weft_search *escaped = search(&loaded, "^\\Wa|^bad\\Wr", true);
	assert_int_equal(within->match_count, 0);
	assert_int_equal(escaped->match_count, 1);
	weft_search_destroy(within);
	weft_search_destroy(escaped);
	assert_int_equal(capital->match_count, 1);
	assert_int_equal(capital->matches[0].field, WEFT_SEARCH_MESSAGE);
	assert_int_equal(expression->match_count, 1);
	weft_search_destroy(capital);
	weft_search_destroy(expression);
	loaded_finish(&loaded);
}

static void fields_have_names(void **state)
{
	(void)state;
	for (int field = 0; field < WEFT_SEARCH_FIELDS; field++)
		assert_string_not_equal(weft_search_field_name((enum weft_search_field)field), "unknown");
	assert_string_equal(weft_search_field_name(WEFT_SEARCH_FIELDS), "unknown");
	assert_string_equal(weft_search_field_name(WEFT_SEARCH_COUNTER), "counter");
}

static void a_number_is_an_id_and_a_text(void **state)
{
	struct loaded loaded = small_trace();
	(void)state;
	struct weft_search *number = search(&loaded, "12", false), *id = search(&loaded, "#12", false);
	struct weft_search *unknown = search(&loaded, "#99999999999999999999999", false);
	assert_int_equal(number->match_count, 2);
	assert_int_equal(count_in_field(number, WEFT_SEARCH_ID), 1);
	assert_int_equal(count_in_field(number, WEFT_SEARCH_LABEL), 1);
	assert_int_equal(id->match_count, 1);
	assert_int_equal(id_of(&loaded, id->matches[0].task), 12);
	assert_int_equal(unknown->match_count, 0);
	weft_search_destroy(number);
	weft_search_destroy(id);
	weft_search_destroy(unknown);
	loaded_finish(&loaded);
}

static void kinds_are_found(void **state)
{
	struct loaded loaded = small_trace();
	(void)state;
	struct weft_search *found = search(&loaded, "^bi.d$", true);
	assert_int_equal(found->match_count, 1);
	assert_int_equal(found->matches[0].field, WEFT_SEARCH_KIND);
	assert_int_equal(id_of(&loaded, found->matches[0].task), 12);
	weft_search_destroy(found);
	loaded_finish(&loaded);
}

/* At its end; other outcomes have no name to search for. */
static void stopped_tasks_are_found(void **state)
{
	static const struct {
		enum weft_event_type event;
		const char *text;
	} ends[] = {{WEFT_EVENT_CANCEL, "cancelled"}, {WEFT_EVENT_CLOSE, "closed"},
		{WEFT_EVENT_TIME_OUT, "timed out"}};
	(void)state;
	struct made made = make_begin();
	for (uint64_t i = 0; i < 3; i++) {
		make_create(&made, 0, 10 + i, WEFT_KIND_TASK);
		made.time = 20 + i;
		make_edge(&made, ends[i].event, 0, 10 + i);
	}
	make_create(&made, 0, 20, WEFT_KIND_TASK);
	make_edge(&made, WEFT_EVENT_RESOLVE, 0, 20);
	struct loaded loaded = make_end(&made);
	for (uint32_t i = 0; i < 3; i++) {
		struct weft_search *found = search(&loaded, ends[i].text, false);
		assert_int_equal(found->match_count, 1);
		assert_int_equal(found->matches[0].field, WEFT_SEARCH_OUTCOME);
		assert_int_equal(found->matches[0].time, 20 + i);
		assert_int_equal(id_of(&loaded, found->matches[0].task), 10 + i);
		weft_search_destroy(found);
	}
	struct weft_search *none = search(&loaded, "fulfilled", false);
	assert_int_equal(none->match_count, 0);
	weft_search_destroy(none);
	loaded_finish(&loaded);
}

static void one_of_several_processes_is_found_at_its_first_task(void **state)
{
	static const struct weft_trace_buffer buffers[] = {
		{.process = "client", .host = "", .file = "", .pid = 12},
		{.process = "redis", .host = "", .file = "", .pid = 4711},
	};
	(void)state;
	for (uint32_t count = 1; count <= 2; count++) {
		struct made made = make_begin();
		made.buffers = buffers;
		made.buffer_count = count;
		for (uint32_t i = 0; i < 4; i++) {
			made.time += 10;
			made.buffer = i % count;
			make_create(&made, WEFT_TASK_NONE, 100 + i, WEFT_KIND_TASK);
		}
		struct loaded loaded = make_end(&made);
		struct weft_search *name = search(&loaded, "^redis 47", true);
		struct weft_search *number = search(&loaded, "12", false);
		assert_int_equal(name->match_count, count - 1);
		assert_int_equal(number->match_count, count - 1);
		if (count == 2) {
			const struct weft_search_match *match = &name->matches[0];
			assert_int_equal(match->field, WEFT_SEARCH_PROCESS);
			assert_int_equal(match->item, 1);
			assert_int_equal(loaded.model->tasks.buffer[match->task], 1);
			assert_int_equal(match->time, 20);
			assert_int_equal(name->task_count, 1);
		}
		weft_search_destroy(name);
		weft_search_destroy(number);
		loaded_finish(&loaded);
	}
}

static void nothing_is_found_nowhere(void **state)
{
	struct loaded loaded = small_trace();
	(void)state;
	struct weft_search *empty = search(&loaded, "", false),
					   *absent = search(&loaded, "xyzzy", false);
	assert_int_equal(empty->found, 0);
	assert_int_equal(absent->found, 0);
	assert_int_equal(weft_search_after(absent, 0), WEFT_NONE);
	assert_int_equal(weft_search_before(absent, UINT64_MAX), WEFT_NONE);
	weft_search_destroy(empty);
	weft_search_destroy(absent);
	loaded_finish(&loaded);
}

static void a_bad_expression_is_an_error(void **state)
{
	struct loaded loaded = small_trace();
	struct weft_search_error error;
	struct weft_search *found = NULL;
	(void)state;
	assert_int_equal(
		weft_search_create(loaded.model, "ab(c", 4, true, &error, &found), WEFT_ERROR_ARGUMENT);
	assert_int_equal(error.offset, 2);
	assert_string_equal(error.message, ") is missing");
	assert_int_equal(
		weft_search_create(loaded.model, "ab(c", 4, true, NULL, &found), WEFT_ERROR_ARGUMENT);
	assert_null(found);
	loaded_finish(&loaded);
}

static void one_goes_on_and_back(void **state)
{
	struct loaded loaded = small_trace();
	(void)state;
	struct weft_search *found = search(&loaded, "read", false);
	assert_int_equal(weft_search_after(found, 0), 0);
	assert_int_equal(weft_search_after(found, 10), 1);
	assert_int_equal(weft_search_after(found, 40), WEFT_NONE);
	assert_int_equal(weft_search_before(found, 40), 2);
	assert_int_equal(weft_search_before(found, 10), WEFT_NONE);
	weft_search_destroy(found);
	loaded_finish(&loaded);
}

static void the_sample_is_found_as_grep_finds_it(void **state)
{
	struct loaded loaded = load_sample("mirage-arp-good.ctf");
	(void)state;
	struct weft_search *found = search(&loaded, "arp", false);
	/* weft dump --json FILE | grep -ic '"label".*arp' */
	assert_int_equal(found->found, 3);
	weft_search_destroy(found);
	loaded_finish(&loaded);
}

static bool contains(struct weft_slice text, const char *part)
{
	size_t size = strlen(part);
	for (size_t at = 0; at + size <= text.size; at++)
		if (memcmp(text.bytes + at, part, size) == 0)
			return true;
	return false;
}

static void random_traces_are_searched_as_a_naive_loop_would(void **state)
{
	uint64_t seed = 11, sum = 0;
	(void)state;
	for (int round = 0; round < 50; round++) {
		struct made made = make_begin();
		for (uint32_t i = 0; i < 500; i++) {
			char text[8] = "";
			for (int k = 0; k < 6; k++) {
				seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
				text[k] = "abc"[(seed >> 33) % 3];
			}
			made.time += seed >> 40 & 1 ? 10 : 0; /* many have one time, and tasks many names */
			make_label(&made, i % 50, text);
		}
		struct loaded loaded = make_end(&made);
		struct weft_search *found = search(&loaded, "abca", false);
		uint64_t expected = 0, last = 0;
		for (uint32_t i = 0; i < loaded.model->notes.count; i++)
			expected +=
				contains(weft_model_string(loaded.model, loaded.model->notes.text[i]), "abca");
		assert_int_equal(found->found, expected);
		assert_int_equal(found->match_count, expected);
		for (uint32_t i = 0; i < found->match_count; i++) {
			assert_true(found->matches[i].time >= last);
			last = found->matches[i].time;
			assert_true(contains(
				weft_model_string(loaded.model, loaded.model->notes.text[found->matches[i].item]),
				"abca"));
		}
		sum += expected;
		weft_search_destroy(found);
		loaded_finish(&loaded);
	}
	assert_true(sum > 100);
}

static void too_many_matches_are_counted_and_the_earliest_listed(void **state)
{
	enum {
		TASKS = 3,
		COUNT = WEFT_SEARCH_MATCHES_MAX + 50000
	};
	struct made made = make_begin();
	(void)state;
	for (uint32_t i = 0; i < COUNT; i++) {
		made.time += 5;
		make_label(&made, i % TASKS, "same");
	}
	uint64_t end = made.time;
	struct loaded loaded = make_end(&made);
	struct weft_search *found = search(&loaded, "same", false);
	assert_int_equal(found->found, COUNT);
	assert_int_equal(found->match_count, WEFT_SEARCH_MATCHES_MAX);
	assert_int_equal(found->matches[0].time, 5);
	/* The last bucket of time that has room is not in order within: no more is missing than it. */
	assert_true(found->matches[WEFT_SEARCH_MATCHES_MAX - 1].time <
				(uint64_t)WEFT_SEARCH_MATCHES_MAX * 5 + end / 1024);
	for (uint32_t i = 1; i < WEFT_SEARCH_MATCHES_MAX - 2000; i++)
		assert_int_equal(found->matches[i].time, (i + (uint64_t)1) * 5);
	assert_int_equal(found->task_count, TASKS);
	weft_search_destroy(found);
	loaded_finish(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_marks_are_found),
		cmocka_unit_test(each_match_has_a_place_and_a_time),
		cmocka_unit_test(a_capital_asks_for_capitals),
		cmocka_unit_test(fields_have_names),
		cmocka_unit_test(a_number_is_an_id_and_a_text),
		cmocka_unit_test(kinds_are_found),
		cmocka_unit_test(stopped_tasks_are_found),
		cmocka_unit_test(one_of_several_processes_is_found_at_its_first_task),
		cmocka_unit_test(nothing_is_found_nowhere),
		cmocka_unit_test(a_bad_expression_is_an_error),
		cmocka_unit_test(one_goes_on_and_back),
		cmocka_unit_test(the_sample_is_found_as_grep_finds_it),
		cmocka_unit_test(random_traces_are_searched_as_a_naive_loop_would),
		cmocka_unit_test(too_many_matches_are_counted_and_the_earliest_listed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
