/* SPDX-License-Identifier: ISC
 *
 * The header of a buffer: its summary, its clock, and which buffers share one clock.
 */
#include "record_trace.h"

#include <weft/buffer.h>

#include "abi/buffer_abi.h"
#include "format/weft/identity.h"

#define SIZE ((size_t)64 << 10)

static uint64_t now_ticks;

static uint64_t read_ticks(void *context)
{
	(void)context;
	return now_ticks;
}

static const struct weft_platform by_hand = {.ticks = read_ticks, .ticks_hz = 1000000000};

/* A buffer with so many events, which begin at 5000 ticks. The program goes on. */
static struct weft_abi_buffer *record(int events)
{
	struct weft_abi_buffer *header = trace_buffer(SIZE);
	now_ticks = 1000;
	assert_int_equal(weft_start(header, SIZE, &by_hand), 0);
	now_ticks = 5000;
	for (int i = 0; i < events; i++)
		weft_tag_value("number", i);
	return header;
}

/* ---- Summary ---- */

static void a_summary_counts_events_and_losses(void **state)
{
	(void)state;
	struct weft_buffer_summary summary;
	for (int events = 0; events <= 20000; events += 100 + 99 * events) {
		struct weft_abi_buffer *header = record(events);
		struct trace trace;
		uint64_t given = 0;
		header->losses[WEFT_LOSS_TOO_BIG] = 3;
		assert_int_equal(weft_buffer_summarize(header, SIZE, &summary), 0);
		trace_open(&trace, header, SIZE);
		while (trace_next(&trace))
			given += !trace.event.is_rundown;
		assert_int_equal(summary.events, given);
		assert_int_equal(
			summary.losses[WEFT_LOSS_OVERWRITTEN], trace_loss(&trace, WEFT_LOSS_OVERWRITTEN));
		assert_int_equal(given + trace_loss(&trace, WEFT_LOSS_OVERWRITTEN), events);
		assert_int_equal(summary.losses[WEFT_LOSS_TOO_BIG], 3);
		weft_decoder_destroy(trace.decoder);
		weft_stop();
		/* All packets are closed now. */
		assert_int_equal(weft_buffer_summarize(header, SIZE, &summary), 0);
		assert_int_equal(summary.events, given);
		free(header);
	}
}

static void a_summary_describes_the_program(void **state)
{
	(void)state;
	struct weft_buffer_summary summary;
	struct weft_abi_buffer *header = record(1);
	assert_int_equal(weft_buffer_summarize(header, SIZE, &summary), 0);
	assert_false(summary.is_stopped);
	weft_stop();
	header->pid = 4711;
	memset(header->program, 'p', sizeof(header->program)); /* without an end */
	header->start.unix_ns = 123456789;
	header->stop_reason = 28;
	header->refused_count = 9;
	for (unsigned i = 0; i < WEFT_ABI_REFUSED; i++)
		header->refused[i] = (100 + i) | (uint64_t)(10 + i) << 32 | (uint64_t)i << 48;
	assert_int_equal(weft_buffer_summarize(header, SIZE, &summary), 0);
	assert_true(summary.is_stopped);
	assert_int_equal(summary.pid, 4711);
	assert_int_equal(strlen(summary.program), sizeof(header->program));
	assert_int_equal(summary.start_unix_ns, 123456789);
	assert_int_equal(summary.stop_reason, 28);
	assert_int_equal(summary.refused_count, 9);
	/* Unknown steps count as the start. */
	static const char *const steps[WEFT_ABI_REFUSED] = {
		"start", "create", "allocate", "map", "start", "start", "start"};
	for (unsigned i = 0; i < WEFT_ABI_REFUSED; i++) {
		assert_int_equal(summary.refused[i].pid, 100 + i);
		assert_int_equal(summary.refused[i].reason, 10 + i);
		assert_string_equal(summary.refused[i].step, steps[i]);
	}
	free(header);
}

static void other_bytes_have_no_summary(void **state)
{
	(void)state;
	struct weft_buffer_summary summary = {.pid = 7};
	struct weft__identity identity = {.pid = 7};
	struct weft_abi_buffer *header = record(1);
	weft_stop();
	assert_int_equal(weft_buffer_summarize(header, 0, &summary), WEFT_ERROR_EMPTY);
	assert_int_equal(weft_buffer_summarize("no trace", 8, &summary), WEFT_ERROR_FORMAT);
	assert_false(weft__identify_trace("no trace", 8, &identity));
	header->version++;
	assert_int_equal(weft_buffer_summarize(header, SIZE, &summary), WEFT_ERROR_UNSUPPORTED);
	assert_false(weft__identify_trace(header, SIZE, &identity));
	header->version--;
	header->stream = 2;
	assert_int_equal(weft_buffer_summarize(header, SIZE, &summary), WEFT_ERROR_UNSUPPORTED);
	assert_int_equal(summary.pid, 7);
	assert_int_equal(identity.pid, 7);
	free(header);
}

/* ---- Clock ---- */

struct clock_case {
	uint32_t clock;
	uint64_t hz, start_ns, end_ticks, end_ns, unix_ns; /* the start is at 1000 ticks */
	const char *name;
	enum weft_clock_epoch epoch;
	uint64_t expected_hz, event_ns; /* of an event at 5000 ticks */
	int64_t offset_ns;
	size_t problems;
};

static void a_clock_is_converted_by_its_readings(void **state)
{
	static const struct clock_case cases[] = {
		/* Its readings are far enough apart: 2000 ticks a second. */
		{WEFT_ABI_CLOCK_TSC, 5, 1000000000, 3000, 2000000000, 0, "tsc", WEFT_EPOCH_MONOTONIC, 2000,
			3000000000, 0, 0},
		/* Too near: the header's rate. */
		{WEFT_ABI_CLOCK_CNTVCT, 1000, 1000000000, 3000, 1000999999, 0, "cntvct",
			WEFT_EPOCH_MONOTONIC, 1000, 5000000000, 0, 0},
		{WEFT_ABI_CLOCK_CNTVCT, 1000, 1000000000, 3000, 1001000000, 0, "cntvct",
			WEFT_EPOCH_MONOTONIC, 2000000, 1002000000, 0, 0},
		/* No rate: the readings in any case. */
		{WEFT_ABI_CLOCK_CALLER, 0, 1000, 3000, 5000, 0, "caller", WEFT_EPOCH_MONOTONIC, 500000000,
			9000, 0, 0},
		{WEFT_ABI_CLOCK_CALLER, 0, 0, 0, 0, 0, "caller", WEFT_EPOCH_UNKNOWN, 1000000000, 4000, 0,
			1},
		{WEFT_ABI_CLOCK_MONOTONIC, 5, 1000, 2000, 9000, 100000, "monotonic", WEFT_EPOCH_MONOTONIC,
			1000000000, 5000, 99000, 0},
		{WEFT_ABI_CLOCK_UNIX, 5, 1000, 2000, 9000, 100000, "unix", WEFT_EPOCH_UNIX, 1000000000,
			5000, 0, 0},
		{WEFT_ABI_CLOCK_XEN, 5, 1000, 2000, 9000, 100000, "xen", WEFT_EPOCH_MONOTONIC, 1000000000,
			5000, 99000, 0},
		{77, 1000000000, 0, 0, 0, 0, "unknown", WEFT_EPOCH_UNKNOWN, 1000000000, 4000, 0, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct clock_case *c = &cases[i];
		struct trace trace;
		struct weft_abi_buffer *header = record(1);
		weft_stop();
		header->clock = c->clock;
		header->clock_hz = c->hz;
		header->start = (struct weft_abi_clock_reading){1000, c->start_ns, c->unix_ns};
		header->second = (struct weft_abi_clock_reading){0};
		header->end = (struct weft_abi_clock_reading){c->end_ticks, c->end_ns, 0};
		trace_open(&trace, header, SIZE);
		while (trace_next(&trace) && trace.event.type != WEFT_EVENT_TAG)
			continue;
		const struct weft_clock *clock = &weft_decoder_describe(trace.decoder)->clock;
		assert_string_equal(clock->name, c->name);
		assert_int_equal(clock->epoch, c->epoch);
		assert_in_range(clock->hz, c->expected_hz - 1, c->expected_hz); /* rounded down */
		assert_int_equal(clock->offset_ns, c->offset_ns);
		assert_in_range(trace.event.time_ns, c->event_ns - 1, c->event_ns);
		assert_int_equal(weft_decoder_diagnostics(trace.decoder)->count, c->problems);
		weft_decoder_destroy(trace.decoder);
		free(header);
	}
}

/* A guest's readings are of Xen's clock; a reader in dom0 adds the difference to its own one. */
static void an_offset_moves_all_readings(void **state)
{
	(void)state;
	static const uint32_t clocks[] = {WEFT_ABI_CLOCK_XEN, WEFT_ABI_CLOCK_TSC};
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		struct weft__identity identity;
		struct trace trace;
		struct weft_abi_buffer *header = record(1);
		weft_stop();
		header->clock = clocks[i];
		header->start = (struct weft_abi_clock_reading){1000, 1000, 800};
		header->second = (struct weft_abi_clock_reading){2001000, 2001000, 2000800};
		header->end = (struct weft_abi_clock_reading){3001000, 3001000, 0};
		header->time_base = WEFT_ABI_TIME_XEN;
		header->time_offset_ns = -500;
		trace_open(&trace, header, SIZE);
		while (trace_next(&trace) && trace.event.type != WEFT_EVENT_TAG)
			continue;
		const struct weft_trace_description *about = weft_decoder_describe(trace.decoder);
		assert_int_equal(trace.event.time_ns, 4500);
		assert_int_equal(about->clock.offset_ns, 800 - 500);
		assert_int_equal(about->buffers[0].end_ns, 3000500);
		assert_true(weft__identify_trace(header, SIZE, &identity));
		assert_int_equal(identity.readings.first.ns, 500);
		assert_int_equal(identity.readings.last.ns, 3000500);
		weft_decoder_destroy(trace.decoder);
		free(header);
	}
}

/* ---- Identity ---- */

static void a_trace_is_identified_by_its_header(void **state)
{
	(void)state;
	struct weft__identity identity;
	struct weft_abi_buffer *header = record(1);
	weft_stop();
	header->pid = 4711;
	header->clock = WEFT_ABI_CLOCK_TSC;
	memset(header->boot_id, 1, sizeof(header->boot_id));
	memset(header->uuid, 2, sizeof(header->uuid));
	header->start = (struct weft_abi_clock_reading){10, 20, 0};
	header->second = (struct weft_abi_clock_reading){30, 40, 0};
	header->end = (struct weft_abi_clock_reading){0};
	assert_true(weft__identify_trace(header, SIZE, &identity));
	assert_int_equal(identity.pid, 4711);
	assert_true(identity.is_monotonic && identity.has_counter);
	assert_memory_equal(identity.boot_id, header->boot_id, 16);
	assert_memory_equal(identity.uuid, header->uuid, 16);
	assert_int_equal(identity.readings.first.ticks, 10);
	assert_int_equal(identity.readings.first.ns, 20);
	assert_int_equal(identity.readings.last.ticks, 30);
	assert_int_equal(identity.readings.last.ns, 40);
	header->clock = WEFT_ABI_CLOCK_MONOTONIC;
	assert_true(weft__identify_trace(header, SIZE, &identity));
	assert_false(identity.has_counter);
	free(header);
}

/* ---- One clock for several buffers ---- */

#define MS 1000000

/* A counter of 1 GHz, which was read at two times; the second reading is off by `error`. */
static struct weft__identity counter(uint64_t from, uint64_t to, int64_t first, int64_t last)
{
	return (struct weft__identity){.has_counter = true,
		.readings = {{from, from + (uint64_t)first}, {to, to + (uint64_t)last}}};
}

static bool share(struct weft__identity a, struct weft__identity b, struct weft__identity c)
{
	const struct weft__identity list[] = {a, b, c}, back[] = {c, b, a};
	const struct weft__shared_readings shared = weft__share_readings(list, 3);
	const struct weft__shared_readings other = weft__share_readings(back, 3);
	const struct weft__readings readings = shared.counter;
	bool is_shared = readings.last.ticks;
	assert_int_equal(other.counter.last.ticks != 0, is_shared);
	assert_int_equal(readings.first.ticks, is_shared ? 1000 * (uint64_t)MS : 0);
	assert_int_equal(readings.last.ticks, is_shared ? 9000 * (uint64_t)MS : 0);
	assert_int_equal(shared.xen.ticks, 0);
	return is_shared;
}

static void counters_that_agree_share_their_readings(void **state)
{
	(void)state;
	const uint64_t ms = MS;
	const struct weft__identity whole = counter(1000 * ms, 9000 * ms, 0, 0);
	const struct weft__identity none = {.readings = {{1, 999}, {UINT64_MAX, 999}}};
	assert_true(share(whole, counter(2000 * ms, 3000 * ms, 0, 0), none));
	assert_false(share(whole, none, none)); /* there is only one */
	/* The first and the last may be of different buffers. */
	assert_true(
		share(counter(1000 * ms, 3000 * ms, 0, 0), none, counter(2000 * ms, 9000 * ms, 0, 0)));
	/* 1 ms, and a thousandth of the time since the beginning: 1 ms and 2 ms. */
	assert_true(share(whole, counter(2000 * ms, 3000 * ms, 2 * MS, 0), none));
	assert_false(share(whole, counter(2000 * ms, 3000 * ms, 2 * MS + 1, 0), none));
	assert_true(share(whole, counter(2000 * ms, 3000 * ms, 0, 3 * MS), none));
	assert_false(share(whole, counter(2000 * ms, 3000 * ms, 0, 3 * MS + 1), none));
	assert_true(share(whole, counter(2000 * ms, 3000 * ms, -2 * MS, -3 * MS), none));
	assert_false(share(whole, counter(2000 * ms, 3000 * ms, -2 * MS - 1, 0), none));
	/* A clock that does not go on. */
	const struct weft__identity still = counter(1000 * ms, 1000 * ms, 0, 0);
	assert_false(share(still, still, none));
	const struct weft__identity back = {.has_counter = true, .readings = {{10, 20}, {30, 20}}};
	assert_false(share(back, back, none));
}

/* Guests of Xen, with the difference to the host's clock as it was measured for each. */
static void guests_share_one_difference(void **state)
{
	(void)state;
	const uint64_t ms = MS;
	struct weft__identity list[3] = {counter(1000 * ms, 9000 * ms, 5000, 0),
		counter(2000 * ms, 2000 * ms, 5100, 0), counter(3000 * ms, 4000 * ms, 4900, 0)};
	for (int i = 0; i < 3; i++) {
		list[i].has_counter = false;
		list[i].has_xen = true;
	}
	struct weft__reading xen = weft__share_readings(list, 3).xen;
	assert_int_equal(xen.ns - xen.ticks, 5000);
	assert_int_equal(weft__share_readings(list, 1).xen.ticks, 0);
	list[1].has_xen = false;
	assert_int_equal(weft__share_readings(list, 2).xen.ticks, 0);
	assert_int_equal(weft__share_readings(list, 3).xen.ticks, 1000 * ms);
	list[2].readings.first.ns += 4 * MS; /* 1 ms and a thousandth of 2 s would be near enough */
	assert_int_equal(weft__share_readings(list, 3).xen.ticks, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_summary_counts_events_and_losses),
		cmocka_unit_test(a_summary_describes_the_program),
		cmocka_unit_test(other_bytes_have_no_summary),
		cmocka_unit_test(a_clock_is_converted_by_its_readings),
		cmocka_unit_test(an_offset_moves_all_readings),
		cmocka_unit_test(a_trace_is_identified_by_its_header),
		cmocka_unit_test(counters_that_agree_share_their_readings),
		cmocka_unit_test(guests_share_one_difference),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
