/* SPDX-License-Identifier: ISC
 *
 * The input is what a process may write into the memory of its metrics: a byte with the number of
 * rows, those rows, a byte with the number of children, those children, and the text.
 */
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "runs/attach/metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct input {
	const uint8_t *bytes;
	size_t left;
};

static uint8_t take_byte(struct input *input)
{
	uint8_t byte = input->left ? *input->bytes : 0;
	input->bytes += input->left != 0;
	input->left -= input->left != 0;
	return byte;
}

static void take(struct input *input, void *to, size_t size)
{
	size_t part = size < input->left ? size : input->left;
	if (part)
		memcpy(to, input->bytes, part);
	input->bytes += part;
	input->left -= part;
}

static void check(const struct weft__runs_counters *counters)
{
	size_t sum = 0;
	for (size_t i = 0; i < counters->count; i++) {
		const struct weft__runs_counter *it = &counters->list[i];
		require(it->name[0]);
		sum += strlen(it->unit) + strlen(it->help);
		for (size_t k = 0; k < it->label_count; k++) {
			require(it->labels[k].key[0]);
			sum += strlen(it->labels[k].value);
		}
		for (uint32_t k = 0; k < it->histogram.cell_count; k++)
			sum += it->histogram.cells[k] != 0;
	}
	require(sum < SIZE_MAX / 2);
}

static struct weft_abi_metrics *make_metrics(struct input *input)
{
	struct weft_abi_metrics *memory = aligned_alloc(64, WEFT_ABI_METRICS_BYTES);
	require(memory != NULL);
	memset(memory, 0, WEFT_ABI_METRICS_BYTES);
	const uint32_t rows = sizeof(*memory), row = sizeof(struct weft_abi_metric_row);
	*memory = (struct weft_abi_metrics){.version = WEFT_ABI_METRICS_VERSION,
		.row_count = WEFT_ABI_METRIC_ROWS,
		.text_bytes = WEFT_ABI_METRIC_TEXT,
		.cell_count = WEFT_ABI_METRIC_CELLS,
		.shard_count = WEFT_ABI_METRIC_SHARDS,
		.rows_offset = rows,
		.text_offset = rows + WEFT_ABI_METRIC_ROWS * row,
		.cells_offset = rows + WEFT_ABI_METRIC_ROWS * row + WEFT_ABI_METRIC_TEXT,
		.shard_bytes = WEFT_ABI_METRIC_SHARD_BYTES,
		.rows_used = take_byte(input)};
	memcpy(memory->magic, WEFT_ABI_METRICS_MAGIC, sizeof(memory->magic));
	take(input, memory + 1, memory->rows_used * (size_t)row);
	return memory;
}

static struct weft_abi_children *make_children(struct input *input, size_t *ret_bytes)
{
	const uint32_t used = take_byte(input);
	*ret_bytes = sizeof(struct weft_abi_children) + used * sizeof(struct weft_abi_child);
	struct weft_abi_children *memory = calloc(1, *ret_bytes);
	require(memory != NULL);
	*memory = (struct weft_abi_children){.version = WEFT_ABI_METRICS_VERSION, .used = used};
	memcpy(memory->magic, WEFT_ABI_CHILDREN_MAGIC, sizeof(memory->magic));
	take(input, memory + 1, used * sizeof(struct weft_abi_child));
	return memory;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = {bytes, size};
	struct weft__runs_counters counters;
	size_t child_bytes;
	struct weft_abi_metrics *metrics = make_metrics(&input);
	struct weft_abi_children *children = make_children(&input, &child_bytes);
	take(&input, (char *)metrics + metrics->text_offset, WEFT_ABI_METRIC_TEXT);
	require(weft__runs_metrics_parse(metrics, &counters) == 0);
	check(&counters);
	weft__runs_counters_finish(&counters);
	require(weft__runs_children_parse(metrics, children, children, child_bytes, &counters) == 0);
	check(&counters);
	weft__runs_counters_finish(&counters);
	free(metrics);
	free(children);
	return 0;
}
