/* SPDX-License-Identifier: ISC
 *
 * Chrome's trace events: what each phase means, exact times in any order, and damage.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "decoded.h"

static struct decoded decoded(const char *text)
{
	struct decoded d = decode(text, strlen(text), 0);
	assert_string_equal(d.format, "chrome");
	assert_int_equal(d.ended, WEFT_END);
	assert_true(d.in_order);
	return d;
}

static void assert_lines(const char *text, const char *lines)
{
	struct decoded d = decoded(text);
	assert_string_equal(d.lines.bytes, lines);
	assert_int_equal(d.diagnostics.count, 0);
	weft_text_finish(&d.lines);
}

/* The first thing that happens on thread 1. */
#define THREAD                                                                             \
	"{\"time\":1000,\"event\":\"create\",\"task\":null,\"child\":1,\"kind\":\"thread\"}\n" \
	"{\"time\":1000,\"event\":\"label\",\"task\":1,\"text\":\"thread 1\"}\n"

static void slices_are_spans_of_a_thread(void **state)
{
	(void)state;
	assert_lines(
		"[{\"ph\":\"B\",\"ts\":1,\"tid\":1,\"name\":\"work\"},"
		"{\"ph\":\"X\",\"ts\":2,\"dur\":1.5,\"tid\":1,\"name\":\"Source\",\"args\":{\"detail\":\"a.h\"}},"
		"{\"ph\":\"E\",\"ts\":4,\"tid\":1}]",
		THREAD "{\"time\":1000,\"event\":\"switch\",\"task\":1}\n"
			   "{\"time\":1000,\"event\":\"begin\",\"task\":1,\"name\":\"work\"}\n"
			   "{\"time\":2000,\"event\":\"begin\",\"task\":1,\"name\":\"Source a.h\"}\n"
			   "{\"time\":3500,\"event\":\"end\",\"task\":1}\n"
			   "{\"time\":4000,\"event\":\"end\",\"task\":1}\n"
			   "{\"time\":4000,\"event\":\"switch\",\"task\":null}\n");
}

/* The inner slices of clang come first, and some begin with the outer ones. */
static void the_longest_slice_is_around_the_others(void **state)
{
	(void)state;
	assert_lines("[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"tid\":1,\"name\":\"in\"},"
				 "{\"ph\":\"X\",\"ts\":1,\"dur\":3,\"tid\":1,\"name\":\"out\"}]",
		THREAD "{\"time\":1000,\"event\":\"switch\",\"task\":1}\n"
			   "{\"time\":1000,\"event\":\"begin\",\"task\":1,\"name\":\"out\"}\n"
			   "{\"time\":1000,\"event\":\"begin\",\"task\":1,\"name\":\"in\"}\n"
			   "{\"time\":2000,\"event\":\"end\",\"task\":1}\n"
			   "{\"time\":4000,\"event\":\"end\",\"task\":1}\n"
			   "{\"time\":4000,\"event\":\"switch\",\"task\":null}\n");
}

static void asynchronous_slices_are_tasks(void **state)
{
	(void)state;
	assert_lines(
		"{\"traceEvents\":[{\"ph\":\"b\",\"ts\":1,\"cat\":\"net\",\"id\":\"0x7\",\"name\":\"GET\",\"args\":{\"url\":\"/\"}},"
		"{\"ph\":\"b\",\"ts\":2,\"cat\":\"net\",\"id\":\"0x7\",\"name\":\"DNS\"},"
		"{\"ph\":\"n\",\"ts\":3,\"cat\":\"net\",\"id\":\"0x7\",\"name\":\"sent\",\"args\":{\"bytes\":7}},"
		"{\"ph\":\"e\",\"ts\":4,\"cat\":\"net\",\"id\":\"0x7\",\"name\":\"DNS\"},"
		"{\"ph\":\"e\",\"ts\":5,\"cat\":\"net\",\"id\":\"0x7\",\"name\":\"GET\"}],\"other\":[1]}",
		"{\"time\":1000,\"event\":\"create\",\"task\":null,\"child\":1,\"kind\":\"net\"}\n"
		"{\"time\":1000,\"event\":\"label\",\"task\":1,\"text\":\"GET\"}\n"
		"{\"time\":1000,\"event\":\"mark\",\"task\":1,\"name\":\"GET\",\"fields\":{\"url\":\"/\"}}\n"
		"{\"time\":2000,\"event\":\"begin\",\"task\":1,\"name\":\"DNS\"}\n"
		"{\"time\":3000,\"event\":\"mark\",\"task\":1,\"name\":\"sent\",\"fields\":{\"bytes\":7}}\n"
		"{\"time\":4000,\"event\":\"end\",\"task\":1}\n"
		"{\"time\":5000,\"event\":\"resolve\",\"task\":null,\"target\":1}\n");
}

static size_t count_of(const char *text, const char *word)
{
	size_t count = 0;
	while ((text = strstr(text, word))) {
		text += strlen(word);
		count++;
	}
	return count;
}

/* Two processes, two categories, and a global id that another process ends. */
static void ids_belong_to_their_process_and_category(void **state)
{
	(void)state;
	struct decoded d = decoded(
		"[{\"ph\":\"b\",\"ts\":1,\"pid\":1,\"cat\":\"a\",\"id\":1,\"name\":\"x\"},"
		"{\"ph\":\"b\",\"ts\":1,\"pid\":2,\"cat\":\"a\",\"id\":1,\"name\":\"x\"},"
		"{\"ph\":\"b\",\"ts\":1,\"pid\":1,\"cat\":\"b\",\"id\":1,\"name\":\"x\"},"
		"{\"ph\":\"S\",\"ts\":1,\"pid\":1,\"cat\":\"a\",\"id\":1,\"name\":\"y\"},"
		"{\"ph\":\"S\",\"ts\":1,\"pid\":1,\"cat\":\"a\",\"id\":1,\"name\":\"z\"},"
		"{\"ph\":\"b\",\"ts\":1,\"pid\":1,\"cat\":\"a\",\"id2\":{\"global\":1},\"name\":\"g\"},"
		"{\"ph\":\"F\",\"ts\":2,\"pid\":1,\"cat\":\"a\",\"id\":1,\"name\":\"z\"},"
		"{\"ph\":\"e\",\"ts\":3,\"pid\":2,\"cat\":\"a\",\"id2\":{\"global\":1},\"name\":\"g\"}]");
	assert_int_equal(count_of(d.lines.bytes, "\"create\""), 6);
	assert_int_equal(count_of(d.lines.bytes, "\"target\":5"), 1);
	assert_int_equal(count_of(d.lines.bytes, "\"target\":6,\"thread\":0,\"process\":1"), 1);
	assert_int_equal(d.diagnostics.count, 0);
	weft_text_finish(&d.lines);
}

static void node_says_who_waits_for_whom(void **state)
{
	(void)state;
	struct decoded d = decoded(
#define HOOK(ph, ts, name, id, args)                                                  \
	"{\"ph\":\"" ph "\",\"ts\":" #ts                                                  \
	",\"tid\":1,\"cat\":\"node,node.async_hooks\",\"name\":\"" name "\",\"id\":\"" id \
	"\",\"args\":{" args "}}"
#define BY(trigger, executed) \
	"\"data\":{\"triggerAsyncId\":" #trigger ",\"executionAsyncId\":" #executed "}"
		"[" HOOK("b", 1, "PROMISE", "0xa", BY(1, 1)) "," HOOK("b", 2, "PROMISE", "0xb",
			BY(10, 1)) "," HOOK("b", 3, "Timeout", "0xc", BY(1, 1)) "," HOOK("b", 4,
			"Timeout_CALLBACK", "0xc",
			"") "," HOOK("e", 5, "Timeout_CALLBACK", "0xc", "") "," HOOK("b", 6, "PROMISE_CALLBACK",
			"0xb", "") "," HOOK("b", 7, "PROMISE", "0xd", BY(11, 11)) "," HOOK("e", 8,
			"PROMISE_CALLBACK", "0xb", "") "," HOOK("e", 9, "Timeout", "0xc", "") "]");
#undef HOOK
#undef BY
	assert_string_equal(d.lines.bytes,
		THREAD "{\"time\":1000,\"event\":\"create\",\"task\":1,\"child\":2,\"kind\":\"promise\"}\n"
			   "{\"time\":2000,\"event\":\"create\",\"task\":1,\"child\":3,\"kind\":\"promise\"}\n"
			   "{\"time\":2000,\"event\":\"try_read\",\"task\":3,\"source\":2}\n"
			   "{\"time\":3000,\"event\":\"create\",\"task\":1,\"child\":4,\"kind\":\"timer\"}\n"
			   "{\"time\":4000,\"event\":\"switch\",\"task\":4}\n"
			   "{\"time\":5000,\"event\":\"switch\",\"task\":null}\n"
			   "{\"time\":6000,\"event\":\"resolve\",\"task\":null,\"target\":2}\n"
			   "{\"time\":6000,\"event\":\"read\",\"task\":3,\"source\":2,\"later\":false}\n"
			   "{\"time\":6000,\"event\":\"switch\",\"task\":3}\n"
			   "{\"time\":7000,\"event\":\"create\",\"task\":3,\"child\":5,\"kind\":\"promise\"}\n"
			   "{\"time\":8000,\"event\":\"switch\",\"task\":null}\n"
			   "{\"time\":9000,\"event\":\"resolve\",\"task\":null,\"target\":4}\n");
	assert_int_equal(d.diagnostics.count, 0);
	weft_text_finish(&d.lines);
}

static void flows_are_messages_and_counters_have_series(void **state)
{
	(void)state;
	assert_lines(
		"[{\"ph\":\"s\",\"ts\":1,\"tid\":1,\"id\":5,\"name\":\"n\",\"cat\":\"c\"},"
		"{\"ph\":\"f\",\"ts\":2,\"tid\":1,\"id\":5,\"name\":\"n\",\"cat\":\"c\",\"bp\":\"e\"},"
		"{\"ph\":\"C\",\"ts\":3,\"tid\":1,\"name\":\"heap\",\"args\":{\"used\":5,\"free\":-0.5}},"
		"{\"ph\":\"C\",\"ts\":3,\"tid\":1,\"name\":\"q\",\"id\":7,\"args\":{\"value\":9}}]",
		THREAD
		"{\"time\":1000,\"event\":\"send\",\"task\":1,\"key\":4827858800541171712}\n"
		"{\"time\":2000,\"event\":\"receive\",\"task\":1,\"key\":4827858800541171712}\n"
		"{\"time\":3000,\"event\":\"counter\",\"task\":null,\"name\":\"heap used\",\"value\":5}\n"
		"{\"time\":3000,\"event\":\"counter\",\"task\":null,\"name\":\"heap free\",\"value\":-0.5}\n"
		"{\"time\":3000,\"event\":\"counter\",\"task\":null,\"name\":\"q 7\",\"value\":9}\n");
}

static void times_are_exact_to_the_nanosecond(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} times[] = {
		{"4349382049.123", 4349382049123u},
		{"0.30000000000000004", 300},
		{"1.2339999999", 1234},
		{"0.0005", 1},
		{"0.00049", 0},
		{"1.5e3", 1500000},
		{"15E-1", 1500},
		{"\"7\"", 7000},
		{"1700000000000000.001", 1700000000000000001u},
		{"999999999999999999", UINT64_C(1) << 61}, /* the limit */
		{"1e400", UINT64_C(1) << 61},
		{"1e-400", 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		char text[200];
		snprintf(text, sizeof(text), "[{\"ph\":\"i\",\"ts\":%s,\"name\":\"x\"}]", times[i].text);
		struct decoded d = decoded(text);
		assert_int_equal(d.last_ns, times[i].ns);
		weft_text_finish(&d.lines);
	}
}

static void events_may_come_in_any_order(void **state)
{
	uint64_t at;
	(void)state;
	struct decoded d = decoded(
		"[{\"ph\":\"E\",\"ts\":3,\"tid\":1},{\"ph\":\"i\",\"ts\":1,\"tid\":1,\"name\":\"one\"},"
		"{\"ph\":\"B\",\"ts\":-2.5,\"tid\":1,\"name\":\"first\"}]");
	assert_int_equal(d.last_ns, 5500);
	assert_non_null(
		strstr(d.lines.bytes, "{\"time\":3500,\"event\":\"note\",\"task\":1,\"text\":\"one\"}"));
	assert_int_equal(times_reported(&d,
						 "the clock shows times before its zero; all times are moved forward", &at),
		1);
	weft_text_finish(&d.lines);
}

static void texts_lose_their_escapes(void **state)
{
	(void)state;
	assert_lines(
		"[{\"ph\":\"i\",\"ts\":1,\"tid\":1,\"name\":\"a\\\"\\u00e9\\ud83d\\ude00\\n\\ud83d\\uZ\"}]",
		THREAD
		"{\"time\":1000,\"event\":\"note\",\"task\":1,\"text\":\"a\\\"\xc3\xa9\xf0\x9f\x98\x80\\n\xef\xbf\xbduZ\"}\n");
}

/* An inner slice that is longer than the outer one, and ends that nothing began. */
static void slices_that_do_not_nest_end_early(void **state)
{
	uint64_t at;
	(void)state;
	struct decoded d = decoded("[{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"tid\":1,\"name\":\"out\"},"
							   "{\"ph\":\"X\",\"ts\":2,\"dur\":2,\"tid\":1,\"name\":\"in\"},"
							   "{\"ph\":\"E\",\"ts\":5,\"tid\":1},"
							   "{\"ph\":\"b\",\"ts\":6,\"tid\":1,\"id\":1,\"name\":\"a\"},"
							   "{\"ph\":\"b\",\"ts\":7,\"tid\":1,\"id\":1,\"name\":\"b\"},"
							   "{\"ph\":\"e\",\"ts\":8,\"tid\":1,\"id\":1,\"name\":\"a\"},"
							   "{\"ph\":\"e\",\"ts\":9,\"tid\":1,\"id\":1,\"name\":\"b\"}]");
	assert_int_equal(
		times_reported(&d, "a slice outlasts the one around it; it ends with that", &at), 2);
	assert_int_equal(
		times_reported(&d, "an end of a slice that has not begun; it is left out", &at), 2);
	assert_int_equal(d.diagnostics.list[0].amount_ns, 1000);
	assert_int_equal(count_of(d.lines.bytes, "\"event\":\"begin\""), 3);
	assert_int_equal(count_of(d.lines.bytes, "\"event\":\"end\""), 3);
	weft_text_finish(&d.lines);
}

/* The one without an end of its own is cut with what is inside. */
static void a_slice_in_an_open_one_ends_with_the_outermost(void **state)
{
	uint64_t at;
	(void)state;
	struct decoded d = decoded("[{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"tid\":1,\"name\":\"out\"},"
							   "{\"ph\":\"B\",\"ts\":1.5,\"tid\":1,\"name\":\"open\"},"
							   "{\"ph\":\"X\",\"ts\":2,\"dur\":5,\"tid\":1,\"name\":\"in\"}]");
	assert_int_equal(
		times_reported(&d, "a slice outlasts the one around it; it ends with that", &at), 2);
	assert_int_equal(d.diagnostics.list[0].amount_ns, 4000);
	assert_int_equal(count_of(d.lines.bytes, "{\"time\":3000,\"event\":\"end\""), 3);
	weft_text_finish(&d.lines);
}

/* Its own end, which comes too late, ends nothing else. */
static void an_end_of_what_was_cut_off_is_left_out(void **state)
{
	(void)state;
	struct decoded d = decoded("[{\"ph\":\"B\",\"ts\":1,\"tid\":1,\"name\":\"all\"},"
							   "{\"ph\":\"X\",\"ts\":2,\"dur\":1,\"tid\":1,\"name\":\"out\"},"
							   "{\"ph\":\"B\",\"ts\":2,\"tid\":1,\"name\":\"in\"},"
							   "{\"ph\":\"E\",\"ts\":5,\"tid\":1},"
							   "{\"ph\":\"E\",\"ts\":6,\"tid\":1}]");
	assert_int_equal(count_of(d.lines.bytes, "{\"time\":3000,\"event\":\"end\""), 2);
	assert_int_equal(count_of(d.lines.bytes, "{\"time\":5000,\"event\":\"end\""), 0);
	assert_int_equal(count_of(d.lines.bytes, "{\"time\":6000,\"event\":\"end\""), 1);
	weft_text_finish(&d.lines);
}

static void an_end_ends_what_is_inside(void **state)
{
	uint64_t at;
	(void)state;
	struct decoded d = decoded("[{\"ph\":\"B\",\"ts\":1,\"tid\":1,\"name\":\"out\"},"
							   "{\"ph\":\"X\",\"ts\":2,\"dur\":9,\"tid\":1,\"name\":\"in\"},"
							   "{\"ph\":\"X\",\"ts\":3,\"dur\":1,\"tid\":1,\"name\":\"inmost\"},"
							   "{\"ph\":\"E\",\"ts\":5,\"tid\":1}]");
	assert_int_equal(
		times_reported(&d, "a slice outlasts the one around it; it ends with that", &at), 1);
	assert_int_equal(count_of(d.lines.bytes, "{\"time\":4000,\"event\":\"end\""), 1);
	assert_int_equal(count_of(d.lines.bytes, "{\"time\":5000,\"event\":\"end\""), 2);
	weft_text_finish(&d.lines);
}

/* The first one's number is that of the process, whether or not an event has it. */
static void a_process_has_a_first_thread(void **state)
{
	(void)state;
	struct decoded d =
		decoded("[{\"ph\":\"B\",\"ts\":1,\"pid\":5,\"name\":\"x\",\"args\":{\"detail\":\"\"}},"
				"{\"ph\":\"E\",\"ts\":2,\"pid\":5,\"tid\":5}]");
	assert_int_equal(count_of(d.lines.bytes, "\"event\":\"create\""), 1);
	assert_int_equal(count_of(d.lines.bytes, "\"name\":\"x\""), 1);
	assert_int_equal(count_of(d.lines.bytes, "\"event\":\"end\""), 1);
	assert_int_equal(d.diagnostics.count, 0);
	weft_text_finish(&d.lines);
}

#define MANY_THREADS 200

/* The ends wait in a heap: they come in order, each at its time. */
static void slices_of_many_threads_end_in_order(void **state)
{
	struct weft_text text = {0};
	char line[96];
	(void)state;
	weft_text_add_string(&text, "[");
	for (unsigned i = 1; i <= MANY_THREADS; i++) {
		snprintf(line, sizeof(line),
			"{\"ph\":\"X\",\"ts\":1,\"dur\":%u,\"tid\":%u,\"name\":\"x\"},", i * 77 % 211, i);
		weft_text_add_string(&text, line);
	}
	weft_text_add(&text, "", 1);
	struct decoded d = decoded(text.bytes);
	for (unsigned i = 1; i <= MANY_THREADS; i++) {
		snprintf(
			line, sizeof(line), "{\"time\":%u,\"event\":\"end\",", 1000 + 1000 * (i * 77 % 211));
		assert_int_equal(count_of(d.lines.bytes, line), 1);
	}
	weft_text_finish(&d.lines);
	weft_text_finish(&text);
}

/* 100,000 slices of one id, and as many ends that belong to none of them. */
static void a_hostile_file_takes_time_in_proportion_to_its_size(void **state)
{
	struct weft_text text = {0};
	uint64_t at;
	(void)state;
	weft_text_add_string(&text, "[");
	for (int i = 0; i < 200000; i++)
		weft_text_add_string(&text, i < 100000
										? "{\"ph\":\"b\",\"ts\":1,\"id\":1,\"name\":\"a\"}\n"
										: "{\"ph\":\"e\",\"ts\":2,\"id\":1,\"name\":\"x\"}\n");
	weft_text_add(&text, "", 1);
	struct decoded d = decoded(text.bytes);
	assert_int_equal(
		times_reported(&d, "an end of a slice that has not begun; it is left out", &at), 100000);
	weft_text_finish(&d.lines);
	weft_text_finish(&text);
}

static void what_is_readable_is_kept(void **state)
{
	static const char text[] =
		"[{\"ph\":\"i\",\"ts\":1,\"tid\":1,\"name\":\"a\"},\n"
		"{\"ph\":\"i\",\"ts\":2,\"tid\":1,\"name\":\"broken},\n"
		"{\"ph\":\"i\",\"ts\":3,\"tid\":1,\"name\":\"b\"},\n"
		"{\"ts\":4}, {\"ph\":\"i\"}, {\"ph\":\"P\",\"ts\":5}, 7,\n"
		"{\"ph\":\"i\",\"ts\":6,\"tid\":1,\"name\":\"c\"}, {\"ph\":\"i\",\"ts\":7";
	uint64_t at;
	(void)state;
	struct decoded d = decoded(text);
	assert_int_equal(count_of(d.lines.bytes, "\"event\":\"note\""), 3);
	assert_int_equal(
		times_reported(&d, "malformed JSON; the event that has it is left out", &at), 1);
	assert_int_equal(at, strstr(text, "broken},") + 8 - text);
	assert_int_equal(times_reported(&d, "the last event is cut off", &at), 1);
	assert_int_equal(at, strstr(text, "{\"ph\":\"i\",\"ts\":7") - text);
	assert_int_equal(times_reported(&d, "an event lacks its type, \"ph\"; it is left out", &at), 1);
	assert_int_equal(times_reported(&d, "an event lacks its time, \"ts\"; it is left out", &at), 1);
	assert_int_equal(
		times_reported(&d, "an event of a type that weft does not show, such as a sample", &at), 1);
	assert_int_equal(
		times_reported(&d, "an element of the list of events is not an object", &at), 1);
	weft_text_finish(&d.lines);
}

/* A list may lack its end, but not that of an object, which a killed program leaves. */
static void an_unfinished_list_is_read(void **state)
{
	uint64_t at;
	(void)state;
	struct decoded d =
		decoded("{\"a\":{\"b\":[1]},\"traceEvents\":[\n{\"ph\":\"i\",\"ts\":1,\"name\":\"a\"},\n");
	assert_int_equal(d.count, 3);
	assert_int_equal(
		times_reported(
			&d, "the list of events has no end: the program was killed, or still writes", &at),
		1);
	weft_text_finish(&d.lines);
	d = decoded("[{\"ph\":\"i\",\"ts\":1,\"name\":\"a\"},\n");
	assert_int_equal(d.count, 3);
	assert_int_equal(d.diagnostics.count, 0);
	weft_text_finish(&d.lines);
}

/* Packets and forms are searched for in all bytes of a file, but not in a list of events. */
static void texts_may_look_like_other_formats(void **state)
{
	(void)state;
	struct decoded d =
		decoded("[{\"ph\":\"i\",\"ts\":1,\"name\":\"\n((time 1)(op(Switch 1)))\n\"},\n"
				"((time 1)(op(Switch 1)))\n{\"ph\":\"i\",\"ts\":1,\"name\":\"x\"}]");
	assert_int_equal(count_of(d.lines.bytes, "\"note\""), 1);
	weft_text_finish(&d.lines);
}

static void other_json_is_refused(void **state)
{
	static const char *const texts[] = {
		"{}", "[]", "[1,2]", "{\"traceEvents\":7}", "{\"a\":1,,\"traceEvents\":[]}", "\"ph\"", "{"};
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct decoded d = decode(texts[i], strlen(texts[i]), 0);
		assert_string_equal(d.format, "unknown");
		assert_int_equal(d.finished, WEFT_ERROR_FORMAT);
		weft_text_finish(&d.lines);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_are_spans_of_a_thread),
		cmocka_unit_test(the_longest_slice_is_around_the_others),
		cmocka_unit_test(asynchronous_slices_are_tasks),
		cmocka_unit_test(ids_belong_to_their_process_and_category),
		cmocka_unit_test(node_says_who_waits_for_whom),
		cmocka_unit_test(flows_are_messages_and_counters_have_series),
		cmocka_unit_test(times_are_exact_to_the_nanosecond),
		cmocka_unit_test(events_may_come_in_any_order),
		cmocka_unit_test(texts_lose_their_escapes),
		cmocka_unit_test(slices_that_do_not_nest_end_early),
		cmocka_unit_test(a_slice_in_an_open_one_ends_with_the_outermost),
		cmocka_unit_test(an_end_of_what_was_cut_off_is_left_out),
		cmocka_unit_test(an_end_ends_what_is_inside),
		cmocka_unit_test(a_process_has_a_first_thread),
		cmocka_unit_test(slices_of_many_threads_end_in_order),
		cmocka_unit_test(a_hostile_file_takes_time_in_proportion_to_its_size),
		cmocka_unit_test(what_is_readable_is_kept),
		cmocka_unit_test(an_unfinished_list_is_read),
		cmocka_unit_test(texts_may_look_like_other_formats),
		cmocka_unit_test(other_json_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
