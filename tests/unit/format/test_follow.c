/* SPDX-License-Identifier: ISC
 *
 * Following a buffer: when events are returned, and that every event is returned or counted.
 */
#include "record_trace.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "format/weft/follow/follower.h"
#include "format/weft/follow/mark.h"
#include "record/clock.h"
#include "waiting.h"

#define SIZE ((size_t)64 << 10) /* the smallest: 13 packets */

/* A clock that the test moves. */
static uint64_t now_ticks;

static const struct weft_platform by_hand = {.ticks_at = &now_ticks, .ticks_hz = 1000000000};

struct followed {
	void *buffer;
	struct weft_abi_buffer *header;
	struct weft__follower *follower;
	struct weft_event event;
};

static struct weft_abi_slot *slot_of(const struct followed *f, uint32_t index)
{
	unsigned char *bytes = f->buffer;
	return (void *)(bytes + f->header->slots_offset + index * sizeof(struct weft_abi_slot));
}

static struct followed begin(void)
{
	struct followed f = {.buffer = trace_buffer(SIZE)};
	now_ticks = 1000;
	assert_int_equal(weft_start(f.buffer, SIZE, &by_hand), 0);
	f.header = f.buffer;
	assert_int_equal(weft__format_follower_create(f.buffer, SIZE, &f.follower), 0);
	return f;
}

static void end(struct followed *f)
{
	weft_stop();
	assert_int_equal(weft__format_follower_diagnostics(f->follower)->count, 0);
	weft__format_follower_destroy(f->follower);
	free(f->buffer);
}

static uint64_t lost(const struct followed *f, enum weft_loss cause)
{
	return weft__format_follower_describe(f->follower)->losses[cause];
}

/* Expects the next event to have this value. */
static void expect(struct followed *f, int64_t value)
{
	assert_int_equal(weft__format_follower_next(f->follower, &f->event), WEFT_OK);
	assert_int_equal(f->event.type, WEFT_EVENT_TAG);
	assert_int_equal(f->event.value, value);
}

static void expect_nothing(struct followed *f)
{
	assert_int_equal(weft__format_follower_next(f->follower, &f->event), WEFT_AGAIN);
}

static void record_at(uint64_t ticks, int64_t value)
{
	now_ticks = ticks;
	weft_tag_value("tag", value);
}

/* ---- The mark ---- */

static void events_before_the_mark_are_given(void **state)
{
	struct followed f = begin();
	(void)state;
	record_at(1010, 1);
	record_at(1020, 2);
	expect_nothing(&f);
	weft__format_follower_look(f.follower, 1010);
	expect(&f, 1);
	expect_nothing(&f);
	record_at(1030, 3);
	weft__format_follower_look(f.follower, weft__format_follower_latest(f.follower));
	expect(&f, 2);
	expect(&f, 3);
	expect_nothing(&f);
	weft__format_follower_finish(f.follower);
	assert_int_equal(weft__format_follower_next(f.follower, &f.event), WEFT_END);
	end(&f);
}

static void a_thread_in_the_middle_holds_the_mark(void **state)
{
	struct followed f = begin();
	(void)state;
	record_at(1010, 1);
	struct weft_abi_slot *other = slot_of(&f, f.header->slots_used++);
	weft__format_follower_look(f.follower, 1011);
	expect(&f, 1);
	record_at(1020, 2);
	other->sequence = 1;
	weft__format_follower_look(f.follower, 1030);
	expect_nothing(&f);
	weft__format_follower_look(f.follower, 1040);
	expect_nothing(&f);
	/* Another unfinished event: it began after the last look at the previous one. */
	record_at(1045, 3);
	other->sequence = 3;
	weft__format_follower_look(f.follower, 1050);
	expect(&f, 2);
	expect_nothing(&f);
	other->sequence = 4;
	weft__format_follower_look(f.follower, 1060);
	expect(&f, 3);
	end(&f);
}

static void a_thread_that_died_in_the_middle_does_not_hold_it_for_ever(void **state)
{
	struct followed f = begin();
	(void)state;
	record_at(1010, 1);
	slot_of(&f, f.header->slots_used++)->sequence = 1;
	weft__format_follower_look(f.follower, 1011);
	expect_nothing(&f);
	/* No thread records: the whole program may be stopped. */
	weft__format_follower_look(f.follower, (uint64_t)60 * 1000000000);
	weft__format_follower_look(f.follower, (uint64_t)120 * 1000000000);
	expect_nothing(&f);
	int looks = 0;
	for (uint64_t time = (uint64_t)121 * 1000000000; looks < 100; time += 100000000, looks++) {
		record_at(time, looks + 2);
		weft__format_follower_look(f.follower, time);
		if (weft__format_follower_is_ready(f.follower))
			break;
	}
	assert_in_range(looks, 10, 13);
	expect(&f, 1);
	end(&f);
}

static void the_mark_never_goes_back(void **state)
{
	struct followed f = begin();
	(void)state;
	record_at(1010, 1);
	weft__format_follower_look(f.follower, 2000);
	uint64_t mark_ns = weft__format_follower_mark_ns(f.follower);
	weft__format_follower_look(f.follower, 1500);
	assert_int_equal(weft__format_follower_mark_ns(f.follower), mark_ns);
	expect(&f, 1);
	expect_nothing(&f);
	/* An event that comes too late nonetheless is counted as lost, and not returned. */
	record_at(1020, 2);
	record_at(2000, 3);
	weft__format_follower_look(f.follower, 2001);
	expect(&f, 3);
	assert_int_equal(lost(&f, WEFT_LOSS_STALLED), 1);
	end(&f);
}

/* The mark's own nanosecond: a thread fills all packets with events of one stamp, and then
 * continues in the first one. Its newest events are found there first, and must wait for those
 * before them. */
static void equal_times_at_the_mark_keep_their_order(void **state)
{
	struct followed f = begin();
	int64_t fit = (f.header->packet_bytes - (int64_t)sizeof(struct weft_abi_packet)) / 16;
	int64_t count = fit * f.header->packet_count + 5, last = 0;
	uint64_t given = 1;
	(void)state;
	record_at(1010, 1);
	weft__format_follower_look(f.follower, 1010);
	expect(&f, 1);
	for (int64_t i = 2; i <= count; i++)
		record_at(1010, i);
	expect_nothing(&f);
	weft__format_follower_look(f.follower, 1011);
	while (weft__format_follower_next(f.follower, &f.event) == WEFT_OK) {
		if (f.event.is_rundown)
			continue;
		assert_true(f.event.value > last);
		last = f.event.value;
		given++;
	}
	assert_int_equal(last, count);
	assert_int_equal(given + lost(&f, WEFT_LOSS_STALLED), count);
	end(&f);
}

/* An event of the mark's time that comes after the look may follow one of another thread, which the
 * look did not find. */
static void events_after_the_look_wait_for_the_next(void **state)
{
	struct followed f = begin();
	(void)state;
	record_at(1010, 1);
	weft__format_follower_look(f.follower, 1010);
	expect(&f, 1);
	record_at(1010, 2);
	expect_nothing(&f);
	weft__format_follower_look(f.follower, 1010);
	expect(&f, 2);
	end(&f);
}

static uint32_t own_tid = 1;

static uint32_t read_self(void *context, char ret_name[16])
{
	(void)context;
	snprintf(ret_name, 16, "thread %u", own_tid);
	return own_tid;
}

static void *record_in_second_thread(void *value)
{
	own_tid = 2;
	weft_tag_value("tag", (intptr_t)value);
	return NULL;
}

/* An event of the mark's time comes into a packet that the look has passed, before one in a later
 * packet is given: a second scan finds it, and both wait for the next look. */
static void a_second_scan_keeps_the_order_of_equals(void **state)
{
	static const struct weft_platform platform = {
		.ticks_at = &now_ticks, .ticks_hz = 1000000000, .self = read_self};
	struct followed f = {.buffer = trace_buffer(SIZE)};
	pthread_t thread;
	(void)state;
	now_ticks = 1000;
	assert_int_equal(weft_start(f.buffer, SIZE, &platform), 0);
	f.header = f.buffer;
	assert_int_equal(weft__format_follower_create(f.buffer, SIZE, &f.follower), 0);
	record_at(1005, 1);
	weft__format_follower_look(f.follower, 1006);
	expect(&f, 1);
	expect_nothing(&f);
	for (intptr_t ticks = 1010; ticks <= 1020; ticks += 10) {
		now_ticks = (uint64_t)ticks;
		own_tid = 1;
		assert_int_equal(pthread_create(&thread, NULL, record_in_second_thread, (void *)ticks), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		own_tid = 1;
		weft__format_follower_look(f.follower, now_ticks);
		record_at(now_ticks, 3);
		expect_nothing(&f);
		weft__format_follower_look(f.follower, now_ticks);
		expect(&f, 3);
		expect(&f, ticks);
		expect_nothing(&f);
	}
	end(&f);
}

/* ---- Losses ---- */

/* A thread moves the hand, and takes the packet there only after a look. */
static void a_packet_that_is_claimed_late_is_found(void **state)
{
	struct followed f = begin();
	(void)state;
	for (int64_t value = 1; value <= 8000; value++) {
		f.header->hand++;
		weft__format_follower_look(f.follower, weft__format_follower_latest(f.follower));
		if (value > 1)
			expect(&f, value - 1);
		expect_nothing(&f);
		f.header->hand--;
		record_at(2000 + 10 * (uint64_t)value, value);
	}
	assert_true(
		f.header->hand > 2 * f.header->packet_count); /* the ring was written twice around */
	assert_int_equal(lost(&f, WEFT_LOSS_STALLED), 0);
	end(&f);
}

static void events_overwritten_before_the_follower_are_counted_separately(void **state)
{
	struct followed f = begin();
	struct weft__follower *second;
	const int64_t count = 10000;
	uint64_t given = 0;
	(void)state;
	for (int64_t i = 0; i < count; i++)
		record_at(2000 + (uint64_t)i, i);
	assert_int_equal(weft__format_follower_create(f.buffer, SIZE, &second), 0);
	weft__format_follower_finish(f.follower);
	weft__format_follower_finish(second);
	while (weft__format_follower_next(f.follower, &f.event) == WEFT_OK)
		given++;
	assert_int_equal(lost(&f, WEFT_LOSS_OVERWRITTEN), 0);
	assert_int_equal(given + lost(&f, WEFT_LOSS_STALLED), count);
	assert_int_equal(f.event.value, count - 1);
	while (weft__format_follower_next(second, &f.event) == WEFT_OK)
		given--;
	assert_int_equal(given, 0);
	const struct weft_trace_description *trace = weft__format_follower_describe(second);
	assert_int_equal(trace->losses[WEFT_LOSS_STALLED], 0);
	assert_int_equal(trace->losses[WEFT_LOSS_OVERWRITTEN], lost(&f, WEFT_LOSS_STALLED));
	weft__format_follower_destroy(second);
	end(&f);
}

/* The recorder counts in the header what it cannot record. */
static void the_recorders_losses_are_given_after_each_look(void **state)
{
	struct followed f = begin();
	(void)state;
	record_at(1010, 1);
	f.header->losses[WEFT_LOSS_TOO_BIG] = 3;
	assert_int_equal(lost(&f, WEFT_LOSS_TOO_BIG), 0);
	weft__format_follower_look(f.follower, 1020);
	assert_int_equal(lost(&f, WEFT_LOSS_TOO_BIG), 3);
	f.header->losses[WEFT_LOSS_TOO_BIG] = 4;
	weft__format_follower_finish(f.follower);
	assert_int_equal(lost(&f, WEFT_LOSS_TOO_BIG), 4);
	end(&f);
}

/* Its names and threads are given with its events. */
static void events_have_names_and_threads(void **state)
{
	struct followed f = begin();
	(void)state;
	record_at(1010, 1);
	weft__format_follower_look(f.follower, 1020);
	expect(&f, 1);
	assert_int_equal(f.event.text.size, 3);
	assert_memory_equal(f.event.text.bytes, "tag", 3);
	const struct weft_trace_description *trace = weft__format_follower_describe(f.follower);
	assert_non_null(trace->threads);
	assert_true(f.event.thread < trace->thread_count);
	end(&f);
}

static void after_a_gap_a_switch_names_the_running_task(void **state)
{
	struct followed f = begin();
	(void)state;
	now_ticks = 1010;
	weft_switch(7);
	weft__format_follower_look(f.follower, 1010);
	assert_int_equal(weft__format_follower_next(f.follower, &f.event), WEFT_OK);
	assert_false(f.event.is_rundown);
	for (int i = 0; i < 10000; i++)
		record_at(2000 + (uint64_t)i, i);
	weft__format_follower_look(f.follower, 100000);
	assert_int_equal(weft__format_follower_next(f.follower, &f.event), WEFT_OK);
	assert_true(f.event.is_rundown);
	assert_int_equal(f.event.type, WEFT_EVENT_SWITCH);
	assert_int_equal(f.event.task, 7);
	assert_int_equal(weft__format_follower_next(f.follower, &f.event), WEFT_OK);
	assert_false(f.event.is_rundown);
	assert_int_equal(f.event.task, 7);
	assert_true(lost(&f, WEFT_LOSS_STALLED) > 0);
	end(&f);
}

/* ---- Threads ---- */

/* Two threads on the test's clock. */
static _Thread_local uint32_t own_number = 1;

static uint32_t number_of_thread(void *context, char name[16])
{
	(void)context;
	memset(name, 0, 16);
	return own_number;
}

static const struct weft_platform two_threads = {
	.ticks_at = &now_ticks, .ticks_hz = 1000000000, .self = number_of_thread};

struct burst {
	uint64_t ticks;
	int64_t first, count;
};

static void *record_burst(void *argument)
{
	const struct burst *burst = argument;
	own_number = 2;
	for (int64_t i = 0; i < burst->count; i++)
		record_at(burst->ticks, burst->first + i);
	return NULL;
}

/* The recorder identifies the second thread by its number. */
static void record_elsewhere(uint64_t ticks, int64_t first, int64_t count)
{
	struct burst burst = {ticks, first, count};
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, record_burst, &burst), 0);
	pthread_join(thread, NULL);
}

enum {
	SHARED = 12, /* events of one moment, three a packet */
};

static void record_large(int64_t value)
{
	static char text[1001];
	memset(text, 'x', sizeof(text) - 1);
	weft_mark("large", "value", value, "text", text);
}

/* For each thread: the number of its next event, if none is missing, and how many were returned. */
struct order {
	int64_t next[2], given[2];
};

/* Reads all ready events: they are in the order of time, and each thread's in its own order. */
static void expect_order(struct followed *f, struct order *order)
{
	uint64_t last_ns = 0;
	while (weft__format_follower_next(f->follower, &f->event) == WEFT_OK) {
		bool is_first = f->event.type == WEFT_EVENT_MARK;
		int64_t value = is_first ? f->event.fields[0].value.i64 : f->event.value;
		assert_true(f->event.time_ns >= last_ns);
		last_ns = f->event.time_ns;
		if (f->event.is_rundown)
			continue;
		assert_true(value >= order->next[!is_first]);
		order->next[!is_first] = value + 1;
		order->given[!is_first]++;
	}
}

/* A thread shares one stamp among events in several packets. The follower knows the first of these
 * packets, with later events of another thread, and has read `read` events before; it does not know
 * the rest. */
static void follow_a_moment(int64_t read)
{
	struct followed f = {.buffer = trace_buffer(SIZE)};
	struct order order = {{0}, {0}};
	const int64_t unread = 100;
	now_ticks = 1000;
	assert_int_equal(weft_start(f.buffer, SIZE, &two_threads), 0);
	f.header = f.buffer;
	assert_int_equal(weft__format_follower_create(f.buffer, SIZE, &f.follower), 0);
	record_large(0); /* the first packet is this thread's, the second the other's */
	record_elsewhere(1050, 0, read);
	weft__format_follower_look(f.follower, 1060);
	now_ticks = 1100;
	weft_moment_begin();
	record_elsewhere(2000, read, unread);
	weft__format_follower_look(f.follower, 2500);
	expect_order(&f, &order);
	assert_int_equal(order.given[0], 1);
	assert_int_equal(order.given[1], read);
	/* Fills the ring to its end, so that the next packets are the first and the second. */
	int64_t fit = (f.header->packet_bytes - (int64_t)sizeof(struct weft_abi_packet)) / 16;
	int64_t records =
		read ? 2 : 1; /* of each burst that continues in the packet of the previous one */
	int64_t others = fit * (f.header->packet_count - 1) - records;
	record_elsewhere(2600, read + unread, others - read - unread);
	for (int64_t i = 1; i <= SHARED; i++)
		record_large(i);
	weft_moment_end();
	weft__format_follower_look(f.follower, 3000);
	expect_order(&f, &order);
	assert_int_equal(order.next[0], SHARED + 1);
	assert_int_equal(order.next[1], others);
	assert_int_equal(order.given[0] + order.given[1] + (int64_t)lost(&f, WEFT_LOSS_STALLED),
		others + SHARED + 1);
	/* Copied events are returned although they were overwritten: only the rest of three packets is
	 * lost.
	 */
	assert_int_equal(others - order.given[1], 3 * fit - records - (read ? read + unread : 0));
	weft__format_follower_finish(f.follower);
	assert_int_equal(weft__format_follower_next(f.follower, &f.event), WEFT_END);
	end(&f);
}

static void a_moment_overtakes_what_waits_in_its_packet(void **state)
{
	(void)state;
	follow_a_moment(0);
}

static void a_moment_overtakes_what_is_copied_of_its_packet(void **state)
{
	(void)state;
	follow_a_moment(10);
}

enum {
	WRITERS = 4,
	EACH = 200000,
};

static int writing;

static void *write_numbers(void *argument)
{
	int64_t writer = *(const int *)argument;
	for (int64_t i = 0; i < EACH; i++) {
		if (i % 5 == 2)
			weft_mark("numbers", "value", writer << 32 | i, "more", 1);
		else
			weft_tag_value("number", writer << 32 | i);
	}
	__atomic_fetch_sub(&writing, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* The clock that the recorder uses on this machine. */
static uint64_t clock_ticks(void)
{
	return weft__record_ticks(weft__record_platform());
}

struct reading {
	uint64_t given, last_ns;
	int64_t next[WRITERS];
};

/* Checks that events are in time order, and each writer's in its own order. */
static int read_ready(struct weft__follower *follower, struct reading *r)
{
	struct weft_event event;
	int status;
	while ((status = weft__format_follower_next(follower, &event)) == WEFT_OK) {
		assert_true(event.time_ns >= r->last_ns);
		r->last_ns = event.time_ns;
		if (event.is_rundown)
			continue;
		int64_t value = event.type == WEFT_EVENT_MARK ? event.fields[0].value.i64 : event.value;
		assert_in_range(value >> 32, 0, WRITERS - 1);
		assert_true((value & UINT32_MAX) >= r->next[value >> 32]);
		r->next[value >> 32] = (value & UINT32_MAX) + 1;
		r->given++;
	}
	return status;
}

/* Looks about 10 us after the clock was read. */
static void look_now(struct weft__follower *follower)
{
	uint64_t ticks = clock_ticks();
	let_pass_us(WEFT__MARK_SLACK_NS / 1000);
	weft__format_follower_look(follower, ticks);
}

/* `size` is that of the ring; reads through another mapping, as another process does. */
static void follow_threads(size_t size, struct reading *ret_reading, uint64_t *ret_stalled)
{
	static const int numbers[WRITERS] = {0, 1, 2, 3};
	pthread_t threads[WRITERS];
	struct weft__follower *follower;
	int fd = memfd_create("ring", 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	void *buffer = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *seen = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	assert_int_equal(weft_start(buffer, size, NULL), 0);
	assert_int_equal(weft__format_follower_create(seen, size, &follower), 0);
	*ret_reading = (struct reading){0};
	writing = WRITERS;
	for (int i = 0; i < WRITERS; i++)
		pthread_create(&threads[i], NULL, write_numbers, (void *)&numbers[i]);
	while (__atomic_load_n(&writing, __ATOMIC_ACQUIRE)) {
		look_now(follower);
		assert_int_equal(read_ready(follower, ret_reading), WEFT_AGAIN);
	}
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	weft_stop();
	weft__format_follower_finish(follower);
	assert_int_equal(read_ready(follower, ret_reading), WEFT_END);
	assert_int_equal(weft__format_follower_diagnostics(follower)->count, 0);
	const uint64_t *losses = weft__format_follower_describe(follower)->losses;
	assert_int_equal(losses[WEFT_LOSS_OVERWRITTEN], 0);
	*ret_stalled = losses[WEFT_LOSS_STALLED] + losses[WEFT_LOSS_FULL];
	weft__format_follower_destroy(follower);
	munmap(buffer, size);
	munmap(seen, size);
}

static void threads_are_followed_without_loss(void **state)
{
	struct reading reading;
	uint64_t stalled;
	(void)state;
	/* The ring has room for all events, so nothing can be overwritten, however slow this machine
	 * is. */
	follow_threads((size_t)32 << 20, &reading, &stalled);
	assert_int_equal(stalled, 0);
	assert_int_equal(reading.given, (uint64_t)WRITERS * EACH);
}

static void in_a_small_ring_every_event_is_given_or_lost(void **state)
{
	struct reading reading;
	uint64_t stalled;
	(void)state;
	for (int i = 0; i < 5; i++) {
		follow_threads(SIZE, &reading, &stalled);
		assert_int_equal(reading.given + stalled, (uint64_t)WRITERS * EACH);
	}
}

/* ---- Foreign bytes ---- */

static void other_bytes_are_refused(void **state)
{
	struct weft__follower *follower;
	static const uint8_t zeros[8192];
	(void)state;
	assert_int_equal(weft__format_follower_create(zeros, 0, &follower), WEFT_ERROR_EMPTY);
	assert_int_equal(
		weft__format_follower_create(zeros, sizeof(zeros), &follower), WEFT_ERROR_FORMAT);
	struct followed f = begin();
	f.header->slots_offset = SIZE - 8;
	assert_int_equal(weft__format_follower_create(f.buffer, SIZE, &follower), WEFT_ERROR_DAMAGED);
	end(&f);
}

static void an_invalid_size_is_reported_once(void **state)
{
	struct followed f = begin();
	(void)state;
	record_at(1010, 1);
	struct weft_abi_packet *packet = (void *)((unsigned char *)f.buffer + f.header->packets_offset);
	uint32_t committed = packet->committed;
	packet->committed = 0x7ffffff8;
	for (uint64_t i = 0; i < 5; i++) {
		weft__format_follower_look(f.follower, 1020 + i);
		expect_nothing(&f);
	}
	struct weft_diagnostics *diagnostics = weft__format_follower_diagnostics(f.follower);
	assert_int_equal(diagnostics->count, 1);
	assert_int_equal(diagnostics->list[0].count, 1);
	diagnostics->count = 0;
	packet->committed = committed;
	end(&f);
}

static void expect_note(struct followed *f, const char *text)
{
	assert_int_equal(weft__format_follower_next(f->follower, &f->event), WEFT_OK);
	assert_int_equal(f->event.type, WEFT_EVENT_NOTE);
	assert_int_equal(f->event.text.size, strlen(text));
	assert_memory_equal(f->event.text.bytes, text, strlen(text));
}

/* Changes a name in the table of names. */
static void overwrite_name(struct followed *f, const char *name, const char *other)
{
	char *at = memmem(f->buffer, SIZE, name, strlen(name));
	assert_non_null(at);
	memcpy(at, other, strlen(other));
}

static void a_name_that_is_changed_later_is_not_heard(void **state)
{
	struct followed f = begin();
	(void)state;
	now_ticks = 1010;
	weft_note("harmless");
	weft_notef("%d harmless", 1);
	weft_note("harmless");
	weft_notef("%d harmless", 2);
	weft__format_follower_look(f.follower, 2000);
	expect_note(&f, "harmless");
	overwrite_name(&f, "harmless", "\033]0;evil");
	assert_memory_equal(f.event.text.bytes, "harmless", 8);
	expect_note(&f, "1 harmless");
	overwrite_name(&f, "%d harm", "%n\033]0;");
	expect_note(&f, "harmless");
	expect_note(&f, "2 harmless");
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_before_the_mark_are_given),
		cmocka_unit_test(a_thread_in_the_middle_holds_the_mark),
		cmocka_unit_test(a_thread_that_died_in_the_middle_does_not_hold_it_for_ever),
		cmocka_unit_test(the_mark_never_goes_back),
		cmocka_unit_test(equal_times_at_the_mark_keep_their_order),
		cmocka_unit_test(events_after_the_look_wait_for_the_next),
		cmocka_unit_test(a_second_scan_keeps_the_order_of_equals),
		cmocka_unit_test(a_packet_that_is_claimed_late_is_found),
		cmocka_unit_test(events_overwritten_before_the_follower_are_counted_separately),
		cmocka_unit_test(the_recorders_losses_are_given_after_each_look),
		cmocka_unit_test(events_have_names_and_threads),
		cmocka_unit_test(after_a_gap_a_switch_names_the_running_task),
		cmocka_unit_test(a_moment_overtakes_what_waits_in_its_packet),
		cmocka_unit_test(a_moment_overtakes_what_is_copied_of_its_packet),
		cmocka_unit_test(threads_are_followed_without_loss),
		cmocka_unit_test(in_a_small_ring_every_event_is_given_or_lost),
		cmocka_unit_test(other_bytes_are_refused),
		cmocka_unit_test(an_invalid_size_is_reported_once),
		cmocka_unit_test(a_name_that_is_changed_later_is_not_heard),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
