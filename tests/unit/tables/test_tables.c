/* SPDX-License-Identifier: ISC
 *
 * Tables of a model that a test makes up: which rows an owner has, also for numbers that no owner
 * has, and what cells show of the rarer kinds of notes, edges and numbers.
 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <weft/tables.h>

#include "loaded.h"

static unsigned table_of(const char *name)
{
	unsigned count;
	const struct weft_table *list = weft_tables(&count);
	for (unsigned i = 0; i < count; i++)
		if (strcmp(list[i].name, name) == 0)
			return i;
	fail_msg("no table %s", name);
	return 0;
}

static struct weft_cell cell_of(
	const struct weft_model_tables *tables, const char *table, uint32_t row, const char *column)
{
	unsigned number = table_of(table), count;
	const struct weft_column *columns = weft_table_columns(number, &count);
	for (unsigned i = 0; i < count; i++)
		if (strcmp(columns[i].name, column) == 0)
			return weft_table_cell(tables, number, row, i);
	fail_msg("no column %s", column);
	return (struct weft_cell){0};
}

/* A cell as text: whole numbers of more than 63 bits have a "u" before them. */
static const char *show(struct weft_cell cell)
{
	static char texts[8][64];
	static unsigned next;
	char *text = texts[next++ % 8];
	if (cell.type == WEFT_CELL_INTEGER)
		snprintf(text, 64, "%lld", (long long)cell.is.integer);
	else if (cell.type == WEFT_CELL_UNSIGNED)
		snprintf(text, 64, "u%llu", (unsigned long long)cell.is.is_unsigned);
	else if (cell.type == WEFT_CELL_REAL)
		snprintf(text, 64, "%g", cell.is.real);
	else if (cell.type == WEFT_CELL_TEXT)
		snprintf(text, 64, "%.*s", (int)cell.text.size, cell.text.bytes);
	else
		snprintf(text, 64, "-");
	return text;
}

static void expect(const struct weft_model_tables *tables, const char *table, uint32_t row,
	const char *column, const char *expected)
{
	const char *shown = show(cell_of(tables, table, row, column));
	if (strcmp(shown, expected) != 0)
		fail_msg("%s.%s of row %u is %s, not %s", table, column, (unsigned)row, shown, expected);
}

static struct weft_model_tables *open_all(const struct weft_model *model)
{
	struct weft_model_tables *tables;
	unsigned count;
	weft_tables(&count);
	assert_int_equal(weft_model_tables_create(model, &tables), 0);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(weft_table_open(tables, i), 0);
	return tables;
}

/* Three tasks, of which the second has nothing; two counters; spans; messages that pass each other.
 */
static struct weft_model *make_up(void)
{
	struct made made = make_begin();
	make_tasks(&made, 3);
	make_label(&made, 1, "one");
	make_label(&made, 1, "two");
	make_switch(&made, 1);
	make_begin_span(&made, 1, "part");
	made.time = 100;
	make(&made, (struct weft_event){.type = WEFT_EVENT_SEND, .task = 1, .value = 7});
	make_end_span(&made, 1);
	made.time = 200;
	make(&made, (struct weft_event){.type = WEFT_EVENT_SEND, .task = 1, .value = 8});
	make_switch(&made, 3);
	made.time = 300;
	make(&made, (struct weft_event){.type = WEFT_EVENT_RECEIVE, .task = 3, .value = 8});
	make_signal(&made, 2, 3, false);
	make(&made, (struct weft_event){.type = WEFT_EVENT_RECEIVE, .task = 3, .value = 7});
	make_counter(&made, 3, "whole", 5, false);
	make_counter(&made, 3, "whole", 5, true);
	make_real_counter(&made, 3, "real", 0.5, false);
	make_real_counter(&made, 3, "real", 2.25, true);
	make(&made, (struct weft_event){.type = WEFT_EVENT_NOTE, .task = 3, .text = {"said", 4}});
	make(&made, (struct weft_event){.type = WEFT_EVENT_TAG,
					.task = 3,
					.text = {"size", 4},
					.value = -3,
					.has_value = true});
	const struct weft_field fields[] = {{{"fd", 2}, WEFT_FIELD_I64, {.i64 = -4}},
		{{"to", 2}, WEFT_FIELD_TEXT, {.text = {"disk", 4}}}};
	for (uint32_t count = 0; count <= 2; count++)
		make(&made, (struct weft_event){.type = WEFT_EVENT_MARK,
						.task = 3,
						.text = {"moved", 5},
						.fields = fields,
						.field_count = count});
	made.time = 400;
	make_switch(&made, WEFT_TASK_NONE);
	return make_model(&made);
}

/* ---- Finding ---- */

/* Rows with a value in the first column are in a row, or there are none. */
static void check_find(const struct weft_model_tables *tables, unsigned table, int64_t value)
{
	uint32_t first, end, rows = weft_table_rows(tables, table), from = 0, count = 0;
	assert_true(weft_table_find(tables, table, 0, value, &first, &end));
	assert_true(first <= end && end <= rows);
	for (uint32_t row = 0; row < rows; row++)
		if (weft_table_cell(tables, table, row, 0).is.integer == value) {
			from = count++ ? from : row;
			assert_int_equal(row, from + count - 1);
		}
	assert_int_equal(end - first, count);
	if (count)
		assert_int_equal(first, from);
}

static void rows_are_found_as_a_scan_finds_them(void **state)
{
	static const int64_t far[] = {INT64_MIN, UINT32_MAX, (int64_t)UINT32_MAX + 1, INT64_MAX};
	struct weft_model *model = make_up();
	struct weft_model_tables *tables = open_all(model);
	unsigned count, indexed = 0;
	(void)state;
	weft_tables(&count);
	for (unsigned table = 0; table < count; table++) {
		uint32_t first, end;
		assert_false(weft_table_find(tables, table, 1, 0, &first, &end));
		if (!weft_table_has_index(table, 0))
			continue;
		for (int64_t value = -2; value < 12; value++)
			check_find(tables, table, value);
		for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++)
			check_find(tables, table, far[i]);
		indexed++;
	}
	assert_true(indexed >= 9);
	weft_model_tables_destroy(tables);
	weft_model_destroy(model);
}

/* ---- Cells ---- */

static void each_note_has_its_type_and_value(void **state)
{
	static const struct {
		const char *task, *type, *text, *value;
	} notes[] = {{"1", "label", "one", "-"}, {"1", "label", "two", "-"},
		{"3", "change", "whole", "5"}, {"3", "set", "whole", "5"}, {"3", "change", "real", "0.5"},
		{"3", "set", "real", "2.25"}, {"3", "note", "said", "-"}, {"3", "tag", "size", "-3"},
		{"3", "mark", "moved", "-"}, {"3", "mark", "moved", "-"}, {"3", "mark", "moved", "-"}};
	struct weft_model *model = make_up();
	struct weft_model_tables *tables = open_all(model);
	(void)state;
	assert_int_equal(weft_table_rows(tables, table_of("notes")), 11);
	for (uint32_t i = 0; i < 11; i++) {
		expect(tables, "notes", i, "task", notes[i].task);
		expect(tables, "notes", i, "type", notes[i].type);
		expect(tables, "notes", i, "text", notes[i].text);
		expect(tables, "notes", i, "value", notes[i].value);
	}
	weft_model_tables_destroy(tables);
	weft_model_destroy(model);
}

/* The tag has its value, the first mark has no field, the second has one and the third has both. */
static void each_value_belongs_to_its_note(void **state)
{
	static const char *const values[][4] = {{"7", "3", "size", "-3"}, {"9", "3", "fd", "-4"},
		{"10", "3", "fd", "-4"}, {"10", "3", "to", "disk"}};
	struct weft_model *model = make_up();
	struct weft_model_tables *tables = open_all(model);
	(void)state;
	assert_int_equal(weft_table_rows(tables, table_of("attributes")), 4);
	for (uint32_t i = 0; i < 4; i++) {
		expect(tables, "attributes", i, "note", values[i][0]);
		expect(tables, "attributes", i, "task", values[i][1]);
		expect(tables, "attributes", i, "key", values[i][2]);
		expect(tables, "attributes", i, "value", values[i][3]);
	}
	weft_model_tables_destroy(tables);
	weft_model_destroy(model);
}

/* Receives alone have the time at which their own message was sent. */
static void each_message_has_its_time(void **state)
{
	struct weft_model *model = make_up();
	struct weft_model_tables *tables = open_all(model);
	uint32_t receives = 0;
	(void)state;
	for (uint32_t i = 0; i < model->edges.count; i++) {
		bool is_receive = model->edges.type[i] == WEFT_EDGE_RECEIVE;
		expect(tables, "edges", i, "sent", !is_receive ? "-" : receives++ ? "100" : "200");
	}
	assert_int_equal(receives, 2);
	weft_model_tables_destroy(tables);
	weft_model_destroy(model);
}

static void samples_belong_to_their_counter(void **state)
{
	static const char *const samples[][3] = {
		{"0", "5", "3"}, {"0", "5", "3"}, {"1", "0.5", "3"}, {"1", "2.25", "3"}};
	struct weft_model *model = make_up();
	struct weft_model_tables *tables = open_all(model);
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		expect(tables, "samples", i, "counter", samples[i][0]);
		expect(tables, "samples", i, "value", samples[i][1]);
		expect(tables, "samples", i, "task", samples[i][2]);
	}
	expect(tables, "counters", 0, "max", "5");
	expect(tables, "counters", 1, "min", "0.5");
	expect(tables, "counters", 1, "max", "2.25");
	weft_model_tables_destroy(tables);
	weft_model_destroy(model);
}

/* The second histogram has no bucket, and the last bucket no limit. */
static void buckets_belong_to_their_histogram(void **state)
{
	struct weft_model *model = make_up();
	const struct weft_histogram histograms[] = {
		{.bucket_count = 1, .values = 4, .sum = 2.5, .name = 1, .labels = 2, .unit = 3},
		{.first_bucket = 1},
		{.first_bucket = 1, .bucket_count = 2, .values = UINT64_MAX, .buffer = 0}};
	const struct weft_bucket buckets[] = {{0.25, 4}, {8, 5}, {(double)INFINITY, UINT64_MAX - 5}};
	static const char *const cells[][3] = {
		{"0", "0.25", "4"}, {"2", "8", "5"}, {"2", "-", "u18446744073709551610"}};
	uint32_t first, end;
	(void)state;
	model->histograms = histograms;
	model->histogram_count = 3;
	model->buckets = buckets;
	model->bucket_count = 3;
	struct weft_model_tables *tables = open_all(model);
	for (uint32_t i = 0; i < 3; i++) {
		expect(tables, "buckets", i, "histogram", cells[i][0]);
		expect(tables, "buckets", i, "up_to", cells[i][1]);
		expect(tables, "buckets", i, "count", cells[i][2]);
	}
	expect(tables, "histograms", 0, "sum", "2.5");
	expect(tables, "histograms", 0, "count", "4");
	expect(tables, "histograms", 2, "count", "u18446744073709551615");
	assert_true(weft_table_find(tables, table_of("buckets"), 0, 2, &first, &end));
	assert_true(first == 1 && end == 3);
	assert_true(weft_table_find(tables, table_of("buckets"), 0, 1, &first, &end));
	assert_true(first == end);
	assert_true(weft_table_find(tables, table_of("buckets"), 0, 3, &first, &end));
	assert_true(first == 0 && end == 0);
	weft_model_tables_destroy(tables);
	model->histograms = NULL; /* the test's */
	model->buckets = NULL;
	weft_model_destroy(model);
}

/* Numbers of 64 bits are no negative ones. */
static void large_numbers_are_unsigned(void **state)
{
	static const uint64_t ids[] = {INT64_MAX - 1, INT64_MAX, (uint64_t)INT64_MAX + 1};
	static const char *const shown[] = {
		"9223372036854775806", "9223372036854775807", "u9223372036854775808"};
	struct made made = make_begin();
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		make_create(&made, WEFT_TASK_NONE, ids[i], WEFT_KIND_TASK);
	struct weft_model *model = make_model(&made);
	struct weft_model_tables *tables = open_all(model);
	for (unsigned i = 0; i < 3; i++) {
		expect(tables, "tasks", i, "id", shown[i]);
		expect(tables, "tasks", i, "parent", "-");
	}
	weft_model_tables_destroy(tables);
	weft_model_destroy(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_found_as_a_scan_finds_them),
		cmocka_unit_test(each_note_has_its_type_and_value),
		cmocka_unit_test(each_value_belongs_to_its_note),
		cmocka_unit_test(each_message_has_its_time),
		cmocka_unit_test(samples_belong_to_their_counter),
		cmocka_unit_test(buckets_belong_to_their_histogram),
		cmocka_unit_test(large_numbers_are_unsigned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
