/* SPDX-License-Identifier: ISC
 *
 * Streams that are merged while they arrive, in pieces and in any order of the parts.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/decoder.h>

#include "decoded.h"
#include "format/kept.h"
#include "made_stream.h"

enum {
	PARTS = 3,
	EVENTS = 300,
};

struct made_event {
	uint64_t time_ns;
	unsigned part;
};

/* A part's stream, and how much of it was fed. */
struct feed {
	struct made_stream stream;
	struct weft_decoder *decoder;
	size_t fed;
	size_t mark_ends[EVENTS]; /* bytes up to a mark's end */
	uint64_t marks[EVENTS];
	unsigned mark_count, read_marks;
	bool is_finished;
};

/* Times grow, and are often equal. The task of an event is its number. */
static void make_events(struct made_event *events, uint64_t *seed)
{
	uint64_t now = 1000;
	for (unsigned i = 0; i < EVENTS; i++) {
		now += next_random(seed) % 3 * 5;
		events[i] = (struct made_event){now, next_random(seed) % PARTS};
	}
}

static void put_mark(struct feed *feed, uint64_t time_ns)
{
	made_mark(&feed->stream, time_ns);
	feed->marks[feed->mark_count] = time_ns;
	feed->mark_ends[feed->mark_count++] = feed->stream.size;
}

/* A part has a mark now and then, also while it has no events. */
static void make_streams(struct feed *feeds, const struct made_event *events, uint64_t *seed)
{
	for (unsigned p = 0; p < PARTS; p++) {
		struct weft_abi_buffer header = made_header();
		header.uuid[0] = (uint8_t)(1 + p);
		memset(&feeds[p], 0, sizeof(feeds[p]));
		made_begin(&feeds[p].stream, &header);
		for (unsigned i = 0; i < EVENTS; i++) {
			if (next_random(seed) % 4 == 0)
				put_mark(&feeds[p], events[i].time_ns);
			if (events[i].part != p)
				continue;
			struct made_packet packet = made_packet(1, i + 1);
			packet.header.base_ticks = events[i].time_ns;
			made_switch(&packet, 0, i);
			made_add_packet(&feeds[p].stream, &packet, 0);
		}
		put_mark(&feeds[p], events[EVENTS - 1].time_ns + 1);
		assert_int_equal(weft_decoder_create(&feeds[p].decoder), 0);
	}
}

/* The events in the order of time; those of equal times in the order of parts. */
static int by_time(const void *left, const void *right)
{
	const struct made_event *l = *(struct made_event *const *)left,
							*r = *(struct made_event *const *)right;
	if (l->time_ns != r->time_ns)
		return l->time_ns < r->time_ns ? -1 : 1;
	if (l->part != r->part)
		return l->part < r->part ? -1 : 1;
	return l < r ? -1 : l > r;
}

/* Feeds one part some bytes, or finishes it. */
static void feed_some(struct feed *feed, uint64_t *seed)
{
	size_t left = feed->stream.size - feed->fed;
	if (left == 0) {
		if (!feed->is_finished)
			assert_int_equal(weft_decoder_finish(feed->decoder), 0);
		feed->is_finished = true;
		return;
	}
	size_t size = 1 + next_random(seed) % 700;
	size = size < left ? size : left;
	assert_int_equal(weft_decoder_feed(feed->decoder, feed->stream.bytes + feed->fed, size), 0);
	feed->fed += size;
	while (feed->read_marks < feed->mark_count && feed->mark_ends[feed->read_marks] <= feed->fed)
		feed->read_marks++;
}

/* The time before which all parts are complete. */
static uint64_t limit_of(const struct feed *feeds)
{
	uint64_t limit = UINT64_MAX;
	for (unsigned p = 0; p < PARTS; p++) {
		uint64_t mark = feeds[p].read_marks ? feeds[p].marks[feeds[p].read_marks - 1] : 0;
		if (!feeds[p].is_finished && mark < limit)
			limit = mark;
	}
	return limit;
}

static unsigned count_before(struct made_event *const *sorted, uint64_t limit)
{
	unsigned count = 0;
	while (count < EVENTS && sorted[count]->time_ns < limit)
		count++;
	return count;
}

/* Every event comes as soon as the marks of all parts have passed it, and none before. */
static void events_come_up_to_the_least_mark(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 60; seed++) {
		static struct made_event events[EVENTS];
		static struct feed feeds[PARTS];
		struct made_event *sorted[EVENTS];
		struct weft_decoder_part parts[PARTS];
		struct weft_decoder *merged;
		struct weft_event event;
		unsigned given = 0;
		int status = WEFT_AGAIN;
		make_events(events, &seed);
		make_streams(feeds, events, &seed);
		for (unsigned i = 0; i < EVENTS; i++)
			sorted[i] = &events[i];
		qsort(sorted, EVENTS, sizeof(sorted[0]), by_time);
		for (unsigned p = 0; p < PARTS; p++)
			parts[p] = (struct weft_decoder_part){feeds[p].decoder, NULL};
		assert_int_equal(weft_decoder_create_merged(parts, PARTS, &merged), 0);
		while (status != WEFT_END) {
			while ((status = weft_decoder_next(merged, &event)) == WEFT_OK) {
				assert_true(given < EVENTS);
				assert_int_equal(event.time_ns, sorted[given]->time_ns);
				assert_int_equal(event.task, sorted[given] - events);
				assert_int_equal(event.buffer, sorted[given]->part);
				given++;
			}
			uint64_t limit = limit_of(feeds);
			assert_int_equal(given, count_before(sorted, limit));
			assert_int_equal(weft_decoder_mark(merged), limit == UINT64_MAX ? 0 : limit);
			assert_int_equal(status, limit == UINT64_MAX ? WEFT_END : WEFT_AGAIN);
			feed_some(&feeds[next_random(&seed) % PARTS], &seed);
		}
		assert_int_equal(given, EVENTS);
		assert_int_equal(weft_decoder_describe(merged)->buffer_count, PARTS);
		assert_false(weft_decoder_is_pending(merged));
		weft_decoder_destroy(merged);
		for (unsigned p = 0; p < PARTS; p++)
			weft_decoder_destroy(feeds[p].decoder);
	}
}

/* A mark before the last one promises less than was promised. */
static void a_mark_does_not_go_back(void **state)
{
	static struct made_stream stream;
	struct weft_abi_buffer header = made_header();
	struct made_packet packet = made_packet(1, 1);
	struct weft_decoder *decoder;
	struct weft_event event;
	(void)state;
	made_begin(&stream, &header);
	packet.header.base_ticks = 1000;
	made_switch(&packet, 0, 7);
	made_switch(&packet, 400, 7);
	made_add_packet(&stream, &packet, 0);
	for (uint64_t mark = 2000; mark >= 1200; mark -= 400)
		made_mark(&stream, mark);
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed(decoder, stream.bytes, stream.size), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(weft_decoder_next(decoder, &event), WEFT_OK);
	assert_int_equal(event.time_ns, 1400);
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_AGAIN);
	assert_int_equal(weft_decoder_mark(decoder), 2000);
	weft_decoder_destroy(decoder);
}

/* ---- Clocks ---- */

/* A stream on the processor's counter, with an event at 5,000,000,000 ticks. Its own readings make
 * that 2.5 s and `skew_ns`. */
static void make_counter(struct made_stream *stream, uint8_t uuid, uint64_t start, int64_t skew_ns)
{
	struct weft_abi_buffer header = made_header();
	struct made_packet packet = made_packet(1, 1);
	header.uuid[0] = uuid;
	header.boot_id[0] = 1;
	header.clock = WEFT_ABI_CLOCK_TSC;
	header.start.ticks = start;
	header.start.monotonic_ns = start / 2;
	header.second.ticks = 5000000000;
	header.second.monotonic_ns = (uint64_t)(2500000000 + skew_ns);
	made_begin(stream, &header);
	packet.header.base_ticks = 5000000000;
	made_switch(&packet, 0, uuid);
	made_add_packet(stream, &packet, 0);
	made_mark(stream, 5000000010);
}

static uint64_t time_alone(const struct made_stream *stream)
{
	struct weft_decoder *decoder;
	struct weft_event event;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed(decoder, stream->bytes, stream->size), 0);
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_OK);
	weft_decoder_destroy(decoder);
	return event.time_ns;
}

/* Two programs read the same counter; each noted another time for it. */
static void parts_share_a_clock(void **state)
{
	(void)state;
	static struct made_stream streams[2];
	struct weft_decoder *decoders[2], *merged;
	struct weft_decoder_part parts[2] = {0};
	struct weft_event event;
	uint64_t times[2];
	make_counter(&streams[0], 1, 1000000000, 0);
	make_counter(&streams[1], 2, 2000000000, 3000);
	assert_in_range(time_alone(&streams[1]) - time_alone(&streams[0]), 2999, 3001);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(weft_decoder_create(&decoders[i]), 0);
		parts[i].decoder = decoders[i];
	}
	assert_int_equal(weft_decoder_create_merged(parts, 2, &merged), 0);
	assert_int_equal(weft_decoder_feed(decoders[0], streams[0].bytes, streams[0].size), 0);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_AGAIN);
	assert_int_equal(weft_decoder_feed(decoders[1], streams[1].bytes, streams[1].size), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(weft_decoder_next(merged, &event), WEFT_OK);
		assert_int_equal(event.task, 1 + i);
		times[i] = event.time_ns;
	}
	assert_int_equal(times[0], times[1]);
	assert_int_equal(weft_decoder_describe(merged)->clock.epoch, WEFT_EPOCH_MONOTONIC);
	weft_decoder_destroy(merged);
	for (unsigned i = 0; i < 2; i++)
		weft_decoder_destroy(decoders[i]);
}

/* ---- Feeding ---- */

static void feed_text(struct weft_decoder *decoder, const char *text)
{
	assert_int_equal(weft_decoder_feed(decoder, text, strlen(text)), 0);
}

/* The second part's events wait for the first part, while the second part's bytes are overwritten
 * and moved. */
static void an_event_that_waits_keeps_its_text(void **state)
{
	(void)state;
	struct weft_decoder *decoders[2], *merged;
	struct weft_decoder_part parts[2] = {0};
	struct weft_event event;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(weft_decoder_create(&decoders[i]), 0);
		parts[i].decoder = decoders[i];
	}
	assert_int_equal(weft_decoder_create_merged(parts, 2, &merged), 0);
	feed_text(decoders[0], "((time 1413637707.0)(op(Label 1 first)))\n");
	feed_text(decoders[1], "((time 1413637708.0)(op(Label 2 kept1)))\n");
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_OK);
	assert_memory_equal(event.text.bytes, "first", 5);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_AGAIN);
	feed_text(decoders[1], "((time 1413637709.0)(op(Label 2 kept2)))\n");
	feed_text(decoders[0], "((time 1413637708.5)(op(Label 1 later)))\n");
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_OK);
	assert_memory_equal(event.text.bytes, "kept1", 5);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_OK);
	assert_memory_equal(event.text.bytes, "later", 5);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_AGAIN);
	for (unsigned i = 0; i < 10000; i++)
		feed_text(decoders[1], "((time 1413637709.0)(op(Label 2 other)))\n");
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_AGAIN);
	assert_int_equal(weft_decoder_finish(decoders[0]), 0);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_OK);
	assert_int_equal(event.text.size, 5);
	assert_memory_equal(event.text.bytes, "kept2", 5);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_OK);
	assert_memory_equal(event.text.bytes, "other", 5);
	weft_decoder_destroy(merged);
	for (unsigned i = 0; i < 2; i++)
		weft_decoder_destroy(decoders[i]);
}

/* A category is a text of a task that is created, and of one that is alive; a span has numbers in
 * its stead. */
static void a_kept_event_has_its_own_category(void **state)
{
	(void)state;
	char name[] = "net";
	struct weft__kept kept = {0};
	struct weft_event alive = {.type = WEFT_EVENT_ALIVE, .category = {name, 3}};
	struct weft_event span = {.type = WEFT_EVENT_SPAN, .text = {name, 3}, .span_ticks = {7, 8}};
	assert_int_equal(weft__format_keep(&kept, &alive), 0);
	memset(name, 'x', 3);
	assert_memory_equal(alive.category.bytes, "net", 3);
	assert_int_equal(weft__format_keep(&kept, &span), 0);
	assert_memory_equal(span.text.bytes, "xxx", 3);
	assert_int_equal(span.span_ticks[0], 7);
	assert_int_equal(span.span_ticks[1], 8);
	weft__format_kept_finish(&kept);
}

/* A part that is no trace ends alone; a part that is finished takes no more bytes. */
static void parts_may_be_finished_before_all_have_begun(void **state)
{
	(void)state;
	struct weft_decoder *decoders[3], *merged;
	struct weft_decoder_part parts[3] = {0};
	struct weft_event event;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(weft_decoder_create(&decoders[i]), 0);
		parts[i].decoder = decoders[i];
	}
	assert_int_equal(weft_decoder_create_merged(parts, 3, &merged), 0);
	assert_int_equal(weft_decoder_finish(decoders[0]), 0); /* it is empty */
	feed_text(decoders[1], "no trace");
	assert_int_equal(weft_decoder_finish(decoders[1]), 0);
	assert_int_equal(weft_decoder_feed(decoders[1], "x", 1), WEFT_ERROR_STATE);
	assert_int_equal(weft_decoder_finish(decoders[1]), WEFT_ERROR_STATE);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_AGAIN);
	feed_text(decoders[2], "((time 1413637707.0)(op(Label 1 first)))\n");
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_OK);
	assert_int_equal(event.task, 1);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_AGAIN);
	assert_int_equal(weft_decoder_finish(decoders[2]), 0);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_END);
	const struct weft_diagnostics *diagnostics = weft_decoder_diagnostics(merged);
	assert_int_equal(diagnostics->count, 1);
	assert_int_equal(diagnostics->list[0].count, 2);
	weft_decoder_destroy(merged);
	for (unsigned i = 0; i < 3; i++)
		weft_decoder_destroy(decoders[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_up_to_the_least_mark),
		cmocka_unit_test(a_mark_does_not_go_back),
		cmocka_unit_test(parts_share_a_clock),
		cmocka_unit_test(an_event_that_waits_keeps_its_text),
		cmocka_unit_test(a_kept_event_has_its_own_category),
		cmocka_unit_test(parts_may_be_finished_before_all_have_begun),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
