/* SPDX-License-Identifier: ISC
 *
 * The last values of counters of a program that was killed. A copy of the buffer of a program that
 * goes on is that of one that was killed there: the copy is made by the program itself, even in the
 * middle of a change.
 */
#include "record_trace.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weft/buffer.h>
#include <weft/model.h>

#include "abi/buffer_abi.h"
#include "abi/table_abi.h"

#define SIZE ((size_t)64 << 10)

static uint64_t now;

static uint32_t self(void *context, char ret_name[16])
{
	(void)context;
	memset(ret_name, 0, 16);
	return 1;
}

/* A tick is a ns. */
static const struct weft_platform by_hand = {
	.ticks_at = &now, .ticks_hz = 1000000000, .self = self};

/* NULL: the processor's clock, with which events have the fast path. */
static const struct weft_platform *platform = &by_hand;

static uint8_t *begin(void)
{
	uint8_t *bytes = trace_buffer(SIZE);
	trace_forget_counters();
	memset(weft__counters.bucket, 0, sizeof(weft__counters.bucket));
	memset(weft__record_counter_cells(&weft__counters), 0, sizeof(weft__counters.own.cells));
	now = 1000;
	assert_int_equal(weft_start(bytes, SIZE, platform), 0);
	return bytes;
}

static void count(int64_t change)
{
	now += 1000;
	weft_counter_add("n", change);
}

/* An event that cannot be recorded: changes may be missing at any time. */
static void lose_event(void)
{
	static char name[2000];
	memset(name, 'x', sizeof(name) - 1);
	weft_counter_add(name, 1);
}

/* The buffer of a program that is killed now. */
static uint8_t *kill_now(const uint8_t *bytes)
{
	uint8_t *copy = trace_buffer(2 * SIZE);
	memset(copy, 0, 2 * SIZE);
	memcpy(copy, bytes, SIZE);
	return copy;
}

static void end(uint8_t *bytes)
{
	weft_stop();
	free(bytes);
}

/* Adds the table that is made of the values to a copy. False: none was made. */
static bool add(uint8_t *copy, const struct weft_buffer_value *values, size_t count)
{
	struct weft_abi_buffer *header = (void *)copy;
	void *table;
	size_t size;
	assert_int_equal(weft_buffer_make_last_values(copy, SIZE, values, count, &table, &size), 0);
	if (!table)
		return false;
	assert_true(size <= SIZE);
	memcpy(copy + SIZE, table, size);
	header->added_offset = SIZE;
	header->added_bytes = size;
	free(table);
	return true;
}

static struct weft_model *read_model(const uint8_t *copy)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_model_builder *builder;
	struct weft_model *model;
	struct trace trace;
	trace_open(&trace, copy, 2 * SIZE);
	assert_int_equal(weft_model_builder_create(&builder), 0);
	while (weft_decoder_next(trace.decoder, &trace.event) == WEFT_OK)
		assert_int_equal(weft_model_builder_add(builder, &trace.event, &diagnostics), 0);
	assert_int_equal(
		weft_model_builder_finish(builder, weft_decoder_describe(trace.decoder), &model), 0);
	weft_model_builder_destroy(builder);
	weft_decoder_destroy(trace.decoder);
	return model;
}

#define N(value) (&(const struct weft_buffer_value){.name = "n", .integer = value}), 1
/* The same of a counter that was 0 when the record began. */
#define FROM_0(value) \
	(&(const struct weft_buffer_value){.name = "n", .integer = value, .begins_at_0 = true}), 1

/* Frees the copy. The values of "n"; NULL: they are relative. */
static void expect(uint8_t *copy, const int64_t *values, uint32_t count)
{
	struct weft_model *model = read_model(copy);
	assert_int_equal(model->counter_count, 1);
	const struct weft_counter *c = &model->counters[0];
	assert_int_equal(c->is_relative, !values);
	for (uint32_t i = 0; values && i < count; i++)
		assert_int_equal(model->samples.value[c->first + i], values[i]);
	if (values)
		assert_int_equal(c->count, count);
	weft_model_destroy(model);
	free(copy);
}

#define EXPECT(copy, ...)                        \
	expect(copy, (const int64_t[]){__VA_ARGS__}, \
		sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* Two changes, between which an event is lost. */
static uint8_t *kill_after_a_loss(void)
{
	uint8_t *bytes = begin();
	count(1);
	lose_event();
	count(2);
	uint8_t *copy = kill_now(bytes);
	end(bytes);
	return copy;
}

static void a_counter_that_began_at_0_lacks_nothing(void **state)
{
	(void)state;
	uint8_t *copy = kill_after_a_loss();
	assert_true(add(copy, FROM_0(3)));
	EXPECT(copy, 1, 3);
}

/* The lost event was a change of 7, or such a change was made before the record. */
static void a_change_that_was_lost_is_known_at_the_end(void **state)
{
	(void)state;
	for (int is_from_0 = 0; is_from_0 < 2; is_from_0++) {
		uint8_t *copy = kill_after_a_loss();
		assert_true(is_from_0 ? add(copy, FROM_0(10)) : add(copy, N(10)));
		struct weft_model *model = read_model(copy);
		assert_true(model->counters[0].is_relative && model->counters[0].is_end_known);
		assert_int_equal(model->counters[0].end.integer, 10);
		weft_model_destroy(model);
		free(copy);
	}
}

static void without_values_nothing_is_known(void **state)
{
	(void)state;
	uint8_t *copy = kill_after_a_loss();
	expect(copy, NULL, 0);
}

/* A thread that gets a packet after a loss says the totals first. What was before them is not
 * known.
 */
static void totals_follow_a_loss(void **state)
{
	(void)state;
	uint8_t *bytes = begin();
	const struct weft_abi_buffer *header = (const void *)bytes;
	count(1);
	lose_event();
	count(2);
	const uint64_t hand = header->hand;
	while (header->hand == hand)
		weft_note("fill");
	count(3);
	uint8_t *copy = kill_now(bytes);
	end(bytes);
	EXPECT(copy, 6);
}

/* While a level hides a counter's changes, its value is not that of the trace. The last change
 * counts, of which the table may have earlier ones behind it. */
static void a_level_hides_changes_until_it_changes(void **state)
{
	(void)state;
	for (uint32_t changes = 1; changes <= WEFT_ABI_CHANGES + 1; changes += WEFT_ABI_CHANGES) {
		uint8_t *bytes = begin();
		struct weft_abi_buffer *header = (void *)bytes;
		count(1);
		for (uint32_t i = 1; i < WEFT_ABI_CHANGES && i < changes; i++)
			header->changes[i] = (struct weft_abi_change){.ticks = i, .number = i + 1};
		header->changes[0] = (struct weft_abi_change){.ticks = 5000, .number = changes};
		header->changes_count = changes;
		uint8_t *copy = kill_now(bytes);
		end(bytes);
		assert_true(add(copy, N(40)));
		struct weft_model *model = read_model(copy);
		assert_int_equal(model->samples.value[0], 1);
		weft_model_destroy(model);
		free(copy);
	}
}

static void a_program_that_stops_has_said_them(void **state)
{
	(void)state;
	uint8_t *bytes = begin();
	count(1);
	weft_stop();
	uint8_t *copy = kill_now(bytes);
	assert_false(add(copy, N(7)));
	free(copy);
	free(bytes);
}

static void a_counter_without_events_has_its_value(void **state)
{
	(void)state;
	uint8_t *bytes = begin();
	const struct weft_buffer_value values[] = {{.name = "quiet", .integer = 5},
		{.name = "real", .real = 2.5, .is_real = true},
		{.name = "of another buffer", .integer = 8}};
	weft_note("quiet");
	weft_note("real");
	uint8_t *copy = kill_now(bytes);
	end(bytes);
	assert_true(add(copy, values, 3));
	struct weft_model *model = read_model(copy);
	assert_int_equal(model->counter_count, 2);
	assert_int_equal(model->counters[0].max.integer, 5);
	assert_true(model->counters[1].max.is_real && model->counters[1].max.real == 2.5);
	weft_model_destroy(model);
	free(copy);
}

/* ---- In the middle of a change ---- */

static const uint8_t *running;
static uint8_t *killed;

static int protect_values(int how)
{
	struct weft_abi_counters *shared = weft__counters.own.shared;
	const uintptr_t at = (uintptr_t)(shared ? (void *)shared : &weft__counters.own);
	const size_t size = shared ? WEFT_ABI_COUNTERS_BYTES : sizeof(weft__counters.own);
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = at / page * page;
	return mprotect((void *)start, at + size - start, how);
}

/* The values' memory cannot be written: the change of a value is where the program is killed. */
static void kill_in_change(int signal)
{
	(void)signal;
	killed = kill_now(running);
	protect_values(PROT_READ | PROT_WRITE);
}

static uint8_t *kill_inside(void (*change)(void), const uint8_t *bytes)
{
	const struct sigaction action = {.sa_handler = kill_in_change};
	struct sigaction before;
	killed = NULL;
	running = bytes;
	assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
	assert_int_equal(protect_values(PROT_READ), 0);
	change();
	sigaction(SIGSEGV, &before, NULL);
	assert_non_null(killed);
	return killed;
}

static uint8_t *kill_in(void (*change)(void))
{
	uint8_t *bytes = begin();
	count(1);
	lose_event();
	count(2);
	uint8_t *copy = kill_inside(change, bytes);
	end(bytes);
	return copy;
}

static void add_four(void)
{
	count(4);
}

/* The first change at a call site is off the fast path. */
static void add_elsewhere(void)
{
	weft_counter_add("n", 4);
}

static void set_to_nine(void)
{
	weft_counter_set("n", 9);
}

static void add_to_another(void)
{
	weft_counter_add("m", 4);
}

static void add_as(void)
{
	weft_counter_add_as(3, "n", 4);
}

/* The event is there, but nobody knows whether the value has it. */
static void a_change_that_was_not_complete_is_unknown(void **state)
{
	(void)state;
	void (*const changes[])(void) = {add_four, add_elsewhere, add_as};
	const size_t count = sizeof(changes) / sizeof(*changes);
	for (size_t i = 0; i < 2 * count; i++) {
		platform = i < count ? &by_hand : NULL;
		uint8_t *copy = kill_in(changes[i % count]);
		platform = &by_hand;
		assert_true(add(copy, FROM_0(3)));
		struct weft_model *model = read_model(copy);
		assert_true(model->counters[0].is_relative);
		assert_int_equal(model->counters[0].count, 3);
		assert_false(model->counters[0].is_end_known);
		weft_model_destroy(model);
		free(copy);
	}
}

/* From the second time on, it has the fast path. */
static void a_set_that_is_not_the_first_is_known_as_well(void **state)
{
	(void)state;
	platform = NULL;
	uint8_t *bytes = begin();
	set_to_nine();
	uint8_t *copy = kill_inside(set_to_nine, bytes);
	end(bytes);
	platform = &by_hand;
	assert_true(add(copy, N(3)));
	const struct weft_abi_last_values_row *row =
		(const void *)(copy + SIZE + sizeof(struct weft_abi_table));
	assert_int_equal(row->is_unsure, 1);
	EXPECT(copy, 9, 9);
}

static void a_set_that_was_not_complete_is_in_the_trace(void **state)
{
	(void)state;
	uint8_t *copy = kill_in(set_to_nine);
	assert_true(add(copy, N(3)));
	struct weft_model *model = read_model(copy);
	assert_int_equal(model->samples.value[2], 9);
	assert_false(model->counters[0].is_end_known);
	weft_model_destroy(model);
	free(copy);
}

/* The other counters were not concerned. */
static void a_change_of_another_does_not_matter(void **state)
{
	(void)state;
	uint8_t *copy = kill_in(add_to_another);
	assert_true(add(copy, FROM_0(3)));
	struct weft_model *model = read_model(copy);
	assert_false(model->counters[0].is_relative);
	assert_int_equal(model->samples.value[1], 3);
	weft_model_destroy(model);
	free(copy);
}

/* ---- Damage ---- */

static void damaged_slots_have_no_values(void **state)
{
	(void)state;
	uint8_t *bytes = begin();
	void *table;
	size_t size;
	count(1);
	uint8_t *copy = kill_now(bytes);
	end(bytes);
	struct weft_abi_buffer *header = (void *)copy;
	header->slot_count = UINT32_MAX;
	assert_int_equal(
		weft_buffer_make_last_values(copy, SIZE, N(1), &table, &size), WEFT_ERROR_DAMAGED);
	assert_int_not_equal(weft_buffer_make_last_values(copy, 100, N(1), &table, &size), 0);
	free(copy);
}

/* A name that is none, and a time of another century. */
static void damaged_rows_change_nothing(void **state)
{
	(void)state;
	uint8_t *bytes = begin();
	count(1);
	uint8_t *copy = kill_now(bytes);
	end(bytes);
	assert_true(add(copy, N(7)));
	struct weft_abi_last_values_row *row = (void *)(copy + SIZE + sizeof(struct weft_abi_table));
	row->time = UINT64_MAX;
	struct weft_model *model = read_model(copy);
	assert_int_equal(model->samples.value[0], 7);
	assert_true(model->summary.end < 1000000);
	weft_model_destroy(model);
	row->name = 4000;
	EXPECT(copy, 1);
}

/* Their times are not in order. */
static void damaged_rows_keep_the_order_of_time(void **state)
{
	(void)state;
	uint8_t *bytes = begin();
	struct weft_event event;
	struct trace trace;
	uint64_t last_ns = 0;
	count(1);
	weft_note("m");
	uint8_t *copy = kill_now(bytes);
	end(bytes);
	const struct weft_buffer_value values[] = {{.name = "n"}, {.name = "m"}};
	assert_true(add(copy, values, 2));
	struct weft_abi_last_values_row *row = (void *)(copy + SIZE + sizeof(struct weft_abi_table));
	row[0].time = 4000;
	trace_open(&trace, copy, 2 * SIZE);
	for (; weft_decoder_next(trace.decoder, &event) == WEFT_OK; last_ns = event.time_ns)
		assert_true(event.time_ns >= last_ns);
	assert_true(last_ns >= 4000);
	weft_decoder_destroy(trace.decoder);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_counter_that_began_at_0_lacks_nothing),
		cmocka_unit_test(a_change_that_was_lost_is_known_at_the_end),
		cmocka_unit_test(without_values_nothing_is_known),
		cmocka_unit_test(totals_follow_a_loss),
		cmocka_unit_test(a_level_hides_changes_until_it_changes),
		cmocka_unit_test(a_program_that_stops_has_said_them),
		cmocka_unit_test(a_counter_without_events_has_its_value),
		cmocka_unit_test(a_change_that_was_not_complete_is_unknown),
		cmocka_unit_test(a_set_that_is_not_the_first_is_known_as_well),
		cmocka_unit_test(a_set_that_was_not_complete_is_in_the_trace),
		cmocka_unit_test(a_change_of_another_does_not_matter),
		cmocka_unit_test(damaged_slots_have_no_values),
		cmocka_unit_test(damaged_rows_change_nothing),
		cmocka_unit_test(damaged_rows_keep_the_order_of_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
