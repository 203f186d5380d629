/* SPDX-License-Identifier: ISC
 *
 * After a seek, the events are those of the whole trace from that time on, whatever is missing or
 * damaged.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "decoded.h"
#include "format/forget.h"
#include "made_stream.h"

enum {
	THREADS = 3,
	PACKETS = 150,
	EVENTS_MAX = 12, /* of a packet */
};

/* Where each packet's chunk begins, and when its thread's next packet may. */
struct random_stream {
	struct made_stream made;
	size_t at[PACKETS];
	uint32_t packets;
	uint32_t last_ticks;
};

static struct random_stream stream;

/* Some packets are missing, some are shared by a thread that goes on in them. */
static void make_stream(uint64_t *seed)
{
	const struct weft_abi_buffer header = made_header();
	uint32_t ticks[THREADS] = {1000, 1000, 1000}, now = 1000;
	uint64_t number[THREADS] = {0}, lost[THREADS] = {0};
	stream = (struct random_stream){.last_ticks = 0};
	made_begin(&stream.made, &header);
	for (uint32_t i = 0; i < PACKETS; i++) {
		uint32_t thread = next_random(seed) % THREADS, events = next_random(seed) % EVENTS_MAX;
		struct made_packet packet = made_packet(thread + 1, i + 1);
		now += next_random(seed) % 40;
		ticks[thread] = ticks[thread] > now ? ticks[thread] : now;
		packet.header.opened_ticks = ticks[thread];
		packet.header.number = number[thread];
		packet.header.task = next_random(seed) % 9;
		packet.header.lost = lost[thread] += next_random(seed) % 8 == 0;
		for (uint32_t k = 0; k < events; k++)
			made_switch(&packet, ticks[thread] += next_random(seed) % 30, next_random(seed) % 9);
		if (next_random(seed) % 20 == 0)
			made_thread(&packet, ticks[thread], THREADS + 1 + i);
		number[thread] += events;
		stream.last_ticks = ticks[thread] > stream.last_ticks ? ticks[thread] : stream.last_ticks;
		if (next_random(seed) % 15 == 0)
			continue;
		stream.at[stream.packets++] = stream.made.size;
		made_add_packet(&stream.made, &packet, 0);
	}
}

/* Changes one member of a packet's header. Returns when the packet was opened. */
static uint64_t damage(uint64_t *seed)
{
	struct weft_abi_packet header;
	unsigned char *at = stream.made.bytes + stream.at[next_random(seed) % stream.packets] +
						sizeof(struct weft_abi_chunk);
	memcpy(&header, at, sizeof(header));
	const uint64_t opened = header.opened_ticks;
	switch (next_random(seed) % 6) {
	case 0:
		header.opened_ticks = opened - 500 + next_random(seed) % 1000;
		break;
	case 1:
		header.base_ticks = opened + 1 + next_random(seed) % stream.last_ticks;
		break;
	case 2:
		header.thread = next_random(seed) % (2 * THREADS);
		break;
	case 3:
		header.number = next_random(seed) % 100;
		break;
	case 4:
		header.state = (uint64_t)(next_random(seed) % PACKETS) << 2 | next_random(seed) % 4;
		break;
	default:
		header.committed = next_random(seed) % (2 * MADE_PACKET_BYTES);
		break;
	}
	memcpy(at, &header, sizeof(header));
	return opened;
}

static void forget_nothing(void *context)
{
	(void)context;
}

/* The lines of all events from a time on; of a decoder that seeks it first, if `seeks`, and that
 * reads copies of the packets' headers. `*ret_read` is the number of events that were decoded. */
static struct weft_text lines_from(uint64_t time_ns, bool seeks, uint32_t *ret_read)
{
	struct weft_decoder *decoder;
	struct weft_lines lines;
	struct weft_event event;
	struct weft_text text = {0};
	int status;
	*ret_read = 0;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, stream.made.bytes, stream.made.size), 0);
	const struct weft__forget forget = {forget_nothing, NULL};
	weft__format_decoder_lend_forget(decoder, seeks ? &forget : NULL);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	weft_lines_init(&lines, weft_decoder_describe(decoder), 0);
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK) {
		if (event.time_ns >= time_ns)
			weft_lines_add_json(&lines, &event, &text);
		else if (seeks && *ret_read == 0)
			assert_int_equal(weft_decoder_seek(decoder, time_ns), 0);
		++*ret_read;
	}
	assert_int_equal(status, WEFT_END);
	weft_decoder_destroy(decoder);
	weft_text_add(&text, "", 1);
	return text;
}

static void compare(uint64_t time_ns)
{
	uint32_t read;
	struct weft_text whole = lines_from(time_ns, false, &read);
	struct weft_text part = lines_from(time_ns, true, &read);
	assert_string_equal(part.bytes, whole.bytes);
	weft_text_finish(&whole);
	weft_text_finish(&part);
}

static void events_are_those_of_the_whole_trace(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint64_t random = seed;
		make_stream(&random);
		for (int i = 0; i < 10; i++)
			compare(1000 + next_random(&random) % (stream.last_ticks - 900));
	}
}

/* One damaged header has no effect on what is read. */
static void damaged_packets_are_read_as_in_the_whole_trace(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 600; seed++) {
		uint64_t random = seed;
		make_stream(&random);
		const uint64_t opened = damage(&random);
		for (int i = 0; i < 4; i++)
			compare(opened - 500 + next_random(&random) % 1000);
	}
}

static void packets_before_the_time_are_not_read(void **state)
{
	(void)state;
	uint64_t random = 1;
	uint32_t whole, part;
	make_stream(&random);
	struct weft_text text = lines_from(stream.last_ticks, false, &whole);
	weft_text_finish(&text);
	text = lines_from(stream.last_ticks, true, &part);
	weft_text_finish(&text);
	assert_in_range(whole, 500, 1000);
	/* Those of two packets of each thread, and of the packets that threads share. */
	assert_in_range(part, 1, 1 + (2 * THREADS + PACKETS / 20 + 8) * EVENTS_MAX);
	assert_true(part < whole / 2);
}

/* The running task is known, though the switch to it was not read. */
static void the_task_of_each_thread_is_given_first(void **state)
{
	(void)state;
	struct weft_decoder *decoder;
	struct weft_event event;
	bool is_known[2 * PACKETS] = {false};
	uint64_t random = 1;
	uint32_t threads = 0;
	make_stream(&random);
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, stream.made.bytes, stream.made.size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	assert_int_equal(weft_decoder_seek(decoder, stream.last_ticks), 0);
	while (weft_decoder_next(decoder, &event) == WEFT_OK) {
		/* Threads that go on in packets of others are read from their first event on. */
		if (event.thread >= THREADS || is_known[event.thread])
			continue;
		assert_int_equal(event.type, WEFT_EVENT_SWITCH);
		threads += event.is_rundown;
		is_known[event.thread] = event.is_rundown;
	}
	assert_int_equal(threads, THREADS);
	weft_decoder_destroy(decoder);
}

static void a_decoder_seeks_when_it_has_all_bytes(void **state)
{
	(void)state;
	static const char form[] = "((time 1413637708.834171)(op(Creates 0 1 Task)))\n";
	struct weft_decoder *decoder;
	struct weft_event event;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_seek(decoder, 5), WEFT_ERROR_STATE);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, form, sizeof(form) - 1), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	/* A format that is not read in parts gives all events. */
	assert_int_equal(weft_decoder_seek(decoder, UINT64_MAX), 0);
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_OK);
	weft_decoder_destroy(decoder);
}

/* ---- Memory that is given back while a stream is opened ---- */

static void count_forgets(void *calls)
{
	++*(int *)calls;
}

static int read_all(const uint8_t *bytes, size_t size, const struct weft__forget *forget)
{
	struct weft_decoder *decoder;
	struct weft_event event;
	int count = 0;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, bytes, size), 0);
	weft__format_decoder_lend_forget(decoder, forget);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	weft__format_decoder_lend_forget(decoder, NULL);
	while (weft_decoder_next(decoder, &event) == WEFT_OK)
		count++;
	weft_decoder_destroy(decoder);
	return count;
}

static void memory_is_given_back_while_a_long_stream_is_opened(void **state)
{
	(void)state;
	const size_t hole = (size_t)40 << 20;
	const struct weft_abi_chunk nothing = {
		WEFT_ABI_CHUNK_MAGIC, WEFT_ABI_CHUNK_NOTHING, (uint32_t)hole, 0};
	int calls = 0;
	const struct weft__forget forget = {count_forgets, &calls};
	uint64_t random = 3;
	make_stream(&random);
	const int events = read_all(stream.made.bytes, stream.made.size, NULL);
	assert_int_equal(read_all(stream.made.bytes, stream.made.size, &forget), events);
	assert_int_equal(calls, 0);
	/* The same behind a long chunk. */
	const size_t header = sizeof(struct weft_abi_buffer), more = sizeof(nothing) + hole;
	uint8_t *bytes = calloc(1, stream.made.size + more);
	assert_non_null(bytes);
	memcpy(bytes, stream.made.bytes, header);
	memcpy(bytes + header, &nothing, sizeof(nothing));
	memcpy(bytes + header + more, stream.made.bytes + header, stream.made.size - header);
	assert_int_equal(read_all(bytes, stream.made.size + more, &forget), events);
	assert_int_equal(calls, 1);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_those_of_the_whole_trace),
		cmocka_unit_test(damaged_packets_are_read_as_in_the_whole_trace),
		cmocka_unit_test(packets_before_the_time_are_not_read),
		cmocka_unit_test(the_task_of_each_thread_is_given_first),
		cmocka_unit_test(a_decoder_seeks_when_it_has_all_bytes),
		cmocka_unit_test(memory_is_given_back_while_a_long_stream_is_opened),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
