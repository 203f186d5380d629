/* SPDX-License-Identifier: ISC
 *
 * Samples of what threads ran, added behind a saved buffer, and read from there into the model.
 */
#include "record_trace.h"

#include <weft/buffer.h>
#include <weft/model.h>

#include "abi/buffer_abi.h"
#include "abi/table_abi.h"
#include "format/weft/ran_live.h"

#define SIZE   ((size_t)64 << 10)
#define THREAD 4711

static uint64_t now;

/* A tick is a ns. */
static void read_clocks(void *context, uint64_t *ret_monotonic_ns, uint64_t *ret_unix_ns)
{
	(void)context;
	*ret_monotonic_ns = now;
	*ret_unix_ns = 0;
}

static uint32_t self(void *context, char ret_name[16])
{
	(void)context;
	memset(ret_name, 0, 16);
	return THREAD;
}

static const struct weft_platform by_hand = {
	.ticks_at = &now, .ticks_hz = 1000000000, .read_clocks = read_clocks, .self = self};

/* A task runs from 2000 to 3000. */
static uint8_t *record(void)
{
	uint8_t *bytes = trace_buffer(SIZE);
	now = 1000;
	assert_int_equal(weft_start(bytes, SIZE, &by_hand), 0);
	const uint64_t task = weft_create(WEFT_KIND_TASK);
	now = 2000;
	weft_switch(task);
	now = 3000;
	weft_switch(WEFT_TASK_NONE);
	now = 4000;
	weft_resolve(task);
	weft_stop();
	return bytes;
}

static const struct weft_buffer_code codes[] = {
	{0, "main (a.c:1)"}, {1, "parse (a.c:2)"}, {2, "operator() (c.cc:3)"}};
static const struct weft_buffer_ran samples[] = {{900, THREAD, 1}, {1500, THREAD, 1},
	{2000, THREAD, 2}, {2999, THREAD, 3}, {3000, 1, 0}, {3000, THREAD, 1}, {4001, THREAD, 1}};

static struct weft_buffer_sampling sampling(void)
{
	return (struct weft_buffer_sampling){.interval_ns = 10,
		.lost = 2,
		.codes = codes,
		.code_count = sizeof(codes) / sizeof(codes[0]),
		.list = samples,
		.count = sizeof(samples) / sizeof(samples[0])};
}

/* The buffer with the tables behind it; frees `bytes`. */
static uint8_t *add(uint8_t *bytes, const void *tables, size_t size)
{
	uint8_t *all = trace_buffer(SIZE + (size + 63) / 64 * 64);
	memcpy(all, bytes, SIZE);
	memcpy(all + SIZE, tables, size);
	struct weft_abi_buffer *header = (void *)all;
	header->added_offset = SIZE;
	header->added_bytes = size;
	free(bytes);
	return all;
}

static struct weft_model *read_model(const uint8_t *bytes, size_t size)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_model_builder *builder;
	struct weft_model *model;
	struct trace trace;
	trace_open(&trace, bytes, size);
	assert_int_equal(weft_model_builder_create(&builder), 0);
	while (weft_decoder_next(trace.decoder, &trace.event) == WEFT_OK)
		assert_int_equal(weft_model_builder_add(builder, &trace.event, &diagnostics), 0);
	assert_int_equal(
		weft_model_builder_finish(builder, weft_decoder_describe(trace.decoder), &model), 0);
	weft_model_builder_destroy(builder);
	weft_decoder_destroy(trace.decoder);
	return model;
}

static void expect_text(const struct weft_model *model, uint32_t string, const char *text)
{
	const struct weft_slice slice = weft_model_string(model, string);
	assert_int_equal(slice.size, strlen(text));
	assert_memory_equal(slice.bytes, text, slice.size);
}

static void *make_tables(const uint8_t *bytes, struct weft_buffer_sampling of, size_t *ret_size)
{
	void *tables = NULL;
	uint64_t offset = 0;
	assert_int_equal(weft_buffer_make_samples(bytes, SIZE, &of, &tables, ret_size, &offset), 0);
	assert_int_equal(offset, SIZE);
	return tables;
}

/* The bytes are freed. */
static struct weft_model *add_and_read(uint8_t *bytes, void *tables, size_t size)
{
	bytes = add(bytes, tables, size);
	struct weft_model *model = read_model(bytes, SIZE + size);
	free(tables);
	free(bytes);
	return model;
}

static void samples_of_the_buffers_time_belong_to_its_tasks(void **state)
{
	(void)state;
	uint8_t *bytes = record();
	size_t size;
	void *tables = make_tables(bytes, sampling(), &size);
	struct weft_model *model = add_and_read(bytes, tables, size);
	assert_int_equal(model->code_sample_count, 5);
	const struct weft_code_sample *list = model->code_samples;
	const uint64_t times[] = {1500, 2000, 2999, 3000, 3000};
	const uint32_t tasks[] = {WEFT_NONE, 0, 0, WEFT_NONE, WEFT_NONE};
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(list[i].time, times[i]);
		assert_int_equal(list[i].task, tasks[i]);
		assert_int_equal(list[i].interval_ns, 10);
		assert_int_equal(list[i].thread, i == 4 ? WEFT_NONE : 0);
	}
	expect_text(model, list[1].function, "parse");
	expect_text(model, list[1].calls, "parse (a.c:2) \xe2\x86\x90 main (a.c:1)");
	expect_text(model, list[2].function, "operator()");
	expect_text(model, list[0].calls, "main (a.c:1)");
	expect_text(model, list[3].function, "main");
	assert_int_equal(list[4].function, WEFT_NONE);
	assert_int_equal(list[4].calls, WEFT_NONE);
	weft_model_destroy(model);
}

/* Two programs, as of two machines, may have threads of one number. */
static void a_thread_is_that_of_its_buffer(void **state)
{
	(void)state;
	struct weft_diagnostics diagnostics = {0};
	struct weft_model_builder *builder;
	struct weft_model *model;
	struct trace trace;
	uint8_t *bytes = record();
	size_t size;
	void *tables = make_tables(bytes, sampling(), &size);
	bytes = add(bytes, tables, size);
	trace_open(&trace, bytes, SIZE + size);
	assert_int_equal(weft_model_builder_create(&builder), 0);
	while (weft_decoder_next(trace.decoder, &trace.event) == WEFT_OK)
		assert_int_equal(weft_model_builder_add(builder, &trace.event, &diagnostics), 0);
	struct weft_trace_description description = *weft_decoder_describe(trace.decoder);
	const struct weft_trace_buffer buffers[] = {description.buffers[0], description.buffers[0]};
	struct weft_trace_thread threads[] = {description.threads[0], description.threads[0]};
	threads[1].buffer = 1;
	description.buffers = buffers;
	description.threads = threads;
	description.buffer_count = description.thread_count = 2;
	assert_int_equal(weft_model_builder_finish(builder, &description, &model), 0);
	for (uint32_t i = 0; i < model->code_sample_count; i++)
		if (model->code_samples[i].thread != WEFT_NONE)
			assert_int_equal(model->code_samples[i].thread, model->code_samples[i].buffer);
	assert_int_equal(model->code_sample_count, 10);
	weft_model_builder_destroy(builder);
	weft_model_destroy(model);
	weft_decoder_destroy(trace.decoder);
	free(tables);
	free(bytes);
}

static void without_samples_of_its_time_there_are_no_tables(void **state)
{
	(void)state;
	struct weft_buffer_sampling s = sampling();
	uint8_t *bytes = record();
	void *tables = bytes;
	uint64_t offset;
	size_t size;
	s.count = 1;
	assert_int_equal(weft_buffer_make_samples(bytes, SIZE, &s, &tables, &size, &offset), 0);
	assert_null(tables);
	s.count = WEFT_BUFFER_RAN_MAX + 1;
	assert_int_equal(
		weft_buffer_make_samples(bytes, SIZE, &s, &tables, &size, &offset), WEFT_ERROR_LIMIT);
	free(bytes);
}

/* The rows of a table in the tables that were made. */
static void *rows_of(void *tables, size_t size, unsigned number)
{
	uint8_t *at = tables, *end = at + size;
	while (at < end) {
		const struct weft_abi_table *table = (void *)at;
		if (table->number == number)
			return at + sizeof(*table);
		at += sizeof(*table) + (size_t)table->room * table->row_bytes;
	}
	fail();
	return NULL;
}

/* Callers may form a circle or not exist, and functions may fill their column. */
static void damaged_rows_are_read(void **state)
{
	(void)state;
	uint8_t *bytes = record();
	size_t size;
	void *tables = make_tables(bytes, sampling(), &size);
	struct weft_abi_code_row *code = rows_of(tables, size, WEFT_ABI_TABLE_code);
	struct weft_abi_ran_row *ran = rows_of(tables, size, WEFT_ABI_TABLE_ran);
	code[0].caller = 3;
	code[1].caller = UINT64_MAX;
	memset(code[1].function, 'x', sizeof(code[1].function));
	ran[0].code = 4;
	ran[2].code = UINT32_MAX;
	ran[3].time = UINT64_MAX;
	struct weft_model *model = add_and_read(bytes, tables, size);
	assert_int_equal(model->code_sample_count, 5);
	assert_int_equal(model->code_samples[0].calls, WEFT_NONE);
	assert_int_equal(weft_model_string(model, model->code_samples[1].calls).size, 128);
	weft_model_destroy(model);
}

/* The first table, as versions had it that gave no reason. */
static void a_reason_may_be_lacking(void **state)
{
	(void)state;
	const size_t lacking = sizeof(((struct weft_abi_sampling_row *)NULL)->denied);
	uint8_t *bytes = record();
	size_t size;
	uint8_t *tables = make_tables(bytes, sampling(), &size);
	struct weft_abi_table *table = (void *)tables;
	uint8_t *end = tables + sizeof(*table) + sizeof(struct weft_abi_sampling_row);
	table->row_bytes -= (uint32_t)lacking;
	memmove(end - lacking, end, (size_t)(tables + size - end));
	struct weft_model *model = add_and_read(bytes, tables, size - lacking);
	assert_int_equal(model->code_sample_count, 5);
	weft_model_destroy(model);
}

static void the_reason_is_saved_without_samples(void **state)
{
	(void)state;
	uint8_t *bytes = record();
	size_t size;
	void *tables =
		make_tables(bytes, (struct weft_buffer_sampling){.denied = "the kernel does"}, &size);
	const struct weft_abi_sampling_row *row = rows_of(tables, size, WEFT_ABI_TABLE_sampling);
	assert_string_equal(row->denied, "the kernel does");
	assert_int_equal(size, sizeof(struct weft_abi_table) + sizeof(*row));
	struct weft_model *model = add_and_read(bytes, tables, size);
	assert_int_equal(model->code_sample_count, 0);
	weft_model_destroy(model);
}

/* ---- While the program records ---- */

/* A buffer with room for samples, as memory that both sides have. */
struct live {
	uint8_t *bytes;
	size_t size, room;
	struct weft__buffer buffer;
	struct weft_diagnostics diagnostics;
	struct weft_trace_description description;
};

static struct weft_buffer_sampling nothing_new(void)
{
	return (struct weft_buffer_sampling){.interval_ns = 10, .is_growing = true};
}

static void begin(struct live *live)
{
	const struct weft_buffer_sampling how = nothing_new();
	uint8_t *bytes = record();
	void *room;
	*live = (struct live){.description = {.format = "weft"}};
	assert_int_equal(weft_buffer_make_sample_room(&how, &room, &live->room), 0);
	assert_int_equal(live->room % 64, 0);
	live->bytes = add(bytes, room, live->room);
	live->size = SIZE + live->room;
	free(room);
	const struct weft__input input = {.bytes = live->bytes,
		.size = live->size,
		.diagnostics = &live->diagnostics,
		.description = &live->description};
	assert_int_equal(weft__format_buffer_init(&live->buffer, &input), 0);
}

static bool is_growing(const struct live *live)
{
	struct weft__live_table tables[WEFT_ABI_TABLES_MAX];
	return weft__format_ran_is_growing(tables, weft__format_tables_find(&live->buffer, tables));
}

static void end(struct live *live)
{
	weft__format_buffer_finish(&live->buffer);
	free(live->bytes);
}

static void a_running_program_has_the_samples_so_far(void **state)
{
	(void)state;
	struct weft_buffer_sampling s = sampling();
	struct live live;
	begin(&live);
	assert_false(is_growing(&live)); /* nobody takes samples yet */
	s.code_count = 2;
	s.count = 3;
	s.is_growing = s.has_kernel = true;
	assert_int_equal(weft__format_ran_add(&live.buffer, &s), 1); /* one is too early */
	assert_true(is_growing(&live));
	struct weft_model *model = read_model(live.bytes, live.size);
	assert_int_equal(model->code_sample_count, 2);
	expect_text(model, model->code_samples[1].calls, "parse (a.c:2) \xe2\x86\x90 main (a.c:1)");
	weft_model_destroy(model);

	s = sampling();
	s.list += 3;
	s.count = 1;
	assert_int_equal(weft__format_ran_add(&live.buffer, &s), 0);
	assert_false(is_growing(&live));
	model = read_model(live.bytes, live.size);
	assert_int_equal(model->code_sample_count, 3);
	assert_int_equal(model->code_samples[2].time, 2999);
	assert_int_equal(model->code_samples[2].interval_ns, 10);
	expect_text(model, model->code_samples[2].function, "operator()");
	const struct weft_abi_sampling_row *row =
		rows_of(live.bytes + SIZE, live.room, WEFT_ABI_TABLE_sampling);
	assert_int_equal(row->lost, 2);
	assert_int_equal(row->has_kernel, 0);
	weft_model_destroy(model);
	end(&live);
}

/* The room is a ring. */
static void the_newest_samples_are_kept(void **state)
{
	(void)state;
	const struct weft_buffer_ran first = {1000, THREAD, 1}, later = {2500, THREAD, 2};
	struct weft_buffer_sampling s = sampling();
	struct live live;
	begin(&live);
	s.list = &first;
	s.count = 1;
	assert_int_equal(weft__format_ran_add(&live.buffer, &s), 0); /* as early as the record */
	const struct weft_abi_table *table =
		(const struct weft_abi_table *)rows_of(live.bytes + SIZE, live.room, WEFT_ABI_TABLE_ran) -
		1;
	s.list = &later;
	for (uint32_t i = 0; i < table->room; i++)
		weft__format_ran_add(&live.buffer, &s);
	struct weft_model *model = read_model(live.bytes, live.size);
	assert_int_equal(model->code_sample_count, table->room);
	assert_int_equal(model->code_samples[0].time, 2500);
	weft_model_destroy(model);
	end(&live);
}

static void a_reason_is_added(void **state)
{
	(void)state;
	struct weft_buffer_sampling s = nothing_new();
	struct live live;
	begin(&live);
	s.denied = "the kernel does";
	weft__format_ran_add(&live.buffer, &s);
	const struct weft_abi_sampling_row *row =
		rows_of(live.bytes + SIZE, live.room, WEFT_ABI_TABLE_sampling);
	assert_string_equal(row->denied, "the kernel does");
	end(&live);
}

/* The program may write anything there. */
static void damaged_room_is_written_safely(void **state)
{
	(void)state;
	struct weft_buffer_sampling s = sampling();
	struct live live;
	begin(&live);
	struct weft_abi_table *code = (struct weft_abi_table *)rows_of(
									  live.bytes + SIZE, live.room, WEFT_ABI_TABLE_code) -
								  1,
						  *ran = (struct weft_abi_table *)rows_of(
									 live.bytes + SIZE, live.room, WEFT_ABI_TABLE_ran) -
								 1;
	code->count = ran->count = UINT32_MAX - 1;
	weft__format_ran_add(&live.buffer, &s);
	assert_int_equal(code->count, UINT32_MAX - 1);
	ran->row_bytes = 16;
	assert_int_equal(weft__format_ran_add(&live.buffer, &s), 0);
	assert_int_equal(s.count, 7);
	end(&live);
}

/* When the program has ended, all samples take the place of the newest ones; other tables stay. */
static void saved_samples_replace_the_newest(void **state)
{
	(void)state;
	struct weft_buffer_sampling s = sampling();
	const struct {
		struct weft_abi_table table;
		uint64_t row;
	} other = {{.number = WEFT_ABI_TABLE_METRICS, .row_bytes = 8, .room = 1, .count = 1}, 77};
	struct live live;
	void *tables;
	size_t size;
	uint64_t offset;
	begin(&live);
	weft__format_ran_add(&live.buffer, &s);
	uint8_t *bytes = trace_buffer(live.size + 64);
	memcpy(bytes, live.bytes, live.size);
	memcpy(bytes + live.size, &other, sizeof(other));
	((struct weft_abi_buffer *)(void *)bytes)->added_bytes += sizeof(other);
	assert_int_equal(
		weft_buffer_make_samples(bytes, live.size + 64, &s, &tables, &size, &offset), 0);
	assert_int_equal(offset, SIZE);
	const uint64_t *row = rows_of(tables, size, WEFT_ABI_TABLE_METRICS);
	assert_int_equal(*row, 77);
	assert_true(size < 4096);
	free(tables);
	((struct weft_abi_buffer *)(void *)bytes)->added_offset = 64; /* in the middle of the names */
	assert_int_equal(weft_buffer_make_samples(bytes, live.size + 64, &s, &tables, &size, &offset),
		WEFT_ERROR_DAMAGED);
	free(bytes);
	end(&live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_the_buffers_time_belong_to_its_tasks),
		cmocka_unit_test(a_thread_is_that_of_its_buffer),
		cmocka_unit_test(without_samples_of_its_time_there_are_no_tables),
		cmocka_unit_test(damaged_rows_are_read),
		cmocka_unit_test(a_reason_may_be_lacking),
		cmocka_unit_test(the_reason_is_saved_without_samples),
		cmocka_unit_test(a_running_program_has_the_samples_so_far),
		cmocka_unit_test(the_newest_samples_are_kept),
		cmocka_unit_test(a_reason_is_added),
		cmocka_unit_test(damaged_room_is_written_safely),
		cmocka_unit_test(saved_samples_replace_the_newest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
