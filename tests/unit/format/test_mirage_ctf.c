/* SPDX-License-Identifier: ISC
 *
 * mirage-profile CTF made by hand: order of packets, and every kind of damage.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "decoded.h"

/* A stream under construction. */
struct stream {
	uint8_t bytes[1 << 16];
	size_t size;
	size_t packet; /* offset of the last one's header */
};

static void put(struct stream *s, uint64_t number, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		s->bytes[s->size++] = (uint8_t)(number >> 8 * i);
}

static void put_text(struct stream *s, const char *text)
{
	memcpy(s->bytes + s->size, text, strlen(text) + 1);
	s->size += strlen(text) + 1;
}

static void set(struct stream *s, size_t at, uint32_t number)
{
	for (size_t i = 0; i < 4; i++)
		s->bytes[at + i] = (uint8_t)(number >> 8 * i);
}

static void begin_packet(struct stream *s, uint16_t count)
{
	static const uint8_t signature[] = {0xc1, 0x1f, 0xfc, 0xc1, 0x05, 0x88, 0x3b, 0x8d, 0x52, 0x1a,
		0x48, 0x7b, 0xb3, 0x97, 0x45, 0x6a, 0xb1, 0x50, 0x68, 0x0c};
	s->packet = s->size;
	memcpy(s->bytes + s->size, signature, sizeof(signature));
	s->size += sizeof(signature);
	put(s, 0, 4);
	put(s, count, 2);
	put(s, 0, 4);
}

static void set_sizes(struct stream *s, uint32_t bytes, uint32_t content)
{
	set(s, s->packet + 20, bytes * 8);
	set(s, s->packet + 26, content * 8);
}

static void end_packet(struct stream *s)
{
	uint32_t bytes = (uint32_t)(s->size - s->packet);
	set_sizes(s, bytes, bytes);
}

/* 17 bytes. */
static void put_switch(struct stream *s, uint64_t time, uint64_t task)
{
	put(s, time, 8);
	put(s, 7, 1);
	put(s, task, 8);
}

static void put_packet(struct stream *s, uint16_t count, uint64_t time)
{
	begin_packet(s, count);
	put_switch(s, time, count);
	end_packet(s);
}

/* Expects the tasks of a trace of switches, in order: "1 2 3 ". */
static void assert_switches(struct decoded *d, const char *expected)
{
	char got[4096] = "";
	const char *at = d->lines.bytes;
	while ((at = strstr(at, "\"task\":"))) {
		unsigned long long task;
		at += 7;
		if (sscanf(at, "%llu", &task) == 1)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%llu ", task);
	}
	assert_string_equal(got, expected);
}

static struct decoded decode_stream(const struct stream *s)
{
	/* A copy of exactly that size, so that a sanitizer sees a read past it. */
	uint8_t *copy = malloc(s->size ? s->size : 1);
	memcpy(copy, s->bytes, s->size);
	struct decoded d = decode(copy, s->size, 0), pieces = decode(copy, s->size, 1);
	assert_int_equal(d.count, pieces.count);
	assert_string_equal(d.lines.bytes, pieces.lines.bytes);
	assert_memory_equal(&d.diagnostics, &pieces.diagnostics, sizeof(d.diagnostics));
	assert_true(d.in_order);
	weft_text_finish(&pieces.lines);
	free(copy);
	return d;
}

#define CASE(s)             \
	static struct stream s; \
	memset(&s, 0, sizeof(s))

static void fields_are_unaligned_and_signed(void **state)
{
	(void)state;
	CASE(s);
	begin_packet(&s, 0);
	put(&s, 1700000000000000000, 8);
	put(&s, 6, 1);
	put(&s, 5, 8);
	put(&s, (uint64_t)INT64_MIN, 8);
	put_text(&s, "n");
	end_packet(&s);
	struct decoded d = decode_stream(&s);
	assert_string_equal(d.lines.bytes,
		"{\"time\":1700000000000000000,\"event\":\"counter\",\"task\":5,\"name\":\"n\","
		"\"add\":-9223372036854775808}\n");
	assert_string_equal(d.format, "mirage-ctf");
	assert_int_equal(d.clock.epoch, WEFT_EPOCH_UNIX);
	assert_int_equal(d.diagnostics.count, 0);
	weft_text_finish(&d.lines);
}

static void the_ring_may_start_anywhere(void **state)
{
	(void)state;
	for (uint16_t turn = 0; turn < 5; turn++) {
		CASE(s);
		for (uint16_t i = 0; i < 5; i++) {
			uint16_t n = (uint16_t)((i + turn) % 5);
			put_packet(&s, (uint16_t)(65534 + n), 77); /* equal times: only the counts differ */
		}
		struct decoded d = decode_stream(&s);
		assert_switches(&d, "65534 65535 0 1 2 ");
		assert_int_equal(d.diagnostics.count, 0);
		weft_text_finish(&d.lines);
	}
}

static void unused_packets_are_fine(void **state)
{
	(void)state;
	CASE(s);
	put_packet(&s, 5, 50);
	put_packet(&s, 4, 40);
	begin_packet(&s, 2);
	end_packet(&s);
	begin_packet(&s, 3);
	s.size += 100; /* unused room */
	set_sizes(&s, 130, 30);
	struct decoded d = decode_stream(&s);
	assert_switches(&d, "4 5 ");
	assert_int_equal(d.diagnostics.count, 0);
	assert_int_equal(d.ended, WEFT_END);
	weft_text_finish(&d.lines);
}

static void a_clock_that_steps_back_keeps_the_order(void **state)
{
	(void)state;
	CASE(s);
	begin_packet(&s, 0);
	const uint64_t times[] = {5, 9, 3, 3, 9, 1, 7, 3};
	for (size_t i = 0; i < 8; i++)
		put_switch(&s, times[i], i);
	end_packet(&s);
	struct decoded d = decode_stream(&s);
	assert_switches(&d, "0 1 2 3 4 5 6 7 ");
	assert_true(d.in_order);
	weft_text_finish(&d.lines);
}

static void an_unknown_op_loses_the_rest_of_its_packet(void **state)
{
	(void)state;
	for (unsigned op = 14; op < 256; op += 30) {
		CASE(s);
		begin_packet(&s, 0);
		put_switch(&s, 1, 1);
		put(&s, 2, 8);
		put(&s, op, 1);
		put_switch(&s, 3, 3);
		end_packet(&s);
		put_packet(&s, 4, 4);
		struct decoded d = decode_stream(&s);
		uint64_t offset = 0;
		assert_switches(&d, "1 4 ");
		assert_int_equal(
			times_reported(&d, "unknown op; the rest of its packet is skipped", &offset), 1);
		assert_int_equal(offset, 30 + 17);
		weft_text_finish(&d.lines);
	}
}

static void a_string_without_end(void **state)
{
	(void)state;
	CASE(s);
	begin_packet(&s, 0);
	put_switch(&s, 1, 1);
	put(&s, 2, 8);
	put(&s, 5, 1);
	put(&s, 9, 8);
	put(&s, 0x41414141, 4);
	end_packet(&s);
	put_packet(&s, 2, 3);
	struct decoded d = decode_stream(&s);
	uint64_t offset = 0;
	assert_switches(&d, "1 2 ");
	assert_int_equal(times_reported(&d, "string without end", &offset), 1);
	assert_int_equal(offset, 30 + 17);
	weft_text_finish(&d.lines);
}

/* The events before the cut are there, wherever the last packet is cut. */
static void a_truncated_packet(void **state)
{
	(void)state;
	CASE(whole);
	put_packet(&whole, 1, 1);
	begin_packet(&whole, 2);
	put_switch(&whole, 2, 2);
	put_switch(&whole, 3, 3);
	end_packet(&whole);
	for (size_t cut = 47; cut < whole.size; cut++) {
		CASE(s);
		memcpy(&s, &whole, sizeof(s));
		s.size = cut;
		struct decoded d = decode_stream(&s);
		assert_switches(&d, cut >= 47 + 30 + 17 ? "1 2 " : "1 ");
		assert_true(cut == 47 || d.diagnostics.count > 0);
		weft_text_finish(&d.lines);
	}
}

static void absurd_sizes(void **state)
{
	(void)state;
	const uint32_t sizes[] = {0, 1, 29, 30, 46, 48, 1000, 0x1fffffff};
	for (size_t i = 0; i < 8; i++) {
		for (size_t k = 0; k < 8; k++) {
			CASE(s);
			put_packet(&s, 1, 1);
			put_packet(&s, 2, 2);
			set_sizes(&s, sizes[i], sizes[k]);
			put_packet(&s, 3, 3);
			struct decoded d = decode_stream(&s);
			/* The middle packet's event is there if its content size allows. */
			assert_switches(
				&d, sizes[k] < 47 || sizes[i] == 30 || sizes[i] == 46 ? "1 3 " : "1 2 3 ");
			assert_true(d.diagnostics.count > 0);
			weft_text_finish(&d.lines);
		}
	}
}

static void overlapping_packets(void **state)
{
	(void)state;
	CASE(s);
	begin_packet(&s, 1);
	put_switch(&s, 1, 1);
	set_sizes(&s, 47 + 47, 47); /* it claims the next one's room */
	put_packet(&s, 2, 2);
	put_packet(&s, 3, 3);
	struct decoded d = decode_stream(&s);
	uint64_t offset = 1;
	assert_switches(&d, "1 2 3 ");
	assert_int_equal(times_reported(&d, "packet overlaps the next one", &offset), 1);
	assert_int_equal(offset, 0);
	weft_text_finish(&d.lines);
}

static void garbage_around_packets(void **state)
{
	(void)state;
	CASE(s);
	put(&s, 0xc1fc1fc1, 4); /* a magic without its uuid is nothing */
	put(&s, 0xdeadbeef, 4);
	put_packet(&s, 1, 1);
	put(&s, 0xc1c1c1c1c1c1c1c1, 8);
	put_packet(&s, 2, 2);
	put(&s, 0xc1fc1fc1, 4);
	struct decoded d = decode_stream(&s);
	uint64_t offset = 1;
	assert_switches(&d, "1 2 ");
	assert_int_equal(times_reported(&d, "bytes before the first packet", &offset), 1);
	assert_int_equal(offset, 0);
	assert_int_equal(times_reported(&d, "bytes between packets", &offset), 1);
	assert_int_equal(offset, 8 + 47);
	assert_int_equal(times_reported(&d, "bytes after the last packet", &offset), 1);
	assert_int_equal(offset, s.size - 4);
	weft_text_finish(&d.lines);
}

static void a_header_cut_short_is_no_event(void **state)
{
	(void)state;
	CASE(s);
	begin_packet(&s, 0);
	for (s.size = 20; s.size < 30; s.size++) {
		struct decoded d = decode_stream(&s);
		assert_int_equal(d.finished, 0);
		assert_int_equal(d.ended, WEFT_ERROR_DAMAGED);
		assert_int_equal(times_reported(&d, "packet header is cut short", NULL), 1);
		weft_text_finish(&d.lines);
	}
}

/* Whether a packet at this offset, behind zeros, makes the bytes a trace. */
static int opened_with_packet_at(size_t offset)
{
	CASE(s);
	begin_packet(&s, 0);
	put_switch(&s, 1000, 1);
	end_packet(&s);
	uint8_t *bytes = calloc(1, offset + s.size);
	struct weft_decoder *decoder;
	assert_non_null(bytes);
	memcpy(bytes + offset, s.bytes, s.size);
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, bytes, offset + s.size), 0);
	int status = weft_decoder_finish(decoder);
	weft_decoder_destroy(decoder);
	free(bytes);
	return status;
}

static void only_the_beginning_is_searched(void **state)
{
	(void)state;
	const size_t searched = (size_t)64 << 20, signature = 20;
	assert_int_equal(opened_with_packet_at(searched - signature), 0);
	assert_int_equal(opened_with_packet_at(searched - signature + 1), WEFT_ERROR_FORMAT);
}

/* After any damage, events are in order and bounded, and no more than before. */
static void random_damage(void **state)
{
	(void)state;
	uint64_t seed = 1;
	for (unsigned round = 0; round < 2000; round++) {
		CASE(s);
		for (uint16_t i = 0; i < 8; i++) {
			begin_packet(&s, i);
			for (unsigned k = 0; k < 4; k++)
				put_switch(&s, next_random(&seed) % 1000, k);
			end_packet(&s);
		}
		for (unsigned k = next_random(&seed) % 8; k > 0; k--)
			s.bytes[next_random(&seed) % s.size] = (uint8_t)next_random(&seed);
		if (next_random(&seed) % 4 == 0)
			s.size = next_random(&seed) % s.size;
		struct decoded d = decode_stream(&s);
		assert_true(d.count <= s.size / 10);
		weft_text_finish(&d.lines);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_unaligned_and_signed),
		cmocka_unit_test(the_ring_may_start_anywhere),
		cmocka_unit_test(unused_packets_are_fine),
		cmocka_unit_test(a_clock_that_steps_back_keeps_the_order),
		cmocka_unit_test(an_unknown_op_loses_the_rest_of_its_packet),
		cmocka_unit_test(a_string_without_end),
		cmocka_unit_test(a_truncated_packet),
		cmocka_unit_test(absurd_sizes),
		cmocka_unit_test(overlapping_packets),
		cmocka_unit_test(garbage_around_packets),
		cmocka_unit_test(a_header_cut_short_is_no_event),
		cmocka_unit_test(only_the_beginning_is_searched),
		cmocka_unit_test(random_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
