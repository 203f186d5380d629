/* SPDX-License-Identifier: ISC
 *
 * Streams made chunk by chunk: what each kind of chunk means, and what is damage, both for a stream
 * that is there at once and for one that arrives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include <weft/decoder.h>
#include <weft/text.h>

#include "made_stream.h"

#define FAR "! a time more than 2^58 ns (9 years) from the rest of the trace; it is limited "

/* Adds "TIME:TASK" for each event, with its text if it has one. */
static int add_events(struct weft_decoder *decoder, struct weft_text *text)
{
	struct weft_event event;
	int status;
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK) {
		weft_text_add_u64(text, event.time_ns);
		weft_text_add_string(text, ":");
		weft_text_add_u64(text, event.task);
		weft_text_add(text, event.text.bytes, event.text.size);
		weft_text_add_string(text, " ");
	}
	return status;
}

static void add_account(struct weft_decoder *decoder, struct weft_text *text)
{
	const struct weft_trace_description *about = weft_decoder_describe(decoder);
	const struct weft_diagnostics *diagnostics = weft_decoder_diagnostics(decoder);
	for (size_t i = 0; i < diagnostics->count; i++) {
		weft_text_add_string(text, "! ");
		weft_text_add_string(text, diagnostics->list[i].message);
		weft_text_add_string(text, " ");
	}
	for (uint32_t i = 0; i < about->loss_period_count; i++) {
		weft_text_add_string(text, "lost ");
		weft_text_add_u64(text, about->loss_periods[i].count);
		weft_text_add_string(text, " ");
		weft_text_add_string(text, weft_loss_name(about->loss_periods[i].cause));
		weft_text_add_string(text, " ");
	}
	weft_text_add(text, "", 1);
}

/* `piece`: the bytes that come at a time; 0: all are there at once. */
static void expect_read(const struct made_stream *s, size_t piece, const char *expected)
{
	struct weft_text text = {0};
	struct weft_decoder *decoder;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	if (!piece)
		assert_int_equal(weft_decoder_feed_borrowed(decoder, s->bytes, s->size), 0);
	for (size_t at = 0; piece && at < s->size; at += piece) {
		size_t size = piece < s->size - at ? piece : s->size - at;
		assert_int_equal(weft_decoder_feed(decoder, s->bytes + at, size), 0);
		assert_int_equal(add_events(decoder, &text), WEFT_AGAIN);
	}
	assert_int_equal(weft_decoder_finish(decoder), 0);
	int status = add_events(decoder, &text);
	assert_true(status == WEFT_END || status == WEFT_ERROR_DAMAGED);
	add_account(decoder, &text);
	assert_string_equal(text.bytes, expected);
	weft_text_finish(&text);
	weft_decoder_destroy(decoder);
}

static void expect(const struct made_stream *s, const char *expected)
{
	const size_t pieces[] = {0, 8, 100, sizeof(s->bytes)};
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++)
		expect_read(s, pieces[i], expected);
}

/* A stream that begins with a mark, so that it is read as it comes. */
static struct made_stream begin(void)
{
	static struct made_stream s;
	const struct weft_abi_buffer header = made_header();
	made_begin(&s, &header);
	made_mark(&s, 0);
	return s;
}

static void packets_that_cannot_be_read(void **state)
{
	struct made_stream s = begin();
	struct made_packet first = made_packet(1, 1), opening = made_packet(1, 2);
	struct made_packet unused = made_packet(1, 0), last = made_packet(1, 4);
	(void)state;
	made_switch(&first, 5, 1);
	made_switch(&opening, 6, 2);
	opening.header.state |= WEFT_ABI_PACKET_OPENING;
	made_switch(&unused, 7, 3);
	made_switch(&last, 8, 4);
	made_add_packet(&s, &first, 0);
	made_add_packet(&s, &opening, 0);
	made_add_packet(&s, &unused, 0);
	made_add_packet(&s, &last, 0);
	expect(&s, "5:1 8:4 ");
}

static void impossible_sizes_of_packets_are_reported(void **state)
{
	(void)state;
	for (uint32_t more = 1; more <= 8; more *= 2) {
		struct made_stream s = begin();
		struct made_packet p = made_packet(1, 1);
		made_switch(&p, 5, 1);
		made_add_packet(&s, &p, more);
		expect(&s, "! a packet's size is invalid ");
	}
}

static void a_name_that_comes_late_and_far_away(void **state)
{
	struct made_stream s = begin();
	struct made_packet p = made_packet(1, 1);
	(void)state;
	made_switch(&p, 5, 1);
	made_label(&p, 6, 1 + (640 << 10) / 16);
	made_name(&s, 0, "near");
	made_mark(&s, 1);
	made_name(&s, 640 << 10, "far");
	made_add_packet(&s, &p, 0);
	expect(&s, "5:1 6:1far ");
}

/* A thread that continues in a packet runs nothing yet. */
static void a_thread_begins_without_a_task(void **state)
{
	struct made_stream s = begin();
	struct made_packet p = made_packet(1, 1);
	(void)state;
	made_name(&s, 0, "name");
	made_switch(&p, 5, 1);
	made_label(&p, 6, 1);
	made_thread(&p, 7, 2);
	made_label(&p, 8, 1);
	made_add_packet(&s, &p, 0);
	expect(&s, "5:1 6:1name 8:18446744073709551615name ");
}

/* The stream's own counts say that events are missing: in which time, and for which cause. */
static void a_gap_is_stalled(void **state)
{
	struct made_stream s = begin();
	struct made_packet first = made_packet(1, 1), second = made_packet(1, 2);
	struct weft_abi_buffer header = made_header();
	(void)state;
	made_switch(&first, 5, 1);
	made_switch(&second, 8, 2);
	second.header.opened_ticks = 8;
	second.header.number = 4;
	header.losses[WEFT_ABI_LOSS_STALLED] = 3;
	made_add_packet(&s, &first, 0);
	made_chunk(&s, WEFT_ABI_CHUNK_HEADER, 0, &header, sizeof(header));
	made_add_packet(&s, &second, 0);
	expect(&s, "5:1 8:18446744073709551615 8:2 lost 3 stalled ");
}

/* A switch that a packet's header says has the offset of its field there. */
static void offsets_are_those_of_records(void **state)
{
	struct made_stream s = begin();
	struct made_packet first = made_packet(1, 1), second = made_packet(1, 2);
	struct weft_decoder *decoder;
	struct weft_event event;
	(void)state;
	made_switch(&first, 5, 1);
	made_time(&first, 1);
	made_switch(&first, 6, 2);
	second.header.opened_ticks = 8;
	second.header.number = 4;
	made_switch(&second, 9, 3);
	size_t head = sizeof(struct weft_abi_chunk) + sizeof(struct weft_abi_packet);
	size_t first_at = s.size + head;
	made_add_packet(&s, &first, 0);
	size_t second_at = s.size + head;
	made_add_packet(&s, &second, 0);
	size_t in_header = sizeof(struct weft_abi_packet) - offsetof(struct weft_abi_packet, task);
	const size_t expected[] = {first_at, first_at + 32, second_at - in_header, second_at};
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, s.bytes, s.size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_int_equal(weft_decoder_next(decoder, &event), WEFT_OK);
		assert_int_equal(event.offset, expected[i]);
	}
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_END);
	weft_decoder_destroy(decoder);
}

static void bytes_that_are_not_a_chunk(void **state)
{
	static const uint8_t nothing[48] = {1};
	struct made_stream s = begin();
	struct made_packet p = made_packet(1, 1);
	(void)state;
	made_switch(&p, 5, 1);
	made_append(&s, nothing, sizeof(nothing));
	made_add_packet(&s, &p, 0);
	expect(&s, "5:1 ! bytes that are not a chunk of a stream; skipped ");
	s = begin();
	made_add_packet(&s, &p, 0);
	made_append(&s, nothing, sizeof(nothing));
	expect(&s, "5:1 ! bytes that are not a chunk of a stream; skipped ");
	s = begin();
	made_add_packet(&s, &p, 0);
	made_mark(&s, 6);
	made_add_packet(&s, &p, 0);
	s.size -= 8;
	expect(&s, "5:1 ! the stream is cut short ");
}

static void headers_in_the_stream(void **state)
{
	struct made_stream s = begin();
	struct made_packet p = made_packet(1, 1);
	struct weft_abi_buffer header = made_header();
	(void)state;
	made_switch(&p, 5, 1);
	made_add_packet(&s, &p, 0);
	made_chunk(&s, WEFT_ABI_CHUNK_HEADER, 0, &header, sizeof(header) - 8);
	expect(&s, "5:1 ! a header chunk is invalid ");
	s = begin();
	made_add_packet(&s, &p, 0);
	header.version++;
	made_chunk(&s, WEFT_ABI_CHUNK_HEADER, 0, &header, sizeof(header));
	expect(&s, "5:1 ! a header chunk is invalid ");
	header = made_header();
	header.stop_reason = 28;
	s = begin();
	made_add_packet(&s, &p, 0);
	made_chunk(&s, WEFT_ABI_CHUNK_HEADER, 0, &header, sizeof(header));
	expect(&s, "5:1 ! recording stopped early: memory of the buffer was gone ");
}

static void a_clock_without_a_rate(void **state)
{
	struct made_stream s;
	struct made_packet p = made_packet(1, 1);
	struct weft_abi_buffer header = made_header();
	(void)state;
	header.clock = WEFT_ABI_CLOCK_CALLER;
	made_begin(&s, &header);
	made_mark(&s, 0);
	made_switch(&p, 5, 1);
	made_add_packet(&s, &p, 0);
	expect(&s, "5:1 ! the clock's rate is unknown: a tick counts as 1 ns ");
}

/* Only a part of a trace has texts and losses as chunks, and marks have no meaning in it. */
static void a_part_has_its_losses_in_a_chunk(void **state)
{
	struct made_stream s;
	struct made_packet p = made_packet(1, 1);
	const struct weft_abi_buffer header = made_header();
	const struct weft_abi_lost lost = {2, 4, 7, 1, WEFT_ABI_LOSS_FULL};
	(void)state;
	made_begin(&s, &header);
	made_chunk(&s, WEFT_ABI_CHUNK_LOST, 0, &lost, sizeof(lost));
	made_mark(&s, 0);
	made_switch(&p, 5, 1);
	made_add_packet(&s, &p, 0);
	expect(&s, "5:1 lost 7 full ");
}

/* Its list of losses is complete: no gap between its packets is one. */
static void a_part_with_a_list_of_losses_has_no_others(void **state)
{
	struct made_stream s;
	struct made_packet first = made_packet(1, 1), second = made_packet(1, 2);
	struct weft_abi_buffer header = made_header();
	const struct weft_abi_lost lost = {2, 4, 7, 1, WEFT_ABI_LOSS_FULL};
	(void)state;
	header.losses[WEFT_ABI_LOSS_STALLED] = 3;
	header.losses[WEFT_ABI_LOSS_OVERWRITTEN] = 3;
	second.header.number = 4;
	made_switch(&first, 5, 1);
	made_switch(&second, 8, 2);
	made_begin(&s, &header);
	made_chunk(&s, WEFT_ABI_CHUNK_LOST, 0, &lost, sizeof(lost));
	made_add_packet(&s, &first, 0);
	made_add_packet(&s, &second, 0);
	expect_read(&s, 0, "5:1 8:2 lost 7 full ");
}

/* Such a record may not read the next one's words. */
static void records_of_one_word_are_too_short(void **state)
{
	static const unsigned kinds[] = {WEFT_ABI_TIME, WEFT_ABI_TEXT, WEFT_ABI_THREAD};
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct made_stream s = begin();
		struct made_packet p = made_packet(1, 1);
		made_switch(&p, 5, 1);
		p.words[p.count++] = WEFT_ABI_HEAD(kinds[i], 1, 0) | 6;
		made_switch(&p, 7, 2);
		made_add_packet(&s, &p, 0);
		expect(&s, "5:1 7:2 ! an event of an unknown kind ");
	}
}

static void equal_times_are_in_the_order_of_packets(void **state)
{
	struct made_stream s = begin();
	(void)state;
	for (uint32_t i = 0; i < 7; i++) {
		struct made_packet p = made_packet(1 + i % 3, 1 + (i * 5) % 7);
		made_switch(&p, 5, 1 + (i * 5) % 7);
		p.header.opened_ticks = 5;
		made_add_packet(&s, &p, 0);
	}
	expect(&s, "5:1 5:2 5:3 5:4 5:5 5:6 5:7 ");
	s = begin();
	for (uint32_t i = 0; i < 5; i++) { /* the same sequence: as in the file */
		struct made_packet p = made_packet(1 + i, 9);
		made_switch(&p, 5, i);
		p.header.opened_ticks = 5;
		made_add_packet(&s, &p, 0);
	}
	expect(&s, "5:0 5:1 5:2 5:3 5:4 ");
}

static void texts_in_chunks(void **state)
{
	struct made_stream s;
	struct made_packet p = made_packet(1, 1);
	const struct weft_abi_buffer header = made_header();
	(void)state;
	made_switch(&p, 5, 1);
	made_long_label(&p, 6, 7);
	made_begin(&s, &header);
	made_text(&s, 7, 8, "12345678");
	made_text(&s, 7, 8, "87654321"); /* numbers ascend */
	made_add_packet(&s, &p, 0);
	expect(&s, "5:1 6:112345678 ! a text chunk is invalid ");
	made_begin(&s, &header);
	made_text(&s, 6, 9, "12345678"); /* longer than its chunk */
	made_text(&s, 7, 8, "12345678");
	made_add_packet(&s, &p, 0);
	expect(&s, "5:1 6:112345678 ! a text chunk is invalid ");
}

static void chunks_that_are_too_large(void **state)
{
	static const uint8_t nothing[16];
	static uint8_t large[MADE_PACKET_BYTES + 8];
	struct made_stream s = begin();
	struct made_packet p = made_packet(1, 1);
	(void)state;
	made_switch(&p, 5, 1);
	made_chunk(&s, WEFT_ABI_CHUNK_NAMES, WEFT_ABI_NAMES_MAX_BYTES - 8, nothing, 16);
	made_chunk(&s, WEFT_ABI_CHUNK_NAMES, WEFT_ABI_NAMES_MAX_BYTES - 8, nothing, 8);
	made_add_packet(&s, &p, 0);
	expect(&s, "5:1 ! a chunk of names that no event can refer to ");
	s = begin();
	made_add_packet(&s, &p, 0);
	memcpy(large, &p.header, sizeof(p.header));
	made_chunk(&s, WEFT_ABI_CHUNK_PACKET, 0, large, sizeof(large));
	expect(&s, "5:1 ! a packet's size is invalid ");
}

/* Chunks are aligned to 8 bytes: one of another size is not a chunk. */
static void chunks_are_found_behind_damage(void **state)
{
	static const uint8_t nothing[16];
	struct made_stream s = begin();
	struct made_packet p = made_packet(1, 1);
	(void)state;
	made_switch(&p, 5, 1);
	made_append(&s, nothing, 8);
	made_add_packet(&s, &p, 0);
	expect(&s, "5:1 ! bytes that are not a chunk of a stream; skipped ");
	s = begin();
	made_chunk(&s, WEFT_ABI_CHUNK_NOTHING, 0, nothing, 12);
	made_append(&s, nothing, 4);
	made_add_packet(&s, &p, 0);
	expect(&s, "5:1 ! bytes that are not a chunk of a stream; skipped ");
}

/* A packet that was opened at these ticks, and an event `later` than that. */
static void add_at(struct made_stream *s, uint64_t sequence, uint64_t ticks, uint32_t later)
{
	struct made_packet p = made_packet((uint32_t)sequence, sequence);
	p.header.base_ticks = p.header.opened_ticks = ticks;
	made_switch(&p, later, sequence);
	made_add_packet(s, &p, 0);
}

/* Most packets are in the time of the trace; the times of the others are limited to its ends. Only
 * a reader that has all of them can know. */
static void packets_far_from_the_others(void **state)
{
	struct made_stream s = begin();
	const uint64_t century = 1ull << 60;
	(void)state;
	for (uint64_t sequence = 2; sequence < 9; sequence++)
		add_at(&s, sequence, 7, 0);
	add_at(&s, 1, century, 0); /* before the others, which have the same time then */
	expect_read(&s, 0, "7:1 7:2 7:3 7:4 7:5 7:6 7:7 7:8 " FAR);
	s = begin();
	add_at(&s, 9, 5, 0); /* after packet 2 */
	add_at(&s, 2, century + 5, 0);
	add_at(&s, 3, century + 7, 1);
	expect_read(&s, 0,
		"1152921504606846981:2 1152921504606846981:9 1152921504606846984:3 " FAR
		"! time goes backwards within a packet; the previous time is used ");
}

static void an_event_far_from_the_others(void **state)
{
	struct made_stream s = begin();
	struct made_packet p = made_packet(1, 1);
	(void)state;
	made_switch(&p, 5, 1);
	made_time(&p, 1ull << 60);
	made_switch(&p, 6, 2);
	made_time(&p, 0);
	made_switch(&p, 7, 3);
	made_add_packet(&s, &p, 0);
	expect(&s, "5:1 5:2 7:3 " FAR);
}

/* Times centuries after the first packet are damage; years are not. */
static void times_far_away(void **state)
{
	const uint64_t years = 9ull * 365 * 86400 * 1000000000;
	struct made_stream s = begin();
	struct made_packet first = made_packet(1, 1), late = made_packet(2, 2);
	(void)state;
	made_switch(&first, 5, 1);
	made_switch(&late, 5, 2);
	late.header.base_ticks = years;
	late.header.opened_ticks = years;
	made_add_packet(&s, &first, 0);
	made_add_packet(&s, &late, 0);
	expect(&s, "5:1 283824000000000005:2 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_that_cannot_be_read),
		cmocka_unit_test(impossible_sizes_of_packets_are_reported),
		cmocka_unit_test(a_name_that_comes_late_and_far_away),
		cmocka_unit_test(a_thread_begins_without_a_task),
		cmocka_unit_test(a_gap_is_stalled),
		cmocka_unit_test(offsets_are_those_of_records),
		cmocka_unit_test(bytes_that_are_not_a_chunk),
		cmocka_unit_test(headers_in_the_stream),
		cmocka_unit_test(a_clock_without_a_rate),
		cmocka_unit_test(a_part_has_its_losses_in_a_chunk),
		cmocka_unit_test(a_part_with_a_list_of_losses_has_no_others),
		cmocka_unit_test(records_of_one_word_are_too_short),
		cmocka_unit_test(equal_times_are_in_the_order_of_packets),
		cmocka_unit_test(texts_in_chunks),
		cmocka_unit_test(chunks_that_are_too_large),
		cmocka_unit_test(chunks_are_found_behind_damage),
		cmocka_unit_test(packets_far_from_the_others),
		cmocka_unit_test(an_event_far_from_the_others),
		cmocka_unit_test(times_far_away),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
