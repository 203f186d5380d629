/* SPDX-License-Identifier: ISC
 *
 * The histograms of a trace's programs in its model: levels of labels, units, buckets, several
 * buffers, and damaged metrics. The metrics are this process's own, packed as for a trace.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/error.h>
#include <weft/metrics.h>
#include <weft/model.h>
#include <weft/side_tables.h>

#include "base/unit.h"
#include "model/metric_rows.h"
#include "model/side_tables.h"
#include "runs/attach/metrics.h"

#define LABELS(...) ((const char *const[]){__VA_ARGS__})

WEFT_METRIC_DEFINE(requests, .name = "requests", .type = WEFT_METRIC_COUNTER);
WEFT_METRIC_DEFINE(latency, .name = "latency", .type = WEFT_METRIC_HISTOGRAM, .unit = "ms",
	.first_exponent = 3, .last_exponent = 5);
WEFT_METRIC_DEFINE(empty, .name = "empty", .type = WEFT_METRIC_HISTOGRAM);

static struct weft_text packed;

static int begin(void **state)
{
	(void)state;
	weft_metric pool = weft_metric_get(&latency, LABELS("pool", "a \"b\""), 1);
	weft_metric vm = weft_metric_get(&latency, LABELS("pool", "a \"b\"", "vm", "7"), 2);
	weft_metric_add(weft_metric_get(&requests, NULL, 0), 9);
	weft_metric_record(pool, 8);
	weft_metric_record(vm, 9);
	weft_metric_record(vm, 8);
	weft_metric_record(vm, 1000);
	weft_metric_get(&empty, NULL, 0);
	int fd = weft__runs_metrics_open(getpid());
	int error = weft__runs_metrics_pack(fd, &packed);
	close(fd);
	return error;
}

static int end(void **state)
{
	(void)state;
	weft_text_finish(&packed);
	return 0;
}

/* A model without events of buffers with these packed metrics; NULL: the buffer has none. */
static struct weft_model *model_of(void *const *metrics, uint32_t buffers, uint32_t row_bytes)
{
	struct weft_trace_buffer list[3] = {{.process = "", .host = "", .file = ""}};
	struct weft__side_table tables[3];
	struct weft__side_tables of_buffer[3];
	struct weft_model_builder *builder;
	struct weft_model *model;
	for (uint32_t i = 0; i < buffers; i++) {
		list[i] = list[0];
		tables[i] = (struct weft__side_table){.rows = metrics[i],
			.number = WEFT_SIDE_TABLE_METRICS,
			.row_bytes = row_bytes,
			.count = (uint32_t)packed.size / row_bytes};
		of_buffer[i] = (struct weft__side_tables){.list = &tables[i], .count = 1};
		list[i].tables = metrics[i] ? &of_buffer[i] : NULL;
	}
	const struct weft_trace_description description = {
		.format = "weft", .buffers = list, .buffer_count = buffers};
	assert_int_equal(weft_model_builder_create(&builder), 0);
	assert_int_equal(weft_model_builder_finish(builder, &description, &model), 0);
	weft_model_builder_destroy(builder);
	return model;
}

static const char *text_of(const struct weft_model *model, uint32_t string)
{
	return weft_model_string(model, string).bytes;
}

/* The histogram with a name and labels, of a buffer. */
static const struct weft_histogram *find(
	const struct weft_model *model, const char *name, const char *labels, uint32_t buffer)
{
	for (uint32_t i = 0; i < model->histogram_count; i++) {
		const struct weft_histogram *it = &model->histograms[i];
		if (it->buffer == buffer && strcmp(text_of(model, it->name), name) == 0 &&
			strcmp(text_of(model, it->labels), labels) == 0)
			return it;
	}
	fail_msg("no %s%s", name, labels);
	return NULL;
}

static void expect_buckets(const struct weft_model *model, const struct weft_histogram *it,
	const double *limits, const uint64_t *counts, uint32_t count)
{
	assert_int_equal(it->bucket_count, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct weft_bucket *bucket = &model->buckets[it->first_bucket + i];
		assert_true(bucket->up_to == limits[i]);
		assert_int_equal(bucket->count, counts[i]);
	}
}

static void levels_have_values_of_those_below(void **state)
{
	struct weft_model *model = model_of((void *[]){packed.bytes}, 1, 8);
	const struct weft_histogram *vm =
		find(model, "latency", "{\"pool\":\"a \\\"b\\\"\",\"vm\":\"7\"}", 0);
	const struct weft_histogram *pool = find(model, "latency", "{\"pool\":\"a \\\"b\\\"\"}", 0);
	const struct weft_histogram *all = find(model, "latency", "{}", 0);
	const double limits[] = {0.008, 8 * 1.189207115002721 / 1000, INFINITY};
	(void)state;
	assert_int_equal(model->histogram_count, 4); /* the counter is none */
	assert_int_equal(vm->values, 3);
	assert_true(vm->sum == 1.017);
	expect_buckets(model, vm, limits, (uint64_t[]){1, 1, 1}, 3);
	assert_int_equal(pool->values, 4);
	assert_true(pool->sum == 1.025);
	expect_buckets(model, pool, limits, (uint64_t[]){2, 1, 1}, 3);
	assert_int_equal(all->values, 4);
	expect_buckets(model, all, limits, (uint64_t[]){2, 1, 1}, 3);
	assert_string_equal(text_of(model, all->unit), "seconds");
	assert_int_equal(find(model, "empty", "{}", 0)->values, 0);
	assert_int_equal(find(model, "empty", "{}", 0)->bucket_count, 0);
	assert_string_equal(text_of(model, find(model, "empty", "{}", 0)->unit), "");
	weft_model_destroy(model);
}

static void each_buffer_has_its_own(void **state)
{
	struct weft_model *model = model_of((void *[]){packed.bytes, NULL, packed.bytes}, 3, 8);
	(void)state;
	assert_int_equal(model->histogram_count, 8);
	const struct weft_histogram *first = find(model, "latency", "{}", 0);
	const struct weft_histogram *last = find(model, "latency", "{}", 2);
	assert_int_equal(last->values, first->values);
	assert_true(last->first_bucket > first->first_bucket);
	assert_memory_equal(&model->buckets[last->first_bucket], &model->buckets[first->first_bucket],
		3 * sizeof(*model->buckets));
	weft_model_destroy(model);
}

/* A byte that is changed may damage names, but leads nowhere else. Memory is of just that size, so
 * that a sanitizer sees what lies beyond. */
static void damaged_metrics_are_left_out(void **state)
{
	(void)state;
	unsigned char *bytes = malloc(packed.size);
	for (size_t at = 0; at < packed.size; at++) {
		memcpy(bytes, packed.bytes, packed.size);
		bytes[at] ^= 0xff;
		struct weft_model *model = model_of((void *[]){bytes}, 1, 8);
		assert_in_range(model->histogram_count, 0, 4);
		weft_model_destroy(model);
	}
	memcpy(bytes, packed.bytes, packed.size);
	bytes[0] ^= 1;
	struct weft_model *model = model_of((void *[]){bytes, packed.bytes}, 2, 8);
	assert_int_equal(model->histogram_count, 4); /* of the other buffer */
	assert_int_equal(model->histograms[0].buffer, 1);
	weft_model_destroy(model);
	model = model_of((void *[]){packed.bytes}, 1, 16); /* rows of a later version */
	assert_int_equal(model->histogram_count, 0);
	weft_model_destroy(model);
	free(bytes);
}

static void bounds_are_those_of_an_exponential(void **state)
{
	(void)state;
	for (uint32_t cell = 0; cell <= 63 * 8; cell++)
		assert_true(weft__model_metric_limit(0, cell) == exp2(cell / 8.0));
	assert_true(weft__model_metric_limit(62, 8) == exp2(63));
}

static void units_become_base_units(void **state)
{
	(void)state;
	assert_string_equal(weft__unit_base("us", 3).name, "seconds");
	assert_int_equal(weft__unit_base("us", 3).scale, -3);
	assert_string_equal(weft__unit_base("apples", -1).name, "apples");
	assert_int_equal(weft__unit_base("apples", -1).scale, -1);
	assert_true(weft__unit_scaled(5, 0) == 5 && weft__unit_scaled(5, 3) == 5000);
	assert_true(weft__unit_scaled(3, -9) == 3e-9 && weft__unit_scaled(7, -22) == 7e-22);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_have_values_of_those_below),
		cmocka_unit_test(each_buffer_has_its_own),
		cmocka_unit_test(damaged_metrics_are_left_out),
		cmocka_unit_test(bounds_are_those_of_an_exponential),
		cmocka_unit_test(units_become_base_units),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
