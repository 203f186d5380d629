/* SPDX-License-Identifier: ISC
 *
 * From a buffer into a stream and back: every event comes once, or is counted.
 */
#include "record_trace.h"

#include <pthread.h>

#include <string.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "abi/stream_abi.h"
#include "drained.h"
#include "format/weft/drain/drain.h"

#define SIZE ((size_t)64 << 10) /* the smallest: 13 packets */

static uint64_t now_ticks;

static const struct weft_platform by_hand = {.ticks_at = &now_ticks, .ticks_hz = 1000000000};

enum {
	FILE_MAX = 4 << 20,
};

/* A buffer that is drained into memory. */
struct drained {
	void *buffer;
	struct weft__drain *drain;
	unsigned char *file;
	size_t size;
};

static struct drained begin(void)
{
	struct drained d = {.buffer = trace_buffer(SIZE), .file = malloc(FILE_MAX)};
	assert_non_null(d.file);
	now_ticks = 1000;
	assert_int_equal(weft_start(d.buffer, SIZE, &by_hand), 0);
	assert_int_equal(weft__format_drain_create(d.buffer, SIZE, 8192, &d.drain), 0);
	return d;
}

static void end(struct drained *d)
{
	weft__format_drain_destroy(d->drain);
	free(d->buffer);
	free(d->file);
}

/* Appends all pieces that there are now. */
static int take(struct drained *d)
{
	return drained_append(d->drain, d->file, FILE_MAX, &d->size);
}

static void look(struct drained *d, bool with_open)
{
	weft__format_drain_look(d->drain, with_open, now_ticks);
	assert_int_equal(take(d), WEFT_AGAIN);
}

static void finish(struct drained *d)
{
	weft_stop();
	weft__format_drain_finish(d->drain, false);
	assert_int_equal(take(d), WEFT_END);
}

static void record(int64_t from, int64_t to)
{
	for (int64_t i = from; i < to; i++) {
		now_ticks += 10;
		weft_tag_value("tag", i);
	}
}

/* The numbers in a file must be from, …, to - 1. Returns how many others it has. */
static unsigned expect_file(const struct drained *d, int64_t from, int64_t to)
{
	struct trace t;
	unsigned others = 0;
	trace_open(&t, d->file, d->size);
	while (weft_decoder_next(t.decoder, &t.event) == WEFT_OK) {
		if (t.event.type == WEFT_EVENT_TAG)
			assert_int_equal(t.event.value, from++);
		else
			others++;
	}
	assert_int_equal(from, to);
	assert_int_equal(weft_decoder_diagnostics(t.decoder)->count, 0);
	trace_close(&t);
	return others;
}

static uint64_t lost(const struct drained *d, enum weft_loss cause)
{
	struct trace t;
	trace_open(&t, d->file, d->size);
	uint64_t count = trace_loss(&t, cause);
	weft_decoder_destroy(t.decoder);
	return count;
}

static void everything_is_there_once(void **state)
{
	(void)state;
	struct drained d = begin();
	for (int64_t i = 0; i < 10000; i += 500) {
		record(i, i + 500);
		look(&d, false);
	}
	finish(&d);
	expect_file(&d, 0, 10000);
	assert_int_equal(weft__format_drain_summary(d.drain)->events, 10000);
	assert_int_equal(lost(&d, WEFT_LOSS_STALLED), 0);
	end(&d);
}

static void an_open_packet_comes_in_parts(void **state)
{
	(void)state;
	struct drained d = begin();
	for (int64_t i = 0; i < 1000; i += 7) {
		record(i, i + 7 < 1000 ? i + 7 : 1000);
		look(&d, true);
		expect_file(&d, 0, i + 7 < 1000 ? i + 7 : 1000);
	}
	finish(&d);
	expect_file(&d, 0, 1000);
	end(&d);
}

/* The header of a part has the current task and the base of its stamps. */
static void a_part_knows_what_was_before_it(void **state)
{
	(void)state;
	struct drained d = begin();
	struct trace t;
	uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_switch(task);
	look(&d, true);
	now_ticks += (uint64_t)9 << 32; /* longer than a stamp can count */
	weft_note("later");
	look(&d, true);
	now_ticks += 5;
	weft_note("and later");
	finish(&d);
	trace_open(&t, d.file, d.size);
	trace_expect(&t, WEFT_EVENT_CREATE, WEFT_TASK_NONE, task);
	assert_int_equal(trace_expect(&t, WEFT_EVENT_SWITCH, task, 0)->time_ns, 1000);
	assert_int_equal(
		trace_expect(&t, WEFT_EVENT_NOTE, task, 0)->time_ns, 1000 + ((uint64_t)9 << 32));
	assert_int_equal(
		trace_expect(&t, WEFT_EVENT_NOTE, task, 0)->time_ns, 1005 + ((uint64_t)9 << 32));
	trace_close(&t);
	end(&d);
}

/* No event behind a mark is earlier than it, and a mark follows the events that were taken last. */
static void marks_tell_up_to_when_all_is_there(void **state)
{
	(void)state;
	struct drained d = begin();
	uint64_t mark = 0;
	unsigned marks = 0;
	for (int64_t i = 0; i < 700; i += 7) {
		record(i, i + 7);
		now_ticks += 10; /* a mark is behind the last event */
		look(&d, i % 2 == 0);
	}
	for (int i = 0; i < 3; i++) { /* two more marks: one covers the last events, one is later */
		now_ticks += 10;
		look(&d, true);
	}
	for (size_t at = sizeof(struct weft_abi_buffer); at < d.size;) {
		const struct weft_abi_chunk *chunk = (const void *)(d.file + at);
		const struct weft_abi_packet *packet = (const void *)(chunk + 1);
		assert_int_equal(chunk->magic, WEFT_ABI_CHUNK_MAGIC);
		if (chunk->kind == WEFT_ABI_CHUNK_PACKET)
			assert_true(packet->base_ticks + *(const uint32_t *)(packet + 1) >= mark);
		if (chunk->kind == WEFT_ABI_CHUNK_MARK) {
			assert_true(chunk->at > mark && chunk->bytes == 0);
			mark = chunk->at;
			marks++;
		}
		at += sizeof(*chunk) + chunk->bytes;
	}
	assert_int_equal(marks, 52);
	assert_int_equal(mark, now_ticks - 10);
	finish(&d);
	expect_file(&d, 0, 700);
	end(&d);
}

/* Packets that a look takes may have events after its mark, so a mark follows at the next look.
 * Then one comes after each 50 ms, for those that merge streams. */
static void a_mark_follows_the_last_packets(void **state)
{
	struct drained d = begin();
	const uint64_t idle_ns = 50000000;
	(void)state;
	record(0, 1);
	weft__format_drain_look(d.drain, true, now_ticks - 5);
	assert_int_equal(take(&d), WEFT_AGAIN);
	size_t size = d.size;
	now_ticks += 10;
	look(&d, true);
	size += sizeof(struct weft_abi_chunk);
	assert_int_equal(d.size, size);
	for (unsigned marks = 1; marks < 4; marks++) {
		now_ticks += idle_ns - 1;
		look(&d, true);
		assert_int_equal(d.size, size);
		now_ticks++;
		look(&d, false);
		assert_int_equal(d.size, size);
		look(&d, true);
		size += sizeof(struct weft_abi_chunk);
		assert_int_equal(d.size, size);
	}
	finish(&d);
	end(&d);
}

/* Threads that the test makes. */
static uint32_t own_tid = 1;
static const char *const *thread_names; /* of the threads from 1 on */

static uint32_t tid_of_thread(void *context, char name[16])
{
	(void)context;
	snprintf(name, 16, "%s", thread_names[own_tid - 1]);
	return own_tid;
}

static bool has_ended(void *context, uint32_t tid)
{
	(void)context;
	return tid != own_tid;
}

static void *record_ten(void *from)
{
	own_tid++;
	record((intptr_t)from, (intptr_t)from + 10);
	return NULL;
}

/* The next thread, which continues in the packet of the one before. */
static void record_in_a_thread(int64_t from)
{
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, record_ten, (void *)(intptr_t)from), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static struct drained begin_threads(const char *const *names)
{
	static const struct weft_platform platform = {.ticks_at = &now_ticks,
		.ticks_hz = 1000000000,
		.self = tid_of_thread,
		.has_ended = has_ended};
	struct drained d = {.buffer = trace_buffer(SIZE), .file = malloc(FILE_MAX)};
	assert_non_null(d.file);
	now_ticks = 1000;
	own_tid = 0;
	thread_names = names;
	assert_int_equal(weft_start(d.buffer, SIZE, &platform), 0);
	assert_int_equal(weft__format_drain_create(d.buffer, SIZE, 8192, &d.drain), 0);
	return d;
}

/* One packet of several threads is taken in parts: `parts` has a digit for the number of threads
 * that record before each look. Each event must have its thread, with its name. */
static void expect_threads(const char *parts, const char *const *names, unsigned count)
{
	struct drained d = begin_threads(names);
	struct trace t;
	int64_t from = 0;
	for (const char *part = parts; *part; part++) {
		for (int i = 0; i < *part - '0'; i++, from += 10)
			record_in_a_thread(from);
		look(&d, true);
	}
	finish(&d);
	trace_open(&t, d.file, d.size);
	const struct weft_trace_description *trace = weft_decoder_describe(t.decoder);
	assert_int_equal(trace->thread_count, count);
	for (int64_t i = 0; i < 10 * (int64_t)count; i++) {
		assert_int_equal(weft_decoder_next(t.decoder, &t.event), WEFT_OK);
		assert_int_equal(t.event.value, i);
		assert_int_equal(trace->threads[t.event.thread].tid, i / 10 + 1);
		assert_string_equal(trace->threads[t.event.thread].name, names[i / 10]);
	}
	assert_int_equal(trace->loss_period_count, 0);
	trace_close(&t);
	end(&d);
}

/* Also for a part that begins behind its thread record. */
static void a_part_knows_its_thread(void **state)
{
	static const char *const names[] = {"thread-1", "thread-2", "thread-3"};
	(void)state;
	expect_threads("111", names, 3);
	expect_threads("3", names, 3);
}

/* A thread whose name is that of the packet's first thread has no name in its record, though a part
 * between them has another name. */
static void a_part_knows_its_packets_first_name(void **state)
{
	static const char *const names[] = {"pool", "other", "pool", "last", "pool", "pool", "other"};
	(void)state;
	expect_threads("2111", names, 5);
	expect_threads("23", names, 5);
	expect_threads("1111111", names, 7);
	expect_threads("241", names, 7);
	expect_threads("25", names, 7);
}

/* The thread loses an event, then fills its packet. */
static void *lose_one(void *unused)
{
	static char text[4096];
	memset(text, 'x', sizeof(text) - 1); /* longer than any name */
	own_tid++;
	record(0, 1);
	weft_counter_add(text, 1);
	record(1, 600);
	return unused;
}

/* Only the thread that lost an event has a gap, not those that continued in its packet. */
static void a_part_has_its_own_threads_losses(void **state)
{
	static const char *const names[] = {"first", "second", "third"};
	struct drained d = begin_threads(names);
	struct trace t;
	pthread_t thread;
	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, lose_one, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	look(&d, true);
	record_in_a_thread(600);
	look(&d, true);
	record_in_a_thread(610);
	finish(&d);
	trace_open(&t, d.file, d.size);
	while (weft_decoder_next(t.decoder, &t.event) == WEFT_OK)
		continue;
	const struct weft_trace_description *trace = weft_decoder_describe(t.decoder);
	assert_int_equal(trace->thread_count, 3);
	assert_int_equal(trace->loss_period_count, 1);
	assert_int_equal(trace->threads[trace->loss_periods[0].thread].tid, 1);
	trace_close(&t);
	end(&d);
}

static void late_events_are_counted(void **state)
{
	(void)state;
	struct drained d = begin();
	struct trace t;
	record(0, 100);
	look(&d, true);
	record(100, 20000);
	look(&d, false);
	record(20000, 20001);
	finish(&d);
	uint64_t stalled = lost(&d, WEFT_LOSS_STALLED), events = 0;
	trace_open(&t, d.file, d.size);
	while (weft_decoder_next(t.decoder, &t.event) == WEFT_OK)
		events += t.event.type == WEFT_EVENT_TAG;
	trace_close(&t);
	assert_true(stalled > 10000);
	assert_int_equal(events + stalled, 20001);
	assert_int_equal(weft__format_drain_summary(d.drain)->events, events);
	assert_int_equal(lost(&d, WEFT_LOSS_OVERWRITTEN), 0);
	end(&d);
}

static void each_file_stands_alone(void **state)
{
	(void)state;
	struct drained d = begin();
	record(0, 700);
	look(&d, true);
	expect_file(&d, 0, 700);
	d.size = 0;
	weft__format_drain_begin(d.drain);
	record(700, 900);
	look(&d, true);
	expect_file(&d, 700, 900); /* its name is of before */
	record(900, 20000);
	look(&d, true);
	uint64_t stalled = lost(&d, WEFT_LOSS_STALLED);
	assert_true(stalled > 10000);
	d.size = 0;
	weft__format_drain_begin(d.drain);
	record(20000, 20100);
	finish(&d);
	expect_file(&d, 20000, 20100);
	assert_int_equal(lost(&d, WEFT_LOSS_STALLED), 0);
	end(&d);
}

static void events_gone_before_count_as_overwritten(void **state)
{
	(void)state;
	struct drained d = {.buffer = trace_buffer(SIZE), .file = malloc(FILE_MAX)};
	now_ticks = 1000;
	assert_int_equal(weft_start(d.buffer, SIZE, &by_hand), 0);
	record(0, 20000);
	assert_int_equal(weft__format_drain_create(d.buffer, SIZE, 8192, &d.drain), 0);
	finish(&d);
	uint64_t gone = lost(&d, WEFT_LOSS_OVERWRITTEN);
	assert_true(gone > 10000);
	expect_file(&d, (int64_t)gone, 20000);
	end(&d);
}

static void damage_costs_a_chunk(void **state)
{
	(void)state;
	struct drained d = begin();
	record(0, 3000);
	finish(&d);
	for (size_t at = sizeof(struct weft_abi_buffer) + 512; at < d.size; at += 1000) {
		struct trace t;
		unsigned char *copy = malloc(d.size);
		memcpy(copy, d.file, d.size);
		memset(copy + at, 0x5a, 40);
		/* Any result but a crash is right: bytes in a packet may look like an event. */
		trace_open(&t, copy, d.size);
		int64_t last = -1, count = 0;
		while (weft_decoder_next(t.decoder, &t.event) == WEFT_OK) {
			count += t.event.type == WEFT_EVENT_TAG && t.event.value > last;
			last = t.event.value;
		}
		assert_true(count > 2000);
		weft_decoder_destroy(t.decoder);
		free(copy);
	}
	end(&d);
}

/* A damaged buffer is drained in bounded time, and its stream can be read. */
static void a_hostile_buffer_is_drained(void **state)
{
	(void)state;
	struct drained d = begin();
	record(0, 2000);
	const struct weft_abi_buffer *header = d.buffer;
	for (uint32_t i = 0; i < header->packet_count; i++) {
		struct weft_abi_packet *packet =
			(void *)((unsigned char *)d.buffer + header->packets_offset + i * header->packet_bytes);
		packet->committed = i * 1000003;
		packet->written = UINT64_MAX - i;
	}
	look(&d, true);
	finish(&d);
	struct trace t;
	trace_open(&t, d.file, d.size);
	while (weft_decoder_next(t.decoder, &t.event) == WEFT_OK)
		continue;
	weft_decoder_destroy(t.decoder);
	end(&d);
}

static struct weft_abi_packet *packet_at(const struct drained *d, uint32_t index)
{
	const struct weft_abi_buffer *header = d->buffer;
	return (void *)((unsigned char *)d->buffer + header->packets_offset +
					(size_t)index * header->packet_bytes);
}

static size_t look_and_count(struct drained *d)
{
	size_t before = d->size;
	look(d, false);
	return d->size - before;
}

/* A recorder's sequences only grow, and the hand has counted each. */
static void unclaimed_packets_are_not_taken(void **state)
{
	struct drained d = begin();
	struct weft_abi_buffer *header = d.buffer;
	uint32_t count = header->packet_count;
	(void)state;
	record(0, 20000); /* all packets were filled */
	assert_true(look_and_count(&d) > SIZE / 2);
	for (unsigned i = 0; i < 100; i++) {
		/* Sequences go forth and back, and beyond the hand. */
		for (uint32_t k = 0; k < count; k++)
			packet_at(&d, k)->state ^= (uint64_t)(i % 2 ? 1 : 0x1000000) << 40;
		assert_int_equal(look_and_count(&d), 0);
	}
	/* With the hand advanced by the number of claims. */
	header->hand += 2 * count;
	size_t taken = 0;
	for (uint64_t i = 1; i < 20000; i++) {
		for (uint32_t k = 0; k < count; k++)
			packet_at(&d, k)->state = (header->hand - 20000 + i) << 2 | WEFT_ABI_PACKET_CLOSED;
		taken += look_and_count(&d);
		d.size = 0;
	}
	assert_true(taken / header->packet_bytes < 5 * (size_t)count + 5000);
	weft_stop();
	end(&d);
}

/* Each name is filled only once, and losses alone cause a header only now and then. */
static void changes_of_names_and_losses_take_no_room(void **state)
{
	struct drained d = begin();
	struct weft_abi_buffer *header = d.buffer;
	uint64_t *names = (void *)((unsigned char *)d.buffer + header->names_offset +
							   header->names_index * sizeof(uint32_t));
	uint32_t words = header->names_bytes / 8 - header->names_index / 2;
	(void)state;
	record(0, 1000);
	look(&d, true);
	header->names_used = words * 8;
	size_t before = d.size;
	for (uint64_t i = 0; i < 300; i++) {
		for (uint32_t k = 0; k < words; k++)
			names[k] += k % 3 == i % 3;
		header->losses[WEFT_ABI_LOSS_FULL] = i;
		record((int64_t)(1000 + i), (int64_t)(1001 + i)); /* so that there is something to take */
		look(&d, i % 100 == 0);
		weft_tag_value("tag", 0);
	}
	assert_in_range(d.size - before, 1, 8 * words * 5 + 300 * 400 + 10 * 4200);
	weft_stop();
	end(&d);
}

static void a_cut_stream_ends_with_its_losses(void **state)
{
	struct drained d = begin();
	struct trace t;
	(void)state;
	record(0, 1000);
	look(&d, true);
	size_t before = d.size;
	record(1000, 3000);
	weft__format_drain_cut(d.drain);
	assert_int_equal(take(&d), WEFT_END);
	assert_true(d.size - before < 8192);
	expect_file(&d, 0, 1000);
	trace_open(&t, d.file, d.size);
	while (weft_decoder_next(t.decoder, &t.event) == WEFT_OK)
		continue;
	assert_in_range(weft_decoder_describe(t.decoder)->losses[WEFT_LOSS_STALLED], 1000, 2000);
	trace_close(&t);
	weft_stop();
	end(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_there_once),
		cmocka_unit_test(an_open_packet_comes_in_parts),
		cmocka_unit_test(a_part_knows_what_was_before_it),
		cmocka_unit_test(marks_tell_up_to_when_all_is_there),
		cmocka_unit_test(a_mark_follows_the_last_packets),
		cmocka_unit_test(a_part_knows_its_thread),
		cmocka_unit_test(a_part_knows_its_packets_first_name),
		cmocka_unit_test(a_part_has_its_own_threads_losses),
		cmocka_unit_test(late_events_are_counted),
		cmocka_unit_test(each_file_stands_alone),
		cmocka_unit_test(events_gone_before_count_as_overwritten),
		cmocka_unit_test(damage_costs_a_chunk),
		cmocka_unit_test(a_hostile_buffer_is_drained),
		cmocka_unit_test(unclaimed_packets_are_not_taken),
		cmocka_unit_test(changes_of_names_and_losses_take_no_room),
		cmocka_unit_test(a_cut_stream_ends_with_its_losses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
