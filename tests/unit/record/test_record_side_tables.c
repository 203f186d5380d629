/* SPDX-License-Identifier: ISC
 *
 * The side tables that the recorder makes, from a buffer to a decoder's description.
 */
#include "record_trace.h"

#include <weft/side_tables.h>
#include <weft/text.h>

#include "abi/table_abi.h"
#include "platform/linux.h"
#include "record/recorder.h"
#include "record/side_tables.h"

#define SIZE ((size_t)64 << 10)

/* The table's number in the description. */
static uint32_t find_table(const struct weft_trace_buffer *buffer, const char *name)
{
	uint32_t i = 0;
	while (
		i < weft_side_table_count(buffer) && strcmp(weft_side_table_at(buffer, i).name, name) != 0)
		i++;
	assert_true(i < weft_side_table_count(buffer));
	return i;
}

static void a_program_describes_its_machine(void **state)
{
	(void)state;
	void *bytes = trace_buffer(SIZE);
	struct trace trace;
	struct weft_text text = {0}, json = {0};
	assert_int_equal(weft_start(bytes, SIZE, NULL), 0);
	weft_mark("here");
	weft_stop();
	trace_open(&trace, bytes, SIZE);
	while (trace_next(&trace))
		;
	const struct weft_trace_buffer *buffer = weft_decoder_describe(trace.decoder)->buffers;
	uint32_t machine = find_table(buffer, "machine");
	assert_int_equal(weft_side_table_at(buffer, machine).count, 1);
	weft_side_table_add_row(buffer, machine, 0, &text);
	weft_side_table_add_json(buffer, machine, 0, &json);
	weft_text_add(&text, "", 1);
	weft_text_add(&json, "", 1);
	unsigned processors, allowed;
	unsigned long memory_bytes;
	assert_int_equal(sscanf(text.bytes, "processors %u, allowed %u, memory_bytes %lu", &processors,
						 &allowed, &memory_bytes),
		3);
	assert_true(processors > 0 && allowed > 0 && memory_bytes > 1 << 20);
	assert_int_equal(sscanf(json.bytes, "{\"processors\":%u,\"allowed\":%u,\"memory_bytes\":%lu}",
						 &processors, &allowed, &memory_bytes),
		3);
	weft_text_finish(&text);
	weft_text_finish(&json);
	weft_decoder_destroy(trace.decoder);
	free(bytes);
}

static void a_full_table_takes_no_row(void **state)
{
	(void)state;
	void *bytes = trace_buffer(SIZE);
	struct weft__region region;
	struct weft_abi_machine_row row = {.processors = 3};
	weft__record_region_lay_out(&region, bytes, SIZE);
	weft__record_buffer_prepare(&region, false);
	assert_true(weft__record_side_table_add(&region, WEFT_ABI_TABLE_machine, &row));
	assert_false(weft__record_side_table_add(&region, WEFT_ABI_TABLE_machine, &row));
	const struct weft_abi_table *table = (const void *)region.tables;
	assert_int_equal(table->number, WEFT_ABI_TABLE_machine);
	assert_int_equal(table->count, 1);
	assert_memory_equal(table + 1, &row, sizeof(row));
	free(bytes);
}

/* Another process wrote into the descriptions: they decide nothing about where rows go. */
static void descriptions_in_the_buffer_are_not_trusted(void **state)
{
	(void)state;
	void *bytes = trace_buffer(SIZE);
	struct weft__region region;
	struct weft_abi_machine_row row = {.processors = 3};
	weft__record_region_lay_out(&region, bytes, SIZE);
	weft__record_buffer_prepare(&region, false);
	struct weft_abi_table *table = (void *)region.tables;
	memset(table, 0xff, sizeof(*table));
	memset(region.packets, 0xee, 64);
	assert_false(weft__record_side_table_add(&region, WEFT_ABI_TABLE_machine, &row));
	table->count = 0;
	assert_true(weft__record_side_table_add(&region, WEFT_ABI_TABLE_machine, &row));
	assert_memory_equal(table + 1, &row, sizeof(row));
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(region.packets[i], 0xee);
	free(bytes);
}

static void processors_are_counted_in_lists(void **state)
{
	(void)state;
	assert_int_equal(weft__platform_count_processors("0\n"), 1);
	assert_int_equal(weft__platform_count_processors("0-3\n"), 4);
	assert_int_equal(weft__platform_count_processors("0-3,6,8-9\n"), 7);
	assert_int_equal(weft__platform_count_processors(""), 0);
	assert_int_equal(weft__platform_count_processors("5-2,x"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_describes_its_machine),
		cmocka_unit_test(a_full_table_takes_no_row),
		cmocka_unit_test(descriptions_in_the_buffer_are_not_trusted),
		cmocka_unit_test(processors_are_counted_in_lists),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
