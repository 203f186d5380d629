/* SPDX-License-Identifier: ISC
 *
 * The header of a buffer: its summary, its clock, and which buffers share one clock.
 */
#include "record_trace.h"

#include <weft/buffer.h>

#include "abi/buffer_abi.h"
#include "abi/table_abi.h"
#include "format/weft/identity.h"
#include "nothing_left.h"

#define SIZE ((size_t)64 << 10)

static uint64_t now_ticks;

static const struct weft_platform by_hand = {.ticks_at = &now_ticks, .ticks_hz = 1000000000};

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
	/* Numbers that no process can have do not count. */
	for (unsigned i = 0; i < WEFT_ABI_REFUSED - 1; i++)
		header->refused[i] = i % 2 ? UINT64_C(0x0101010101010101) : (uint64_t)12 << 32;
	assert_int_equal(weft_buffer_summarize(header, SIZE, &summary), 0);
	assert_int_equal(summary.refused_count, 1);
	assert_int_equal(summary.refused[0].pid, 100 + WEFT_ABI_REFUSED - 1);
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
	assert_false(weft__format_identify_trace("no trace", 8, &identity));
	header->version++;
	assert_int_equal(weft_buffer_summarize(header, SIZE, &summary), WEFT_ERROR_UNSUPPORTED);
	assert_false(weft__format_identify_trace(header, SIZE, &identity));
	header->version--;
	header->stream = 2;
	assert_int_equal(weft_buffer_summarize(header, SIZE, &summary), WEFT_ERROR_UNSUPPORTED);
	assert_int_equal(summary.pid, 7);
	assert_int_equal(identity.pid, 7);
	free(header);
}

/* A buffer of a guest has comparisons of the host's clocks, of which readers make a clock. */
static void looking_at_a_header_keeps_no_memory(void **state)
{
	(void)state;
	struct weft_abi_buffer *header = record(1);
	weft_stop();
	header->comparison_count = 1;
	header->comparisons[0] = (struct weft_abi_comparison){1000, 1000, 1000, 1, 0};
	struct held before = {0};
	for (int i = -1; i < HELD_ROUNDS; i++) {
		struct weft_buffer_summary summary;
		struct weft__identity identity;
		assert_int_equal(weft_buffer_summarize(header, SIZE, &summary), 0);
		assert_true(weft__format_identify_trace(header, SIZE, &identity));
		assert_int_equal(identity.comparison_count, 1);
		if (i < 0)
			before = held_now();
	}
	held_expect(before);
	free(header);
}

/* Puts a table of the wall clock behind a trace; rows are as many words as that has. */
static struct weft__identity identify_with(
	const struct weft_abi_table *table, const uint64_t *rows, bool *ret_is_known)
{
	const size_t size = table->room * (size_t)table->row_bytes;
	struct weft_abi_buffer *header = record(1);
	weft_stop();
	uint8_t *bytes = calloc(1, SIZE + sizeof(*table) + size);
	struct weft__identity identity;
	assert_non_null(bytes);
	memcpy(bytes, header, SIZE);
	memcpy(bytes + SIZE, table, sizeof(*table));
	memcpy(bytes + SIZE + sizeof(*table), rows, size);
	((struct weft_abi_buffer *)(void *)bytes)->added_offset = SIZE;
	((struct weft_abi_buffer *)(void *)bytes)->added_bytes = sizeof(*table) + size;
	*ret_is_known = weft__format_identify_trace(bytes, SIZE + sizeof(*table) + size, &identity);
	free(bytes);
	free(header);
	return identity;
}

static void notes_of_the_wall_clock_are_read_and_shared(void **state)
{
	static const uint64_t rows[] = {10, 1000, 5, 1, 20, 2000, 6, 1, 30, 3000, 7, 1};
	struct weft_abi_table table = {.number = WEFT_ABI_TABLE_wall_clock,
		.cut = WEFT_ABI_TABLE_OF_CLOCK,
		.row_bytes = sizeof(struct weft_abi_wall_clock_row),
		.room = 3,
		.count = 3};
	bool is_known;
	(void)state;
	const struct weft__identity identity = identify_with(&table, rows, &is_known);
	assert_true(is_known);
	assert_int_equal(identity.wall_note_count, 2);
	assert_int_equal(identity.wall_notes[0].own_ns, 10);
	assert_int_equal(identity.wall_notes[1].own_ns, 30); /* the last row, not the second one */
	assert_int_equal(identity.wall_notes[1].wall_ns, 3000);
	assert_int_equal(identity.wall_notes[1].error_ns, 7);
	table.count = 1;
	assert_int_equal(identify_with(&table, rows, &is_known).wall_note_count, 1);
	table.row_bytes = 24; /* of a version that has less */
	assert_int_equal(identify_with(&table, rows, &is_known).wall_note_count, 0);
	table.row_bytes = 32;
	table.growth = WEFT_ABI_TABLE_NEWEST;
	assert_int_equal(identify_with(&table, rows, &is_known).wall_note_count, 0);
	table.growth = WEFT_ABI_TABLE_GROWS;
	table.number = WEFT_ABI_TABLE_machine;
	assert_int_equal(identify_with(&table, rows, &is_known).wall_note_count, 0);

	struct weft__identity many[40];
	struct weft__shared_readings *shared = calloc(1, sizeof(*shared));
	assert_non_null(shared);
	for (size_t i = 0; i < 40; i++)
		many[i] = identity;
	assert_int_equal(weft__format_share_readings(many, 3, shared), 0);
	assert_int_equal(shared->wall_note_count, 6);
	assert_int_equal(shared->wall_notes[4].own_ns, 10);
	assert_int_equal(weft__format_share_readings(many, 40, shared), 0);
	assert_int_equal(shared->wall_note_count, WEFT__SHARED_WALL_NOTES);
	free(shared);
}

/* ---- Names ---- */

static bool are_names_refused(struct weft_abi_buffer *header, uint64_t offset, uint32_t bytes)
{
	struct weft_decoder *decoder;
	bool is_refused = false;
	header->names_offset = offset;
	header->names_bytes = bytes;
	header->names_index = 0;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, header, SIZE), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	const struct weft_diagnostics *found = weft_decoder_diagnostics(decoder);
	for (size_t i = 0; i < found->count; i++)
		is_refused |= strstr(found->list[i].message, "offset or size of names") != NULL;
	weft_decoder_destroy(decoder);
	return is_refused;
}

/* They may touch the header, the packets and the end of the buffer. */
static void names_that_overlap_others_are_refused(void **state)
{
	(void)state;
	struct weft_abi_buffer *header = record(1);
	const uint64_t begin = header->packets_offset;
	weft_stop();
	header->packet_count--;
	const uint64_t end = begin + (uint64_t)header->packet_count * header->packet_bytes;
	assert_false(are_names_refused(header, sizeof(*header), (uint32_t)(begin - sizeof(*header))));
	assert_true(
		are_names_refused(header, sizeof(*header), (uint32_t)(begin - sizeof(*header) + 1)));
	assert_true(are_names_refused(header, sizeof(*header) - 1, 16));
	assert_true(are_names_refused(header, begin, 16));
	assert_true(are_names_refused(header, end - 1, 16));
	assert_false(are_names_refused(header, end, 16));
	assert_false(are_names_refused(header, SIZE - 16, 16));
	assert_true(are_names_refused(header, SIZE - 16, 17));
	assert_true(are_names_refused(header, SIZE + 1, 0));
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
		assert_true(weft__format_identify_trace(header, SIZE, &identity));
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
	assert_true(weft__format_identify_trace(header, SIZE, &identity));
	assert_int_equal(identity.pid, 4711);
	assert_true(identity.is_monotonic && identity.has_counter);
	assert_memory_equal(identity.boot_id, header->boot_id, 16);
	assert_memory_equal(identity.uuid, header->uuid, 16);
	assert_int_equal(identity.readings.first.ticks, 10);
	assert_int_equal(identity.readings.first.ns, 20);
	assert_int_equal(identity.readings.last.ticks, 30);
	assert_int_equal(identity.readings.last.ns, 40);
	header->clock = WEFT_ABI_CLOCK_MONOTONIC;
	assert_true(weft__format_identify_trace(header, SIZE, &identity));
	assert_false(identity.has_counter);
	free(header);
}

/* ---- One clock for several buffers ---- */

#define MS 1000000

/* A counter of 1 GHz, which was read at two times: these readings of the time are off by so much.
 */
static struct weft__identity counter(uint64_t from, uint64_t to, int64_t first, int64_t last)
{
	const struct weft__readings readings = {
		.first = {.ticks = from, .ns = from + (uint64_t)first},
		.last = {.ticks = to, .ns = to + (uint64_t)last},
	};
	return (struct weft__identity){.has_counter = true, .readings = readings};
}

static bool share(struct weft__identity a, struct weft__identity b, struct weft__identity c)
{
	const struct weft__identity list[] = {a, b, c}, back[] = {c, b, a};
	static struct weft__shared_readings shared, other;
	assert_int_equal(weft__format_share_readings(list, 3, &shared), 0);
	assert_int_equal(weft__format_share_readings(back, 3, &other), 0);
	const struct weft__readings readings = shared.counter;
	bool is_shared = readings.last.ticks;
	assert_int_equal(other.counter.last.ticks != 0, is_shared);
	assert_int_equal(readings.first.ticks, is_shared ? 1000 * (uint64_t)MS : 0);
	assert_int_equal(readings.last.ticks, is_shared ? 9000 * (uint64_t)MS : 0);
	assert_int_equal(shared.host.count, 0);
	return is_shared;
}

static void counters_that_agree_share_their_readings(void **state)
{
	(void)state;
	const uint64_t ms = MS;
	const struct weft__identity whole = counter(1000 * ms, 9000 * ms, 0, 0);
	struct weft__identity none = counter(1, UINT64_MAX, 998, 1000);
	none.has_counter = false;
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
	const struct weft__identity back = counter(10, 30, 10, -10);
	assert_false(share(back, back, none));
}

/* Dom0's clock gains 50 us in each second on Xen's, and the counter has 2 GHz. */
static struct weft_abi_comparison compared(uint64_t at_ms, uint32_t error_ns)
{
	const uint64_t ms = MS;
	return (struct weft_abi_comparison){
		.xen_ns = 70 * ms + at_ms * ms,
		.monotonic_ns = 10 * ms + at_ms * ms + at_ms * 50,
		.counter = 1000 * ms + 2 * at_ms * ms,
		.error_ns = error_ns,
	};
}

static void guests_share_comparisons(void **state)
{
	(void)state;
	const uint64_t ms = MS;
	static struct weft__identity list[3];
	static struct weft__shared_readings shared;
	const struct weft__host_clock *host = &shared.host;
	list[0].comparisons[0] = compared(4000, 100);
	list[0].comparisons[1] = compared(5000, 300);
	list[0].comparison_count = 2;
	list[2].comparisons[0] = compared(0, 200);
	list[2].comparison_count = 1;
	assert_int_equal(weft__format_share_readings(list, 3, &shared), 0);
	assert_int_equal(host->count, 3);
	assert_in_range(host->error_ns, 300, 302);
	assert_int_equal(host->offset_ns, -60 * MS);
	/* Before, at, between and after the comparisons. */
	for (uint64_t at = 0; at < 9; at++) {
		const struct weft_abi_comparison c = compared(at * 1000, 0);
		assert_in_range(
			weft__format_ticks_to_ns(host->xen, c.xen_ns), c.monotonic_ns - 1, c.monotonic_ns + 1);
		assert_in_range(weft__format_ticks_to_ns(host->counter, c.counter), c.monotonic_ns - 1,
			c.monotonic_ns + 1);
	}
	assert_int_equal(weft__format_ticks_to_ns(host->xen, 60 * ms), 0);
	assert_true(weft__format_host_clock_agrees(host, compared(3000, 0).counter, 3011 * ms));
	assert_false(weft__format_host_clock_agrees(host, compared(3000, 0).counter, 3020 * ms));
	/* One guest's comparisons are so close that they give no rate. */
	list[0].comparison_count = 1;
	assert_int_equal(weft__format_share_readings(list, 1, &shared), 0);
	assert_int_equal(host->count, 1);
	assert_false(host->has_counter);
	assert_int_equal(weft__format_ticks_to_ns(host->xen, compared(9000, 0).xen_ns),
		compared(4000, 0).monotonic_ns + 5000 * ms);
}

/* Each trace of a guest has its own idea of the guest's clock: the most exact one is for all, in
 * whatever order they come, and of each guest alone. */
static void traces_of_a_guest_share_its_best_clock(void **state)
{
	(void)state;
	static const uint8_t orders[][3] = {
		{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	static const uint32_t errors[] = {50, 10, 30};
	static struct weft__identity list[5];
	static struct weft__shared_readings shared;
	const struct weft__guest_clock own = {.offset_ns = 7, .error_ns = 5};
	list[1].guest = 9;
	list[1].guest_clock = (struct weft__guest_clock){.offset_ns = 900, .error_ns = 1};
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		for (size_t k = 0; k < 3; k++) {
			struct weft__identity *it = &list[k ? k + 1 : 0];
			it->guest = 4;
			it->guest_clock = (struct weft__guest_clock){
				.offset_ns = 100 + orders[i][k], .error_ns = errors[orders[i][k]]};
		}
		assert_int_equal(weft__format_share_readings(list, 5, &shared), 0);
		assert_int_equal(weft__format_share_guest_clock(&shared, 4, own).offset_ns, 101);
		assert_int_equal(weft__format_share_guest_clock(&shared, 4, own).error_ns, 10);
		assert_int_equal(weft__format_share_guest_clock(&shared, 9, own).offset_ns, 900);
		assert_int_equal(weft__format_share_guest_clock(&shared, 8, own).offset_ns, 7);
	}
}

/* The offset is that of the first trace that has one. */
static void the_first_offset_counts(void **state)
{
	(void)state;
	static struct weft__shared_readings shared;
	static struct weft__identity list[4];
	assert_int_equal(weft__format_share_readings(list, 4, &shared), 0);
	assert_int_equal(shared.offset_ns, 0);
	list[1].offset_ns = 5;
	list[2].offset_ns = 7;
	assert_int_equal(weft__format_share_readings(list, 4, &shared), 0);
	assert_int_equal(shared.offset_ns, 5);
}

/* ---- Linux guests of Xen ---- */

/* The guest's CLOCK_MONOTONIC is 30 ms behind Xen's time. */
static struct weft__guest_reading guest_read(uint64_t at_ms)
{
	const struct weft_abi_comparison host = compared(at_ms, 0);
	return (struct weft__guest_reading){host.xen_ns - 30 * MS, host.counter};
}

static void readings_between_comparisons_give_a_guests_clock(void **state)
{
	(void)state;
	const struct weft_abi_comparison list[] = {
		compared(0, 100), compared(1000, 300), compared(9000, 200)};
	struct weft__guest_reading readings[24];
	for (unsigned i = 0; i < 21; i++)
		readings[i] = guest_read(8000 - 200 * i);
	readings[7].monotonic_ns += 5 * MS; /* one in twenty may be disturbed */
	readings[21] = guest_read(20000);   /* far from the comparisons */
	readings[22] = (struct weft__guest_reading){0, guest_read(5).counter};
	readings[23] = (struct weft__guest_reading){guest_read(5).monotonic_ns, 0};
	struct weft__guest_clock clock = weft__format_guest_clock_find(readings, 24, list, 3);
	assert_int_equal(clock.offset_ns, 30 * MS);
	assert_int_equal(clock.error_ns, 300);
	/* The guest's clock is slewed. */
	for (unsigned i = 0; i < 21; i++) {
		readings[i] = guest_read(2000 + 200 * i);
		readings[i].monotonic_ns += 1000 * i;
	}
	clock = weft__format_guest_clock_find(readings, 21, list, 3);
	assert_int_equal(clock.offset_ns, 30 * MS - 10000);
	assert_int_equal(clock.error_ns, 300 + 9000);
}

static void the_closest_reading_gives_a_guests_clock(void **state)
{
	(void)state;
	const struct weft_abi_comparison list[] = {compared(4000, 100), compared(5000, 100)};
	struct weft__guest_reading readings[] = {guest_read(3000), guest_read(7000), guest_read(1000)};
	readings[1].monotonic_ns += 777;
	struct weft__guest_clock clock = weft__format_guest_clock_find(readings, 3, list, 2);
	/* The rate is that of all readings. */
	assert_in_range(clock.offset_ns, 30 * MS - 777 / 6 - 1, 30 * MS - 777 / 6 + 1);
	/* The clock may be slewed by a thousandth, and the rate be off by 50 us in 6 s. */
	assert_in_range(clock.error_ns, 100 + MS + 8333 - 1, 100 + MS + 8333 + 1);
	clock = weft__format_guest_clock_find(&readings[2], 1, list, 2); /* that of 7000 */
	assert_in_range(clock.offset_ns, 30 * MS - 778, 30 * MS - 776);
	assert_in_range(clock.error_ns, 100 + 2 * MS + 100000 - 1, 100 + 2 * MS + 100000 + 1);
	/* The guest's own rate. */
	struct weft__guest_reading two[] = {guest_read(3000), guest_read(3500)};
	clock = weft__format_guest_clock_find(two, 2, list, 1);
	assert_in_range(clock.offset_ns, 30 * MS - 1, 30 * MS + 1);
	assert_in_range(clock.error_ns, 100 + MS / 2 + 50000 - 1, 100 + MS / 2 + 50000 + 1);
}

static void a_guests_clock_may_be_unknown(void **state)
{
	(void)state;
	struct weft_abi_comparison list[] = {compared(4000, 100), compared(5000, 100)};
	struct weft__guest_reading readings[] = {guest_read(4500), guest_read(4600)};
	assert_int_equal(weft__format_guest_clock_find(readings, 0, list, 2).offset_ns, 0);
	assert_int_equal(weft__format_guest_clock_find(readings, 2, list, 0).offset_ns, 0);
	assert_int_equal(
		weft__format_guest_clock_find(readings, 1, list, 1).offset_ns, 0); /* no rate */
	assert_int_equal(weft__format_guest_clock_find(readings, 2, list, 2).offset_ns, 30 * MS);
	list[1].counter = 0;
	assert_int_equal(weft__format_guest_clock_find(readings, 2, list, 2).offset_ns, 0);
}

/* Its events are at 5000 ns of the guest's clock. */
static struct weft_abi_buffer *record_in_linux_guest(uint64_t start_ms)
{
	struct weft_abi_buffer *header = record(1);
	weft_stop();
	header->clock = WEFT_ABI_CLOCK_MONOTONIC;
	header->time_base = WEFT_ABI_TIME_COUNTER;
	header->guest = 6;
	memset(header->boot_id, 1, sizeof(header->boot_id));
	const struct weft_abi_clock_reading readings[] = {
		{1000, compared(start_ms, 0).counter, 0},
		{1000 + 500 * MS, compared(start_ms + 500, 0).counter, 0},
		{1000 + 900 * MS, compared(start_ms + 900, 0).counter, 0},
	};
	header->start = readings[0];
	header->second = readings[1];
	header->end = readings[2];
	header->comparison_count = 3;
	for (unsigned i = 0; i < 3; i++)
		header->comparisons[i] = compared(1000 * i, 100);
	return header;
}

static void expect_event_at(const struct weft_abi_buffer *header, uint64_t ns)
{
	struct trace trace;
	trace_open(&trace, header, SIZE);
	while (trace_next(&trace) && trace.event.type != WEFT_EVENT_TAG)
		continue;
	assert_in_range(trace.event.time_ns, ns - 1, ns + 1);
	weft_decoder_destroy(trace.decoder);
}

/* At 100.004 ms after the first comparison; dom0's clock gained 5 us since then. */
static void a_linux_guest_is_on_dom0s_clock(void **state)
{
	(void)state;
	struct weft__identity identity;
	struct weft_abi_buffer *header = record_in_linux_guest(100);
	expect_event_at(header, 110 * MS + 4000 + 5000);
	assert_true(weft__format_identify_trace(header, SIZE, &identity));
	assert_int_equal(identity.guest, 6);
	assert_int_equal(identity.guest_clock.offset_ns, 170 * MS - 1000);
	assert_in_range(identity.readings.first.ns, 110 * MS + 5000 - 1, 110 * MS + 5000 + 1);
	assert_int_equal(identity.comparison_count, 3);
	/* A part of a trace has the constant, and fewer readings. */
	header->time_offset_ns = 170 * MS - 1000;
	header->second = header->end = (struct weft_abi_clock_reading){0};
	header->offset_error_ns = 654;
	expect_event_at(header, 110 * MS + 4000 + 5000);
	assert_true(weft__format_identify_trace(header, SIZE, &identity));
	assert_int_equal(identity.guest_clock.error_ns, 654);
	/* Without the constant its times begin at its start, and are of no boot. */
	header->time_offset_ns = 0;
	header->start = (struct weft_abi_clock_reading){1000, 0, 0};
	expect_event_at(header, 5000 - 1000);
	assert_true(weft__format_identify_trace(header, SIZE, &identity));
	assert_int_equal(identity.boot_id[0], 0);
	header->start.monotonic_ns = compared(100, 0).counter;
	/* Without comparisons it has its own time, and that of no counter. */
	header->comparison_count = 0;
	expect_event_at(header, 5000);
	assert_true(weft__format_identify_trace(header, SIZE, &identity));
	assert_int_equal(identity.readings.first.ns, 1000);
	assert_int_equal(identity.guest, 0);
	free(header);
}

/* Each has readings of its own, but their order is that of the guest's clock. */
static void processes_of_a_linux_guest_share_its_clock(void **state)
{
	(void)state;
	static struct weft__identity list[3];
	static struct weft__shared_readings shared;
	const struct weft__guest_clock own = {111, 5};
	list[0].guest = list[1].guest = 6;
	list[0].guest_clock = (struct weft__guest_clock){30 * MS, 700};
	list[1].guest_clock = (struct weft__guest_clock){30 * MS + 50, 600};
	list[2].guest = 7;
	list[2].guest_clock = (struct weft__guest_clock){-40 * MS, 900};
	assert_int_equal(weft__format_share_readings(list, 3, &shared), 0);
	assert_int_equal(weft__format_share_guest_clock(&shared, 6, own).offset_ns, 30 * MS + 50);
	assert_int_equal(weft__format_share_guest_clock(&shared, 7, own).offset_ns, -40 * MS);
	assert_int_equal(weft__format_share_guest_clock(&shared, 8, own).offset_ns, 111);
}

/* After a suspend, CLOCK_MONOTONIC has stood still. */
static void comparisons_that_contradict_are_dropped(void **state)
{
	(void)state;
	static struct weft__host_clock clock;
	struct weft_abi_comparison list[200] = {compared(0, 10), compared(1000, 10), compared(1000, 10),
		compared(1040, 10), compared(2000, 10), compared(3000, 10), compared(4000, 10)};
	list[4].monotonic_ns -= 10 * MS;
	list[5].counter = 0;
	weft__format_host_clock_init(&clock, list, 7);
	assert_int_equal(clock.count, 4);
	assert_false(clock.has_counter);
	for (unsigned i = 0; i < 200; i++)
		list[i] = compared(1000 * (199 - i), 10);
	list[100].monotonic_ns += 2000;
	weft__format_host_clock_init(&clock, list, 200);
	assert_in_range(clock.count, 40, WEFT__HOST_COMPARISONS_MAX);
	assert_int_equal(clock.offset_ns, -60 * MS);
	assert_in_range(weft__format_ticks_to_ns(clock.xen, compared(150000, 0).xen_ns),
		compared(150000, 0).monotonic_ns - 1, compared(150000, 0).monotonic_ns + 1);
	weft__format_host_clock_init(&clock, list, 0);
	assert_int_equal(clock.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_summary_counts_events_and_losses),
		cmocka_unit_test(a_summary_describes_the_program),
		cmocka_unit_test(other_bytes_have_no_summary),
		cmocka_unit_test(looking_at_a_header_keeps_no_memory),
		cmocka_unit_test(notes_of_the_wall_clock_are_read_and_shared),
		cmocka_unit_test(names_that_overlap_others_are_refused),
		cmocka_unit_test(a_clock_is_converted_by_its_readings),
		cmocka_unit_test(an_offset_moves_all_readings),
		cmocka_unit_test(a_trace_is_identified_by_its_header),
		cmocka_unit_test(counters_that_agree_share_their_readings),
		cmocka_unit_test(guests_share_comparisons),
		cmocka_unit_test(traces_of_a_guest_share_its_best_clock),
		cmocka_unit_test(the_first_offset_counts),
		cmocka_unit_test(comparisons_that_contradict_are_dropped),
		cmocka_unit_test(readings_between_comparisons_give_a_guests_clock),
		cmocka_unit_test(the_closest_reading_gives_a_guests_clock),
		cmocka_unit_test(a_guests_clock_may_be_unknown),
		cmocka_unit_test(a_linux_guest_is_on_dom0s_clock),
		cmocka_unit_test(processes_of_a_linux_guest_share_its_clock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
