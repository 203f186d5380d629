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
#include <stdlib.h>
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

static struct weft_text export_of(
	const struct weft_trace_description *trace, const struct weft_event *events, size_t count)
{
	struct weft_text text = {0};
	struct weft_export_chrome *chrome;
	assert_int_equal(
		weft_export_chrome_create(&(struct weft_export_chrome_sink){append, &text}, &chrome), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(weft_export_chrome_add(chrome, &events[i], trace), 0);
	assert_int_equal(weft_export_chrome_finish(chrome, trace), 0);
	weft_export_chrome_destroy(chrome);
	weft_text_add(&text, "", 1);
	assert_int_equal(text.error, 0);
	return text;
}

/* The lines of these events. */
static struct weft_text export(
	const struct weft_event *events, size_t count, const uint64_t *losses)
{
	struct weft_trace_description trace = {.format = "test",
		.threads = &thread,
		.thread_count = 1,
		.buffers = &buffer,
		.buffer_count = 1};
	for (unsigned i = 0; losses && i < WEFT_LOSS_CAUSES; i++)
		trace.losses[i] = losses[i];
	return export_of(&trace, events, count);
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

static uint64_t number_after(const char **at, const char *key)
{
	const char *found = strstr(*at, key);
	assert_non_null(found);
	*at = found + strlen(key);
	return strtoull(*at, NULL, 10);
}

/* Two processes may have one number, as those of two containers; and two threads of a process,
 * after the first has ended; or none. The first keeps it, and each has another one. */
static void each_process_and_thread_has_a_number_of_its_own(void **state)
{
	struct weft_trace_buffer buffers[6] = {{.pid = 0}};
	struct weft_trace_thread threads[40] = {{.tid = 0}};
	uint64_t pids[6], tids[40];
	(void)state;
	for (uint32_t i = 0; i < COUNT(buffers); i++)
		buffers[i] = (struct weft_trace_buffer){
			.process = "p", .host = "", .file = "", .pid = (uint32_t[]){0, 10, 11, 10, 0, 10}[i]};
	for (uint32_t i = 0; i < COUNT(threads); i++)
		threads[i] = (struct weft_trace_thread){
			.name = "t", .tid = i * 7 % 4, .buffer = i * 5 % COUNT(buffers)};
	struct weft_trace_description trace = {.format = "test",
		.threads = threads,
		.thread_count = COUNT(threads),
		.buffers = buffers,
		.buffer_count = COUNT(buffers)};
	struct weft_text text = export_of(&trace, NULL, 0);
	const char *at = text.bytes;
	for (uint32_t i = 0; i < COUNT(buffers); i++) {
		bool is_taken = buffers[i].pid == 0;
		pids[i] = number_after(&at, "\"ph\":\"M\",\"pid\":");
		for (uint32_t k = 0; k < i; k++) {
			assert_int_not_equal(pids[i], pids[k]);
			is_taken |= buffers[k].pid == buffers[i].pid;
		}
		assert_int_equal(pids[i] == buffers[i].pid, !is_taken);
	}
	for (uint32_t i = 0; i < COUNT(threads); i++) {
		bool is_taken = threads[i].tid == 0;
		assert_int_equal(number_after(&at, "\"ph\":\"M\",\"pid\":"), pids[threads[i].buffer]);
		tids[i] = number_after(&at, "\"tid\":");
		for (uint32_t k = 0; k < i; k++) {
			if (threads[k].buffer != threads[i].buffer)
				continue;
			assert_int_not_equal(tids[i], tids[k]);
			is_taken |= threads[k].tid == threads[i].tid;
		}
		assert_int_equal(tids[i] == threads[i].tid, !is_taken);
	}
	weft_text_finish(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ended_task_has_one_slice),
		cmocka_unit_test(impossible_lengths_are_cut),
		cmocka_unit_test(all_losses_are_said),
		cmocka_unit_test(each_process_and_thread_has_a_number_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
