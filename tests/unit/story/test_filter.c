/* SPDX-License-Identifier: ISC
 *
 * Filters, applied to each task of a sample; added words are read back unchanged.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <weft/filter.h>

#include "loaded.h"

#define BLOCK_READ "mirage-block-read.sexp"

static bool label_has(const struct weft_model *model, uint32_t task, const char *part, bool exactly)
{
	struct weft_slice label = weft_model_string(model, model->tasks.label[task]);
	size_t size = strlen(part);
	for (size_t at = 0; at + size <= label.size; at++) {
		size_t i = 0;
		while (i < size && (exactly ? label.bytes[at + i] == part[i]
									: tolower((unsigned char)label.bytes[at + i]) == part[i]))
			i++;
		if (i == size)
			return true;
	}
	return false;
}

static void words_show_and_hide(void **state)
{
	(void)state;
	struct weft_model *model = sample_model(BLOCK_READ);
	static const char *const filters[] = {
		"blk", " -blk ,", "kind:bind", "xen, -kind:bind", "Xen", ""};
	unsigned shown[6] = {0}, expected[6] = {0};
	for (unsigned c = 0; c < 6; c++) {
		uint8_t *hidden;
		assert_int_equal(weft_filter_tasks(model, filters[c], &hidden), 0);
		for (uint32_t task = 0; task < model->tasks.count; task++) {
			bool bind = strcmp(weft_kind_name(model->tasks.kind[task])
								   ? weft_kind_name(model->tasks.kind[task])
								   : "",
							"bind") == 0;
			const bool wanted[] = {label_has(model, task, "blk", false),
				!label_has(model, task, "blk", false), bind,
				label_has(model, task, "xen", false) && !bind, label_has(model, task, "Xen", true),
				true};
			assert_int_equal(!hidden[task], wanted[c]);
			shown[c] += !hidden[task];
			expected[c] += wanted[c];
		}
		assert_int_equal(shown[c], expected[c]);
		assert_true(shown[c] > 0);
		free(hidden);
	}
	assert_true(shown[4] < shown[0] + shown[1]);
	weft_model_destroy(model);
}

/* The tasks that a filter shows, by their ids. */
static void expect_shown(const struct weft_model *model, const char *filter, const char *ids)
{
	char text[64] = "";
	uint8_t *hidden;
	assert_int_equal(weft_filter_tasks(model, filter, &hidden), 0);
	for (uint32_t task = 0; task < model->tasks.count; task++)
		if (!hidden[task])
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d", text[0] ? " " : "",
				(int)model->tasks.id[task]);
	assert_string_equal(text, ids);
	free(hidden);
}

/* A task belongs to the first thread that ran it. */
static void threads_and_processes_are_compared(void **state)
{
	static const struct weft_trace_buffer buffers[] = {
		{.process = "client", .host = "", .file = "", .pid = 10},
		{.process = "Server", .host = "", .file = "", .pid = 20}};
	struct made made = make_begin();
	(void)state;
	made.buffers = buffers;
	made.buffer_count = 2;
	make_create(&made, 0, 1, WEFT_KIND_TASK);
	make_create(&made, 0, 2, 999);
	make_switch(&made, 1);
	made.thread = 1;
	make_switch(&made, 2);
	made.time = 10;
	make_switch(&made, 1);
	made.buffer = 1;
	make_create(&made, 0, 3, WEFT_KIND_TASK);
	made.time = 20;
	struct weft_model *model = make_model(&made);
	expect_shown(model, "thread:main", "1");
	expect_shown(model, "thread:0", "2");
	expect_shown(model, "-thread:main", "0 2 0 3");
	expect_shown(model, "process:client", "0 1 2");
	expect_shown(model, "process:server", "0 3");
	expect_shown(model, "process:20", "0 3");
	expect_shown(model, "process:Client", "");
	expect_shown(model, "kind:999", "2");
	expect_shown(model, "kind:99", "");
	expect_shown(model, "kind:preexisting", "0 0");
	weft_model_destroy(model);
}

static void say(struct made *made, uint64_t task, const char *name, const struct weft_field *field)
{
	make(made,
		(struct weft_event){.type = WEFT_EVENT_MARK,
			.task = task,
			.text = {"sent", 4},
			.fields = (struct weft_field[]){{{name, strlen(name)}, field->type, field->value}},
			.field_count = 1});
}

/* Tasks 1 to 6 with n = -1, 5, 2^63 + 1, 0.5, "x y" and true; 7 has two tags; 8 a label. */
static struct weft_model *model_with_values(void)
{
	static const struct weft_field fields[] = {
		{{"", 0}, WEFT_FIELD_I64, {.i64 = -1}},
		{{"", 0}, WEFT_FIELD_I64, {.i64 = 5}},
		{{"", 0}, WEFT_FIELD_U64, {.u64 = (UINT64_C(1) << 63) + 1}},
		{{"", 0}, WEFT_FIELD_F64, {.f64 = 0.5}},
		{{"", 0}, WEFT_FIELD_TEXT, {.text = {"x y", 3}}},
		{{"", 0}, WEFT_FIELD_BOOL, {.u64 = 1}},
	};
	struct made made = make_begin();
	for (uint64_t task = 1; task <= 8; task++)
		make_create(&made, 0, task, WEFT_KIND_TASK);
	for (uint64_t task = 1; task <= 6; task++)
		say(&made, task, "n", &fields[task - 1]);
	for (int64_t bytes = 4096; bytes <= 8192; bytes += 4096)
		make(&made, (struct weft_event){.type = WEFT_EVENT_TAG,
						.task = 7,
						.text = {"bytes", 5},
						.value = bytes,
						.has_value = true});
	make_label(&made, 8, "fd=3, n>1");
	return make_model(&made);
}

static void values_are_compared(void **state)
{
	static const char *const cases[][2] = {{"n > 4", "2 3"}, {"n>=5", "2 3"}, {"n<5", "1 4 6"},
		{"n<=0.5", "1 4"}, {"n = 5", "2"}, {"n==5.0", "2"}, {"n=-1", "1"}, {"n != 5", "1 3 4 5 6"},
		{"n > 9223372036854775808", "3"}, {"n > 9223372036854775809", ""}, {"n=x y", "5"},
		{"n=true", "6"}, {"n=1", "6"}, {"n=false", ""}, {"n > x", ""}, {"n=1e3", ""},
		{"bytes=4K", "7"}, {"bytes < 5us", "7"}, {"bytes > 4096", "7"}, {"bytes > 8192", ""},
		{"-bytes=4096,-n=5", "0 1 3 4 5 6 8"}, {"n=5, bytes>1", "2 7"}, {"fd=3", "8"}, {"fd=4", ""},
		{"n\\>1", "8"}, {"n>", "8"}, {">1", "8"}, {"id > 6", "7 8"},
		{"kind=task", "1 2 3 4 5 6 7 8"}, {"kind!=task", "0"},
		{"resolved=false, id<3", "0 1 2 3 4 5 6 7 8"}, {"label=fd=3\\, n>1", "8"},
		{"failed != x", ""}, {"running > 5ms", ""}, {"kind:n=5", ""}, {"N=5", ""}};
	struct weft_model *model = model_with_values();
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_shown(model, cases[i][0], cases[i][1]);
	weft_model_destroy(model);
}

static void words_come_back_as_they_were_added(void **state)
{
	(void)state;
	static const char *const words[] = {
		"a", "b, c", "-d", " e ", "f\\", "\\,", "kind:bind", "thread:a b", "-", "\\", " g"};
	struct weft_text filter = {0};
	for (unsigned i = 0; i < 11; i++)
		assert_int_equal(weft_filter_add_word(&filter, words[i], i % 3 == 0), 0);
	weft_text_add(&filter, "", 1);
	const char *at = filter.bytes;
	char word[64];
	bool hides;
	for (unsigned i = 0; i < 11; i++) {
		at = weft_filter_next_word(at, word, sizeof(word), &hides);
		assert_non_null(at);
		assert_string_equal(word, words[i]);
		assert_int_equal(hides, i % 3 == 0);
	}
	assert_null(weft_filter_next_word(at, word, sizeof(word), &hides));
	weft_text_finish(&filter);
}

/* Any text is accepted. */
static void any_text_is_a_filter(void **state)
{
	(void)state;
	static const char signs[] = "\\,- ak:";
	struct weft_model *model = sample_model(BLOCK_READ);
	uint32_t seed = 7;
	for (unsigned n = 0; n < 300; n++) {
		char text[24] = "", word[8];
		bool hides;
		for (unsigned i = 0; i < n % 23; i++) {
			seed = seed * 1664525 + 1013904223;
			text[i] = signs[(seed >> 16) % (sizeof(signs) - 1)];
		}
		uint8_t *hidden;
		assert_int_equal(weft_filter_tasks(model, text, &hidden), 0);
		free(hidden);
		unsigned words = 0;
		for (const char *at = text; (at = weft_filter_next_word(at, word, sizeof(word), &hides));)
			words++;
		assert_true(words <= strlen(text));
	}
	weft_model_destroy(model);
}

/* Compared letter by letter, once for each task, this would take minutes of processor time; the
 * alarm is of processor time. */
static void a_long_label_of_many_tasks_is_compared_once(void **state)
{
	(void)state;
	enum {
		TASKS = 500,
		BYTES = 1 << 20,
		WORD = 900
	};
	static char label[BYTES + 1], filter[WORD + 1];
	struct made made = make_begin();
	memset(label, 'a', BYTES);
	memset(filter, 'a', WORD);
	filter[WORD - 1] = 'b';
	for (uint64_t id = 1; id <= TASKS; id++) {
		make_create(&made, 0, id, WEFT_KIND_TASK);
		if (id > 1)
			make_label(&made, id, label);
	}
	struct weft_model *model = make_model(&made);
	uint8_t *hidden;
	const struct itimerval limit = {.it_value = {.tv_sec = 60}};
	setitimer(ITIMER_VIRTUAL, &limit, NULL);
	assert_int_equal(weft_filter_tasks(model, filter, &hidden), 0);
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value = {0}}, NULL);
	assert_true(hidden[TASKS - 1]);
	free(hidden);
	weft_model_destroy(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_show_and_hide),
		cmocka_unit_test(threads_and_processes_are_compared),
		cmocka_unit_test(values_are_compared),
		cmocka_unit_test(words_come_back_as_they_were_added),
		cmocka_unit_test(any_text_is_a_filter),
		cmocka_unit_test(a_long_label_of_many_tasks_is_compared_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
