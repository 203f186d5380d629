/* SPDX-License-Identifier: ISC
 *
 * Random events that are cut and read again, and the names in a cut.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <weft/lines.h>

#include "abi/buffer_abi.h"
#include "abi/stream_abi.h"
#include "cut_parts.h"
#include "random_events.h"

/* The whole of a trace is the trace. */
static void events_of_all_kinds_come_back(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct weft_text part = {0}, expected = {0};
		struct weft_cut *cut = begin(&all, &part);
		struct weft_field fields[16];
		struct weft_lines lines;
		uint64_t random = seed, now = 1000;
		weft_lines_init(&lines, &description, 0);
		for (int i = 0; i < 300; i++) {
			struct weft_event event = random_event(&random, fields);
			event.time_ns = now += next_random(&random) % 3;
			add(cut, &event);
			weft_lines_add_json(&lines, &event, &expected);
		}
		weft_text_add(&expected, "", 1);
		struct decoded d = end(cut, &part);
		expect_lines(&d, expected.bytes);
		weft_text_finish(&expected);
	}
}

/* Content of the chunks of a kind, in bytes. */
static size_t bytes_of_chunks(const struct weft_text *part, enum weft_abi_chunk_kind kind)
{
	size_t bytes = 0;
	for (size_t at = sizeof(struct weft_abi_buffer); at < part->size;) {
		const struct weft_abi_chunk *chunk = (const void *)(part->bytes + at);
		assert_true(chunk->magic == WEFT_ABI_CHUNK_MAGIC);
		bytes += chunk->kind == kind ? chunk->bytes : 0;
		at += sizeof(*chunk) + chunk->bytes;
	}
	return bytes;
}

static void a_name_is_written_once(void **state)
{
	(void)state;
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&all, &part);
	struct weft_event event = {
		.type = WEFT_EVENT_COUNTER, .task = 1, .text = text_of("a short name")};
	for (uint64_t i = 0; i < 20000; i++) {
		event.time_ns = i;
		add(cut, &event);
	}
	assert_int_equal(weft_cut_finish(cut, &description), 0);
	assert_int_equal(weft_cut_summarize(cut).events, 20000);
	assert_int_equal(weft_cut_summarize(cut).bytes, part.size);
	weft_cut_destroy(cut);
	assert_int_equal(bytes_of_chunks(&part, WEFT_ABI_CHUNK_TEXT), 0);
	assert_in_range(bytes_of_chunks(&part, WEFT_ABI_CHUNK_NAMES), 16, 200);
	/* Three words for each event, in full packets. */
	assert_in_range(part.size, 20000 * 16, 20000 * 24 + 30000);
	weft_text_finish(&part);
}

/* A span needs the name of its track, for which the table may have no room. */
static void a_track_without_a_name_is_refused(void **state)
{
	(void)state;
	static char name[256];
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&all, &part);
	struct weft_event event = {.type = WEFT_EVENT_BEGIN, .task = 1, .text = {name, sizeof(name)}};
	for (int i = 0; i < 6000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		add(cut, &event);
	}
	event = (struct weft_event){
		.type = WEFT_EVENT_SPAN, .other = WEFT_TRACK_FIRST, .kind_name = text_of("new")};
	assert_int_equal(weft_cut_add(cut, &event, &description), WEFT_ERROR_LIMIT);
	weft_cut_destroy(cut);
	weft_text_finish(&part);
}

/* Where functions are; lines without a place, or too long for a name, are left out. */
static void places_of_functions_are_kept(void **state)
{
	(void)state;
	char code[2048];
	struct weft_trace_buffer with_code = buffer;
	struct weft_trace_description coded = description;
	struct weft_text part = {0};
	struct weft_decoder *decoder;
	struct weft_event event = {.type = WEFT_EVENT_SWITCH, .time_ns = 5, .task = 1};
	struct weft_cut *cut = begin(&all, &part);
	snprintf(code, sizeof(code), "main\tmain.c:5\nno place\n%01100d\tlong.c:1\nrun\trun.c:77\n", 1);
	with_code.code = code;
	coded.buffers = &with_code;
	assert_int_equal(weft_cut_add(cut, &event, &coded), WEFT_OK);
	assert_int_equal(weft_cut_finish(cut, &coded), 0);
	weft_cut_destroy(cut);
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, part.bytes, part.size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	while (weft_decoder_next(decoder, &event) == WEFT_OK)
		continue;
	assert_string_equal(
		weft_decoder_describe(decoder)->buffers[0].code, "main\tmain.c:5\nrun\trun.c:77\n");
	weft_decoder_destroy(decoder);
	weft_text_finish(&part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_all_kinds_come_back),
		cmocka_unit_test(a_name_is_written_once),
		cmocka_unit_test(a_track_without_a_name_is_refused),
		cmocka_unit_test(places_of_functions_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
