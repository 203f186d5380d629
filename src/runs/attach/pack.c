/* SPDX-License-Identifier: ISC
 *
 * Packs metrics for a trace (abi/metric_abi.h): only what is used, and for each cell its sum over
 * the shards.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runs/attach/metrics.h"

/* The bytes of the texts, in whole words: the rest is zero. */
static uint32_t text_used(const char *text)
{
	uint32_t used = WEFT_ABI_METRIC_TEXT;
	while (used && !text[used - 1])
		used--;
	used = (used + 1 + 7) / 8 * 8; /* with the last NUL */
	return used < WEFT_ABI_METRIC_TEXT ? used : WEFT_ABI_METRIC_TEXT;
}

static uint64_t sum_of(const unsigned char *cells, uint32_t cell)
{
	uint64_t sum = 0, value;
	for (size_t shard = 0; shard < WEFT_ABI_METRIC_SHARDS; shard++) {
		memcpy(
			&value, cells + shard * WEFT_ABI_METRIC_SHARD_BYTES + 8 * (size_t)cell, sizeof(value));
		sum += value;
	}
	return sum;
}

static void add_packed(struct weft_text *packed, const void *memory)
{
	struct weft_abi_metrics header = *(const struct weft_abi_metrics *)memory;
	const char *rows = (const char *)memory + sizeof(header);
	const char *text = rows + WEFT_ABI_METRIC_ROWS * sizeof(struct weft_abi_metric_row);
	const uint32_t rows_bytes = header.rows_used * (uint32_t)sizeof(struct weft_abi_metric_row);
	const unsigned char *cells = (const unsigned char *)text + WEFT_ABI_METRIC_TEXT;
	header.is_elsewhere = 0;
	header.row_count = header.rows_used;
	header.text_bytes = text_used(text);
	header.cell_count = weft__runs_metrics_cells_used(memory);
	header.shard_count = 1;
	header.text_offset = header.rows_offset + rows_bytes;
	header.cells_offset = header.text_offset + header.text_bytes;
	header.shard_bytes = 8 * header.cell_count;
	weft_text_add(packed, (const char *)&header, sizeof(header));
	weft_text_add(packed, rows, rows_bytes);
	weft_text_add(packed, text, header.text_bytes);
	for (uint32_t cell = 0; cell < header.cell_count; cell++) {
		const uint64_t sum = sum_of(cells, cell);
		weft_text_add(packed, (const char *)&sum, sizeof(sum));
	}
}

int weft__runs_metrics_pack(int fd, struct weft_text *ret_packed)
{
	struct weft__runs_counters counters;
	void *memory = aligned_alloc(64, WEFT_ABI_METRICS_BYTES);
	int error = memory ? weft__runs_metrics_copy(fd, memory) : ENOMEM;
	if (!error && !(error = weft__runs_metrics_parse(memory, &counters))) {
		error = counters.count ? 0 : ENOENT;
		weft__runs_counters_finish(&counters);
	}
	if (!error)
		add_packed(ret_packed, memory);
	if (!error && ret_packed->error)
		error = ENOMEM;
	free(memory);
	return error;
}
