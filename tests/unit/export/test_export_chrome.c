/* SPDX-License-Identifier: ISC
 *
 * Chrome's trace events as they are written, where reading them back would not show a fault: weft's
 * own fields say what the lines that draw get wrong.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <weft/export.h>
#include <weft/text.h>

static int append(void *text, const void *bytes, size_t size)
{
	weft_text_add(text, bytes, size);
	return 0;
}

static const struct weft_trace_thread thread = {.name = "main", .tid = 10};
static const struct weft_trace_buffer buffer = {
	.process = "a", .host = "", .file = "", .pid = 10, .end_ns = 5000};

/* The lines of these events. */
static struct weft_text export(
	const struct weft_event *events, size_t count, const uint64_t *losses)
{
	struct weft_trace_description trace = {.format = "test",
		.threads = &thread,
		.thread_count = 1,
		.buffers = &buffer,
		.buffer_count = 1};
	struct weft_text text = {0};
	struct weft_export_chrome *chrome;
	for (unsigned i = 0; losses && i < WEFT_LOSS_CAUSES; i++)
		trace.losses[i] = losses[i];
	assert_int_equal(
		weft_export_chrome_create(&(struct weft_export_chrome_sink){append, &text}, &chrome), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(weft_export_chrome_add(chrome, &events[i], &trace), 0);
	assert_int_equal(weft_export_chrome_finish(chrome, &trace), 0);
	weft_export_chrome_destroy(chrome);
	weft_text_add(&text, "", 1);
	assert_int_equal(text.error, 0);
	return text;
}

static unsigned count_of(const char *text, const char *word)
{
	unsigned count = 0;
	for (; (text = strstr(text, word)); text += strlen(word))
		count++;
	return count;
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Its line is over: what is still said about it belongs to the thread. */
static void an_ended_task_has_one_slice(void **state)
{
	static const struct weft_event events[] = {
		{.type = WEFT_EVENT_CREATE, .time_ns = 1000, .task = WEFT_TASK_NONE, .other = 7},
		{.type = WEFT_EVENT_RESOLVE, .time_ns = 2000, .task = WEFT_TASK_NONE, .other = 7},
		{.type = WEFT_EVENT_NOTE, .time_ns = 3000, .task = 7, .text = {"late", 4}},
	};
	(void)state;
	struct weft_text text = export(events, COUNT(events), NULL);
	assert_int_equal(count_of(text.bytes, "\"ph\":\"b\""), 1);
	assert_int_equal(count_of(text.bytes, "\"ph\":\"e\""), 1);
	assert_int_equal(count_of(text.bytes, "\"ph\":\"i\""), 1);
	weft_text_finish(&text);
}

/* Clocks may disagree: something began before time 0, or ends after it was recorded. */
static void impossible_lengths_are_cut(void **state)
{
	static const struct weft_event events[] = {
		{.type = WEFT_EVENT_GC, .time_ns = 1000, .task = WEFT_TASK_NONE, .value = 3000},
		{.type = WEFT_EVENT_SPAN,
			.time_ns = 2000,
			.task = WEFT_TASK_NONE,
			.other = 9,
			.text = {"copy", 4},
			.begin_ns = 1500,
			.end_ns = 4000},
	};
	(void)state;
	struct weft_text text = export(events, COUNT(events), NULL);
	assert_int_equal(count_of(text.bytes, "\"ph\":\"b\",\"ts\":0.000,"), 1);
	assert_int_equal(count_of(text.bytes, "\"ph\":\"b\",\"ts\":1.500,"), 1);
	assert_int_equal(count_of(text.bytes, "\"ph\":\"e\",\"ts\":2.000,"), 1);
	assert_int_equal(count_of(text.bytes, "\"ts\":4.000"), 0);
	weft_text_finish(&text);
}

static void all_losses_are_said(void **state)
{
	const uint64_t losses[WEFT_LOSS_CAUSES] = {0, 3, 0, 5};
	char expected[80];
	(void)state;
	struct weft_text text = export(NULL, 0, losses);
	for (unsigned i = 0; i < 4; i++) {
		snprintf(expected, sizeof(expected), "\"lost: %s\":%u", weft_loss_name((enum weft_loss)i),
			(unsigned)losses[i]);
		assert_int_equal(count_of(text.bytes, expected), losses[i] > 0);
	}
	weft_text_finish(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ended_task_has_one_slice),
		cmocka_unit_test(impossible_lengths_are_cut),
		cmocka_unit_test(all_losses_are_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
