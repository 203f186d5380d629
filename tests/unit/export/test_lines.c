/* SPDX-License-Identifier: ISC
 *
 * Lines of events that the Mirage formats lack: marks, tags, bands, several threads.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/lines.h>

static const struct weft_trace_thread threads[] = {
	{.name = "main", .tid = 10},
	{.name = "io", .tid = 11},
	{.name = "main", .tid = 20, .buffer = 1},
};

static const struct weft_trace_buffer buffers[] = {
	{.process = "a", .host = "", .file = "", .pid = 10},
	{.process = "b", .host = "", .file = "", .pid = 20},
};

static struct weft_slice slice(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

static void assert_lines(
	const struct weft_event *event, uint32_t thread_count, const char *json, const char *readable)
{
	const struct weft_trace_description trace = {.format = "test",
		.threads = threads,
		.thread_count = thread_count,
		.buffers = buffers,
		.buffer_count = thread_count > 2 ? 2 : 1};
	struct weft_lines lines;
	struct weft_text text = {0};
	weft_lines_init(&lines, &trace, 1000);
	weft_lines_add_json(&lines, event, &text);
	weft_text_add(&text, "", 1);
	assert_string_equal(text.bytes, json);
	text.size = 0;
	weft_lines_add_text(&lines, event, &text);
	weft_text_add(&text, "", 1);
	assert_string_equal(text.bytes, readable);
	weft_text_finish(&text);
}

static void threads_and_processes_are_distinguished(void **state)
{
	(void)state;
	const struct weft_event event = {
		.type = WEFT_EVENT_SWITCH, .time_ns = 2000000001000, .task = WEFT_TASK_NONE, .thread = 1};
	assert_lines(&event, 1, "{\"time\":2000000001000,\"event\":\"switch\",\"task\":null}\n",
		"2000.000000000  switch    task=none\n");
	assert_lines(&event, 2,
		"{\"time\":2000000001000,\"event\":\"switch\",\"task\":null,\"thread\":1}\n",
		"2000.000000000  1    switch    task=none\n");
	assert_lines(&event, 3,
		"{\"time\":2000000001000,\"event\":\"switch\",\"task\":null,\"thread\":1,"
		"\"process\":10,\"buffer\":0}\n",
		"2000.000000000  10:1        switch    task=none\n");
}

static void a_mark_has_an_object(void **state)
{
	(void)state;
	const struct weft_field fields[] = {
		{slice("i"), WEFT_FIELD_I64, {.i64 = INT64_MIN}},
		{slice("u"), WEFT_FIELD_U64, {.u64 = UINT64_MAX}},
		{slice("f"), WEFT_FIELD_F64, {.f64 = 0.1}},
		{slice("n"), WEFT_FIELD_F64, {.f64 = NAN}},
		{slice("a\n"), WEFT_FIELD_TEXT, {.text = slice("b\"")}},
		{slice("b"), WEFT_FIELD_BOOL, {.u64 = 1}},
	};
	struct weft_event event = {.type = WEFT_EVENT_MARK,
		.time_ns = 1000,
		.task = 7,
		.text = slice("sent"),
		.fields = fields,
		.field_count = 6};
	assert_lines(&event, 1,
		"{\"time\":1000,\"event\":\"mark\",\"task\":7,\"name\":\"sent\",\"fields\":{"
		"\"i\":-9223372036854775808,\"u\":18446744073709551615,\"f\":0.1,\"n\":null,"
		"\"a\\n\":\"b\\\"\",\"b\":true}}\n",
		"   0.000000000  mark      task=7 name=\"sent\" fields={\"i\"=-9223372036854775808, "
		"\"u\"=18446744073709551615, \"f\"=0.1, \"n\"=null, \"a\\n\"=\"b\\\"\", \"b\"=true}\n");
	event.field_count = 0;
	assert_lines(&event, 1,
		"{\"time\":1000,\"event\":\"mark\",\"task\":7,\"name\":\"sent\",\"fields\":{}}\n",
		"   0.000000000  mark      task=7 name=\"sent\" fields={}\n");
}

static void times_have_nanoseconds(void **state)
{
	(void)state;
	struct weft_event event = {.type = WEFT_EVENT_EXPECT, .time_ns = 4000000999, .task = 7};
	assert_lines(&event, 1, "{\"time\":4000000999,\"event\":\"expect\",\"task\":7}\n",
		"   3.999999999  expect    task=7\n");
	event.time_ns = 1001;
	assert_lines(&event, 1, "{\"time\":1001,\"event\":\"expect\",\"task\":7}\n",
		"   0.000000001  expect    task=7\n");
}

/* In columns up to 9999 s: also right below and at each power of ten. */
static void times_are_aligned(void **state)
{
	static const uint64_t seconds[] = {
		0, 1, 9, 10, 11, 99, 100, 101, 999, 1000, 1001, 9999, 10000, 99999, 100000, 18446744072};
	static const uint64_t fractions[] = {0, 1, 10, 99999999, 100000000, 709551615};
	(void)state;
	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++)
		for (size_t k = 0; k < sizeof(fractions) / sizeof(fractions[0]); k++) {
			char expected[80];
			const struct weft_event event = {.type = WEFT_EVENT_EXPECT,
				.time_ns = seconds[i] * 1000000000 + fractions[k],
				.task = 7};
			const struct weft_xentrace_record record = {
				.time_ns = event.time_ns, .name = "x", .domain = WEFT_XENTRACE_IDLE, .cpu = 10};
			const struct weft_trace_description trace = {.format = "test"};
			struct weft_lines lines;
			struct weft_text text = {0};
			weft_lines_init(&lines, &trace, 0);
			weft_lines_add_text(&lines, &event, &text);
			weft_lines_add_xentrace_text(&record, &text);
			weft_text_add(&text, "", 1);
			snprintf(expected, sizeof(expected),
				"%4" PRIu64 ".%09" PRIu64 "  expect    task=7\n%4" PRIu64 ".%09" PRIu64
				"  cpu10  idle",
				seconds[i], fractions[k], seconds[i], fractions[k]);
			assert_memory_equal(text.bytes, expected, strlen(expected));
			weft_text_finish(&text);
		}
}

/* Each number of digits, at its ends. */
static void numbers_of_records_are_whole(void **state)
{
	(void)state;
	for (uint64_t power = 1; power <= 10000000000; power *= 10)
		for (uint64_t number = power - 1; number <= power + 1; number++) {
			struct weft_text text = {0};
			char expected[256];
			const uint32_t argument = (uint32_t)number;
			const struct weft_xentrace_record record = {.time_ns = number,
				.name = "x",
				.domain = argument,
				.vcpu = argument,
				.cpu = argument,
				.id = argument,
				.arg_count = 1,
				.args = {argument}};
			if (argument == WEFT_XENTRACE_UNKNOWN)
				continue;
			weft_lines_add_xentrace_json(&record, &text);
			weft_text_add(&text, "", 1);
			snprintf(expected, sizeof(expected),
				"{\"time\":%" PRIu64 ",\"event\":\"xentrace\",\"cpu\":%" PRIu32
				",\"id\":\"0x%" PRIx32 "\",\"name\":\"x\",\"domain\":%" PRIu32 ",\"vcpu\":%" PRIu32
				",\"args\":[%" PRIu32 "]",
				number, argument, argument, argument, argument, argument);
			assert_memory_equal(text.bytes, expected, strlen(expected));
			weft_text_finish(&text);
		}
}

static void a_kind_may_have_a_name(void **state)
{
	(void)state;
	struct weft_event event = {
		.type = WEFT_EVENT_CREATE, .time_ns = 1000, .task = 7, .other = 8, .kind = 300};
	assert_lines(&event, 1,
		"{\"time\":1000,\"event\":\"create\",\"task\":7,\"child\":8,\"kind\":300}\n",
		"   0.000000000  create    task=7 child=8 kind=300\n");
	event.kind_name = slice("job");
	assert_lines(&event, 1,
		"{\"time\":1000,\"event\":\"create\",\"task\":7,\"child\":8,\"kind\":\"job\"}\n",
		"   0.000000000  create    task=7 child=8 kind=\"job\"\n");
}

static void a_tag_may_have_a_value(void **state)
{
	(void)state;
	struct weft_event event = {
		.type = WEFT_EVENT_TAG, .time_ns = 1000, .task = 7, .text = slice("queue"), .value = -3};
	assert_lines(&event, 1, "{\"time\":1000,\"event\":\"tag\",\"task\":7,\"text\":\"queue\"}\n",
		"   0.000000000  tag       task=7 text=\"queue\"\n");
	event.has_value = true;
	assert_lines(&event, 1,
		"{\"time\":1000,\"event\":\"tag\",\"task\":7,\"text\":\"queue\",\"value\":-3}\n",
		"   0.000000000  tag       task=7 text=\"queue\" value=-3\n");
}

static void a_span_is_on_a_track(void **state)
{
	(void)state;
	const struct weft_event event = {.type = WEFT_EVENT_SPAN,
		.time_ns = 5000,
		.task = WEFT_TASK_NONE,
		.other = WEFT_TRACK_FIRST + 3 * WEFT_TRACK_LINES,
		.kind = 1,
		.kind_name = slice("gpu"),
		.text = slice("draw"),
		.begin_ns = 2000,
		.end_ns = 4000};
	assert_lines(&event, 1,
		"{\"time\":5000,\"event\":\"span\",\"track\":4503599627370688,\"label\":\"gpu\","
		"\"clock\":\"monotonic\",\"name\":\"draw\",\"start\":2000,\"end\":4000}\n",
		"   0.000004000  span      track=4503599627370688 label=\"gpu\" clock=monotonic name=\"draw\" "
		"start=-3000ns end=-1000ns\n");
}

static void bands_and_reasons(void **state)
{
	(void)state;
	struct weft_event event = {.type = WEFT_EVENT_BAND,
		.time_ns = 1000,
		.band = WEFT_BAND_GC,
		.text = slice("minor"),
		.flag = true};
	assert_lines(&event, 1,
		"{\"time\":1000,\"event\":\"band\",\"kind\":\"gc\",\"reason\":\"minor\","
		"\"begin\":true}\n",
		"   0.000000000  band      kind=gc reason=\"minor\" begin\n");
	event.flag = false;
	assert_lines(&event, 1,
		"{\"time\":1000,\"event\":\"band\",\"kind\":\"gc\",\"reason\":\"minor\","
		"\"begin\":false}\n",
		"   0.000000000  band      kind=gc reason=\"minor\" end\n");
	event = (struct weft_event){
		.type = WEFT_EVENT_SWITCH, .time_ns = 1000, .task = WEFT_TASK_NONE, .text = slice("poll")};
	assert_lines(&event, 1,
		"{\"time\":1000,\"event\":\"switch\",\"task\":null,\"reason\":\"poll\"}\n",
		"   0.000000000  switch    task=none reason=\"poll\"\n");
}

static void kinds_have_names_or_numbers(void **state)
{
	(void)state;
	struct weft_event event = {.type = WEFT_EVENT_CREATE,
		.time_ns = 1000,
		.task = WEFT_TASK_NONE,
		.other = 5,
		.kind = WEFT_KIND_BIND};
	assert_lines(&event, 1,
		"{\"time\":1000,\"event\":\"create\",\"task\":null,\"child\":5,\"kind\":\"bind\"}\n",
		"   0.000000000  create    task=none child=5 kind=bind\n");
	event.kind = 1000;
	assert_lines(&event, 1,
		"{\"time\":1000,\"event\":\"create\",\"task\":null,\"child\":5,\"kind\":1000}\n",
		"   0.000000000  create    task=none child=5 kind=1000\n");
}

static void a_flag_is_a_word_if_it_is_set(void **state)
{
	(void)state;
	struct weft_event event = {.type = WEFT_EVENT_READ, .time_ns = 1000, .task = 1, .other = 5};
	assert_lines(&event, 1,
		"{\"time\":1000,\"event\":\"read\",\"task\":1,\"source\":5,\"later\":false}\n",
		"   0.000000000  read      task=1 source=5\n");
	event.flag = true;
	assert_lines(&event, 1,
		"{\"time\":1000,\"event\":\"read\",\"task\":1,\"source\":5,\"later\":true}\n",
		"   0.000000000  read      task=1 source=5 later\n");
}

/* Every event is one line; an unknown type is named as such. */
static void every_type_makes_one_line(void **state)
{
	(void)state;
	const struct weft_trace_description trace = {
		.format = "test", .threads = threads, .thread_count = 1};
	struct weft_lines lines;
	weft_lines_init(&lines, &trace, 0);
	for (unsigned type = 0; type < 256; type++) {
		const struct weft_event event = {.type = (uint8_t)type, .text = slice("\n\r\x85")};
		struct weft_text text = {0};
		weft_lines_add_json(&lines, &event, &text);
		weft_lines_add_text(&lines, &event, &text);
		size_t newlines = 0;
		for (size_t i = 0; i < text.size; i++)
			newlines += text.bytes[i] == '\n';
		assert_int_equal(newlines, 2);
		const char *name = weft_event_describe(type)->name;
		weft_text_add(&text, "", 1);
		assert_non_null(strstr(text.bytes, name ? name : "unknown"));
		weft_text_finish(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_and_processes_are_distinguished),
		cmocka_unit_test(a_mark_has_an_object),
		cmocka_unit_test(times_have_nanoseconds),
		cmocka_unit_test(times_are_aligned),
		cmocka_unit_test(numbers_of_records_are_whole),
		cmocka_unit_test(a_kind_may_have_a_name),
		cmocka_unit_test(a_tag_may_have_a_value),
		cmocka_unit_test(a_span_is_on_a_track),
		cmocka_unit_test(bands_and_reasons),
		cmocka_unit_test(kinds_have_names_or_numbers),
		cmocka_unit_test(a_flag_is_a_word_if_it_is_set),
		cmocka_unit_test(every_type_makes_one_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
