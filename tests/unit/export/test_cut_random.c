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

/* A part of the letters, in which some are NULs. */
static struct weft_slice random_text(uint64_t *seed)
{
	static const char letters[] = "a na\0me\0\0 of some leng\0th\0 and more\0";
	uint32_t from = next_random(seed) % sizeof(letters);
	return (struct weft_slice){letters + from, next_random(seed) % (sizeof(letters) - from)};
}

/* An event of some type, with what events of this type have. */
static struct weft_event random_event(uint64_t *seed, struct weft_field *fields)
{
	static const uint8_t types[] = {WEFT_EVENT_CREATE, WEFT_EVENT_READ, WEFT_EVENT_TRY_READ,
		WEFT_EVENT_RESOLVE, WEFT_EVENT_FAIL, WEFT_EVENT_LABEL, WEFT_EVENT_NOTE, WEFT_EVENT_TAG,
		WEFT_EVENT_MARK, WEFT_EVENT_BAND, WEFT_EVENT_COUNTER, WEFT_EVENT_SWITCH, WEFT_EVENT_SIGNAL,
		WEFT_EVENT_GC, WEFT_EVENT_EXPECT, WEFT_EVENT_CANCEL, WEFT_EVENT_CLOSE, WEFT_EVENT_TIME_OUT,
		WEFT_EVENT_BEGIN, WEFT_EVENT_END, WEFT_EVENT_WAIT_ANY, WEFT_EVENT_ACQUIRE,
		WEFT_EVENT_RELEASE, WEFT_EVENT_OFF_CPU, WEFT_EVENT_SEND, WEFT_EVENT_RECEIVE,
		WEFT_EVENT_BECOME, WEFT_EVENT_SPAN, WEFT_EVENT_TOTAL};
	struct weft_event e = {.type = types[next_random(seed) % sizeof(types)],
		.task = next_random(seed) % 4 ? next_random(seed) % 9 : WEFT_TASK_NONE,
		.other = next_random(seed) % 9,
		.kind = (uint16_t)(next_random(seed) % 2 ? WEFT_KIND_BIND : 200),
		.flag = next_random(seed) % 2,
		.value = (int64_t)next_random(seed) - (1 << 30),
		.text = random_text(seed),
		.thread = next_random(seed) % 3};
	if (e.type == WEFT_EVENT_CREATE && next_random(seed) % 3 == 0) {
		e.kind = 300;
		e.kind_name = text_of(next_random(seed) % 2 ? "job" : "request");
	}
	if (e.type == WEFT_EVENT_TAG)
		e.has_value = next_random(seed) % 2;
	if (e.type == WEFT_EVENT_GC || e.type == WEFT_EVENT_OFF_CPU)
		e.value = (int64_t)(next_random(seed) % 1000);
	if (e.type == WEFT_EVENT_SWITCH)
		e.text = (struct weft_slice){NULL, 0};
	if (e.type == WEFT_EVENT_COUNTER || e.type == WEFT_EVENT_TOTAL) {
		e.text = text_of("queue");
		e.is_set = next_random(seed) % 2 || e.type == WEFT_EVENT_TOTAL;
		e.is_real = next_random(seed) % 2;
		if (e.is_real)
			e.real = (double)next_random(seed) / 8;
	}
	if (e.type == WEFT_EVENT_BAND)
		e.band = (uint8_t)(next_random(seed) % 2 ? WEFT_BAND_IDLE : WEFT_BAND_GC);
	if (e.type == WEFT_EVENT_SPAN) {
		static const char *const tracks[] = {"a", "b", "c", "d"};
		uint32_t track = next_random(seed) % 4;
		e.other = WEFT_TRACK_FIRST + WEFT_TRACK_LINES * track;
		e.kind_name = text_of(tracks[track]);
		e.kind = WEFT_CLOCK_MONOTONIC;
		e.task = WEFT_TASK_NONE;
		e.begin_ns = next_random(seed) % 500;
		e.end_ns = e.begin_ns + next_random(seed) % 500;
	}
	if (e.type == WEFT_EVENT_MARK) {
		static const char *const names[] = {"i", "u", "f", "t"};
		e.text = text_of("mark");
		e.fields = fields;
		e.field_count = next_random(seed) % 13;
		for (uint32_t i = 0; i < e.field_count; i++) {
			fields[i] = (struct weft_field){text_of(names[i % 4]),
				(enum weft_field_type)(WEFT_FIELD_I64 + i % 4), {.u64 = next_random(seed)}};
			if (fields[i].type == WEFT_FIELD_F64)
				fields[i].value.f64 = 0.5 * i;
			if (fields[i].type == WEFT_FIELD_TEXT)
				fields[i].value.text = random_text(seed);
		}
	}
	return e;
}

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
