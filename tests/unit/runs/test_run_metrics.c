/* SPDX-License-Identifier: ISC
 *
 * Reading another process's metrics, which is this one here: totals of levels, histograms,
 * children; and memory in which a hostile process has written anything.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/metrics.h>

#include "runs/attach/metrics.h"
#include "runs/attach/page.h"

#define LABELS(...) ((const char *const[]){__VA_ARGS__})

WEFT_METRIC_DEFINE(acked, .name = "tcp_acked", .type = WEFT_METRIC_COUNTER, .unit = "bytes",
	.help = "Bytes that the peer has acknowledged", .is_billable = true);
WEFT_METRIC_DEFINE(queued, .name = "queued", .type = WEFT_METRIC_GAUGE);
WEFT_METRIC_DEFINE(latency, .name = "latency", .type = WEFT_METRIC_HISTOGRAM, .unit = "seconds",
	.scale = -9, .first_exponent = 3, .last_exponent = 5);

static weft_metric eu, acme, gauge, histogram, vm, stream;

static int begin(void **state)
{
	(void)state;
	eu = weft_metric_get(&acked, LABELS("pool", "eu"), 1);
	acme = weft_metric_get(&acked, LABELS("pool", "eu", "customer", "acme"), 2);
	gauge = weft_metric_get(&queued, NULL, 0);
	histogram = weft_metric_get(&latency, LABELS("pool", "eu"), 1);
	weft_metric_add(eu, 1);
	weft_metric_add(acme, 10);
	weft_metric_set(gauge, -4);
	weft_metric_record(histogram, 8);
	weft_metric_record(histogram, 9);
	weft_metric_record(histogram, 1000);
	if (weft_metrics_reserve(100) != 0)
		return -1;
	vm = weft_metric_child(acme, "vm", "three");
	stream = weft_metric_child_n(vm, "stream", 7);
	weft_metric_add(vm, 5);
	weft_metric_add(stream, 2);
	weft_metric_end(weft_metric_child(acme, "vm", "gone"));
	return 0;
}

/* The counter of that name and so many labels. */
static const struct weft__runs_counter *find(
	const struct weft__runs_counters *counters, const char *name, size_t labels)
{
	for (size_t i = 0; i < counters->count; i++)
		if (strcmp(counters->list[i].name, name) == 0 && counters->list[i].label_count == labels)
			return &counters->list[i];
	fail_msg("no %s with %zu labels", name, labels);
	return NULL;
}

static void levels_have_their_totals(void **state)
{
	(void)state;
	struct weft__runs_counters counters;
	assert_int_equal(weft__runs_counters_read(getpid(), &counters), 0);
	const struct weft__runs_counter *it = find(&counters, "tcp_acked", 2);
	assert_int_equal(it->integer, 17);
	assert_string_equal(it->unit, "bytes");
	assert_string_equal(it->help, "Bytes that the peer has acknowledged");
	assert_int_equal(it->type, WEFT__RUNS_COUNTER);
	assert_true(it->is_billable && !it->is_child && it->created_unix_ns);
	assert_string_equal(it->labels[0].key, "pool");
	assert_string_equal(it->labels[0].value, "eu");
	assert_string_equal(it->labels[1].key, "customer");
	assert_string_equal(it->labels[1].value, "acme");
	assert_int_equal(find(&counters, "tcp_acked", 1)->integer, 18);
	assert_int_equal(find(&counters, "tcp_acked", 0)->integer, 18);
	assert_int_equal(find(&counters, "queued", 0)->integer, -4);
	weft__runs_counters_finish(&counters);
}

static void a_histogram_has_its_cells(void **state)
{
	(void)state;
	struct weft__runs_counters counters;
	assert_int_equal(weft__runs_counters_read(getpid(), &counters), 0);
	for (size_t labels = 0; labels < 2; labels++) {
		const struct weft__runs_counter *it = find(&counters, "latency", labels);
		assert_int_equal(it->type, WEFT__RUNS_HISTOGRAM);
		assert_int_equal(it->scale, -9);
		assert_int_equal(it->histogram.first_exponent, 3);
		assert_int_equal(it->histogram.cell_count, 18);
		assert_int_equal(it->histogram.cells[0], 1); /* at most 8 */
		assert_int_equal(it->histogram.cells[2], 1); /* at most 8 × 2^(2/8), 9.51 */
		assert_int_equal(it->histogram.cells[17], 1);
		assert_int_equal(it->histogram.count, 3);
		assert_int_equal(it->histogram.sum, 1017);
	}
	weft__runs_counters_finish(&counters);
}

static void children_have_all_labels_above_them(void **state)
{
	(void)state;
	struct weft__runs_counters children;
	assert_int_equal(weft__runs_children_read(getpid(), &children), 0);
	assert_int_equal(children.count, 2);
	const struct weft__runs_counter *it = find(&children, "tcp_acked", 4);
	assert_int_equal(it->integer, 2);
	assert_true(it->is_child && !it->is_billable);
	assert_string_equal(it->labels[1].value, "acme");
	assert_string_equal(it->labels[2].key, "vm");
	assert_string_equal(it->labels[2].value, "three");
	assert_string_equal(it->labels[3].key, "stream");
	assert_string_equal(it->labels[3].value, "7");
	assert_int_equal(find(&children, "tcp_acked", 3)->integer, 7);
	weft__runs_counters_finish(&children);
}

/* A program with three metrics has 20 cells in use, of 8192. */
static void a_copy_has_the_cells_in_use(void **state)
{
	(void)state;
	struct weft__runs_counters counters;
	unsigned char *memory = aligned_alloc(64, WEFT_ABI_METRICS_BYTES);
	memset(memory, 'x', WEFT_ABI_METRICS_BYTES);
	int fd = weft__runs_memory_open(getpid(), WEFT__RUNS_METRICS);
	assert_return_code(fd, errno);
	assert_int_equal(weft__runs_metrics_copy(fd, memory), 0);
	close(fd);
	const uint32_t used = weft__runs_metrics_cells_used(memory);
	assert_in_range(used, 20, 100);
	for (uint32_t shard = 0; shard < WEFT_ABI_METRIC_SHARDS; shard++)
		assert_int_equal(
			memory[WEFT__RUNS_METRICS_HEAD_BYTES + shard * WEFT_ABI_METRIC_SHARD_BYTES + 8 * used],
			'x');
	assert_int_equal(weft__runs_metrics_parse(memory, &counters), 0);
	assert_int_equal(find(&counters, "tcp_acked", 1)->integer, 18);
	assert_int_equal(find(&counters, "latency", 1)->histogram.sum, 1017);
	weft__runs_counters_finish(&counters);
	free(memory);
}

/* Makes what a trace has. The caller finishes the text. */
static struct weft_text pack(void)
{
	struct weft_text packed = {0};
	int fd = weft__runs_metrics_open(getpid());
	assert_return_code(fd, errno);
	assert_int_equal(weft__runs_metrics_pack(fd, &packed), 0);
	assert_int_equal(packed.size % 8, 0);
	close(fd);
	return packed;
}

static void a_packed_copy_is_small_and_has_the_same_values(void **state)
{
	(void)state;
	struct weft_text packed = pack();
	struct weft__runs_counters counters;
	assert_true(packed.size < 4096);
	assert_int_equal(weft__runs_metrics_parse_packed(packed.bytes, packed.size, &counters), 0);
	assert_int_equal(find(&counters, "tcp_acked", 2)->integer, 17);
	assert_int_equal(find(&counters, "tcp_acked", 0)->integer, 18);
	assert_string_equal(find(&counters, "tcp_acked", 2)->labels[1].value, "acme");
	assert_int_equal(find(&counters, "queued", 0)->integer, -4);
	assert_int_equal(find(&counters, "latency", 0)->histogram.count, 3);
	assert_int_equal(find(&counters, "latency", 0)->histogram.sum, 1017);
	weft__runs_counters_finish(&counters);
	for (size_t size = 0; size < packed.size; size += 8)
		assert_int_equal(weft__runs_metrics_parse_packed(packed.bytes, size, &counters), ENOENT);
	weft_text_finish(&packed);
}

/* ---- Damage ---- */

static unsigned char *copy(enum weft__runs_memory kind, size_t *ret_bytes)
{
	int fd = weft__runs_memory_open(getpid(), kind);
	assert_return_code(fd, errno);
	*ret_bytes = (size_t)lseek(fd, 0, SEEK_END);
	unsigned char *bytes = aligned_alloc(64, (*ret_bytes + 63) / 64 * 64);
	assert_int_equal(pread(fd, bytes, *ret_bytes, 0), *ret_bytes);
	close(fd);
	return bytes;
}

/* Reads all that a list refers to, so that a sanitizer sees it. */
static size_t walk(const struct weft__runs_counters *counters)
{
	size_t bytes = 0;
	for (size_t i = 0; i < counters->count; i++) {
		const struct weft__runs_counter *it = &counters->list[i];
		bytes += strlen(it->name) + strlen(it->help) + strlen(it->unit);
		for (size_t k = 0; k < it->label_count; k++)
			bytes += strlen(it->labels[k].key) + strlen(it->labels[k].value);
		for (uint32_t k = 0; k < it->histogram.cell_count; k++)
			bytes += it->histogram.cells[k] != 0;
	}
	return bytes;
}

static void any_damage_of_a_packed_copy_is_survived(void **state)
{
	(void)state;
	static const unsigned char values[] = {0, 1, 2, 0x7f, 0x80, 0xff};
	struct weft_text packed = pack();
	struct weft__runs_counters counters;
	for (size_t at = 0; at < packed.size; at++)
		for (size_t i = 0; i < sizeof(values); i++) {
			/* In memory of its own, so that a sanitizer sees what is read behind it. */
			unsigned char *copy = malloc(packed.size);
			memcpy(copy, packed.bytes, packed.size);
			copy[at] = values[i];
			if (weft__runs_metrics_parse_packed(copy, packed.size, &counters) == 0) {
				walk(&counters);
				weft__runs_counters_finish(&counters);
			}
			free(copy);
		}
	weft_text_finish(&packed);
}

static void any_damage_is_survived(void **state)
{
	(void)state;
	static const unsigned char values[] = {0, 1, 2, 0x7f, 0x80, 0xff};
	size_t bytes, child_bytes;
	unsigned char *metrics = copy(WEFT__RUNS_METRICS, &bytes);
	unsigned char *children = copy(WEFT__RUNS_CHILDREN, &child_bytes);
	const size_t rows = sizeof(struct weft_abi_metrics);
	struct weft__runs_counters counters;
	/* The header and some rows; then the text, in which a NUL is lost. */
	for (size_t at = 0; at < rows + 7 * sizeof(struct weft_abi_metric_row); at++)
		for (size_t i = 0; i < sizeof(values); i++) {
			const unsigned char before = metrics[at];
			metrics[at] = values[i];
			if (weft__runs_metrics_parse(metrics, &counters) == 0) {
				walk(&counters);
				weft__runs_counters_finish(&counters);
			}
			if (weft__runs_children_parse(metrics, children, children, child_bytes, &counters) ==
				0) {
				walk(&counters);
				weft__runs_counters_finish(&counters);
			}
			metrics[at] = before;
		}
	memset(metrics + rows + WEFT_ABI_METRIC_ROWS * sizeof(struct weft_abi_metric_row), 'x',
		WEFT_ABI_METRIC_TEXT);
	assert_int_equal(weft__runs_metrics_parse(metrics, &counters), 0);
	assert_int_equal(counters.count, 0);
	weft__runs_counters_finish(&counters);
	free(metrics);
	free(children);
}

/* A hostile process could make its readers use gigabytes: texts that overlap, rows one below the
 * other, histograms that have the same cells. */
static void rows_that_would_cost_too_much_are_left_out(void **state)
{
	(void)state;
	size_t bytes;
	unsigned char *metrics = copy(WEFT__RUNS_METRICS, &bytes);
	struct weft_abi_metrics *header = (void *)metrics;
	struct weft_abi_metric_row *rows = (void *)(header + 1);
	struct weft__runs_counters counters;
	char *text = (char *)metrics + header->text_offset;
	header->rows_used = WEFT_ABI_METRIC_ROWS;
	memset(text, 'x', 600);
	text[600] = text[601] = text[602] = '\0';
	for (uint32_t row = 0; row < WEFT_ABI_METRIC_ROWS; row++)
		rows[row] = (struct weft_abi_metric_row){.text = 600 - 255,
			.below = (uint16_t)row,
			.kind = WEFT_ABI_METRIC_COUNTER,
			.first_exponent = 10,
			.last_exponent = 40,
			.is_there = 1,
			.cell = row};
	assert_int_equal(weft__runs_metrics_parse(metrics, &counters), 0);
	assert_int_equal(counters.count, 1 + WEFT_ABI_METRIC_DEPTH_MAX);
	weft__runs_counters_finish(&counters);
	rows[0].text = 600 - 256;
	assert_int_equal(weft__runs_metrics_parse(metrics, &counters), 0);
	assert_int_equal(counters.count, 0);
	weft__runs_counters_finish(&counters);
	for (uint32_t row = 0; row < WEFT_ABI_METRIC_ROWS; row++) {
		rows[row].text = 590;
		rows[row].below = 0;
		rows[row].kind = WEFT_ABI_METRIC_HISTOGRAM;
		rows[row].cell = 0;
	}
	assert_int_equal(weft__runs_metrics_parse(metrics, &counters), 0);
	assert_int_equal(counters.count, WEFT_ABI_METRIC_CELLS / 243);
	weft__runs_counters_finish(&counters);
	free(metrics);
}

static void any_damage_of_children_is_survived(void **state)
{
	(void)state;
	static const unsigned char values[] = {0, 1, 2, 0x7f, 0x80, 0xff};
	size_t bytes, child_bytes;
	unsigned char *metrics = copy(WEFT__RUNS_METRICS, &bytes);
	unsigned char *children = copy(WEFT__RUNS_CHILDREN, &child_bytes);
	struct weft__runs_counters counters;
	for (size_t at = 0; at < sizeof(struct weft_abi_children) + 3 * sizeof(struct weft_abi_child);
		 at++)
		for (size_t i = 0; i < sizeof(values); i++) {
			const unsigned char before = children[at];
			children[at] = values[i];
			if (weft__runs_children_parse(metrics, children, children, child_bytes, &counters) ==
				0) {
				walk(&counters);
				weft__runs_counters_finish(&counters);
			}
			children[at] = before;
		}
	/* A child that is above itself. */
	struct weft_abi_child *first = (void *)(children + sizeof(struct weft_abi_children));
	first[0].below = 1;
	first[0].below_sequence = first[0].sequence;
	assert_int_equal(
		weft__runs_children_parse(metrics, children, children, child_bytes, &counters), 0);
	assert_int_equal(counters.count, 0);
	weft__runs_counters_finish(&counters);
	/* One that was replaced between the copies. */
	first[0].below = 0;
	unsigned char *second = malloc(child_bytes);
	memcpy(second, children, child_bytes);
	first[1].sequence += 2;
	assert_int_equal(
		weft__runs_children_parse(metrics, children, second, child_bytes, &counters), 0);
	assert_int_equal(counters.count, 1);
	weft__runs_counters_finish(&counters);
	free(second);
	free(metrics);
	free(children);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_have_their_totals),
		cmocka_unit_test(a_histogram_has_its_cells),
		cmocka_unit_test(children_have_all_labels_above_them),
		cmocka_unit_test(a_copy_has_the_cells_in_use),
		cmocka_unit_test(a_packed_copy_is_small_and_has_the_same_values),
		cmocka_unit_test(any_damage_of_a_packed_copy_is_survived),
		cmocka_unit_test(any_damage_is_survived),
		cmocka_unit_test(rows_that_would_cost_too_much_are_left_out),
		cmocka_unit_test(any_damage_of_children_is_survived),
	};
	return cmocka_run_group_tests(tests, begin, NULL);
}
