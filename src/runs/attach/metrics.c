/* SPDX-License-Identifier: ISC
 *
 * Reads the metrics in a copy of a process's memory (abi/metric_abi.h), which may be damaged: rows
 * that are, and those below them, are left out. See counters.h.
 */
#include "runs/attach/metrics.h"
#include "runs/attach/metrics_reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <weft/error.h>

#include "runs/attach/region.h"

/* ---- Copies ---- */

/* Rows that are damaged count as well, but never beyond the cells that there are. */
uint32_t weft__runs_metrics_cells_used(const void *memory)
{
	const struct weft_abi_metrics *header = memory;
	const struct weft_abi_metric_row *row = (const void *)(header + 1);
	uint32_t used = 0;
	for (uint32_t i = 0; i < header->rows_used && i < WEFT_ABI_METRIC_ROWS; i++) {
		const uint32_t cells = weft__model_metric_cells(&row[i]);
		const uint32_t end = row[i].cell < WEFT_ABI_METRIC_CELLS && cells < WEFT_ABI_METRIC_CELLS
								 ? row[i].cell + cells
								 : WEFT_ABI_METRIC_CELLS;
		if (end > used)
			used = end;
	}
	return used < WEFT_ABI_METRIC_CELLS ? used : WEFT_ABI_METRIC_CELLS;
}

int weft__runs_metrics_copy(int fd, void *memory)
{
	const size_t head = WEFT__RUNS_METRICS_HEAD_BYTES;
	int error = weft__runs_region_read(fd, 0, memory, head);
	const size_t bytes = error ? 0 : 8 * (size_t)weft__runs_metrics_cells_used(memory);
	for (size_t shard = 0; !error && shard < WEFT_ABI_METRIC_SHARDS; shard++) {
		const size_t at = head + shard * WEFT_ABI_METRIC_SHARD_BYTES;
		error = weft__runs_region_read(fd, (off_t)at, (char *)memory + at, bytes);
	}
	return error;
}

/* ---- The list ---- */

char *weft__runs_copy_text(char **texts, const char *text)
{
	const size_t size = strlen(text) + 1;
	char *copy = memcpy(*texts, text, size);
	*texts += size;
	return copy;
}

static struct weft__runs_exemplar exemplar_of(
	const struct weft__metric_rows *r, const struct weft_abi_exemplar *it)
{
	const uint64_t since_ns = it->monotonic_ns - r->born_monotonic_ns;
	return (struct weft__runs_exemplar){
		.is_there = it->begun && it->begun == it->done,
		.value = it->value,
		.task = it->task,
		.monotonic_ns = it->monotonic_ns,
		.unix_ns = r->born_unix_ns && r->born_monotonic_ns ? r->born_unix_ns + since_ns : 0,
	};
}

void weft__runs_row_describe(const struct weft__metric_rows *r, uint32_t row,
	struct weft__metrics_room *room, struct weft__runs_counter *counter)
{
	const struct weft_abi_metric_row *it = &r->rows[row];
	const struct weft__metric_text *top = &r->texts[weft__model_metric_rows_top(r, row)];
	*counter = (struct weft__runs_counter){
		.name = weft__runs_copy_text(&room->texts, top->part[0]),
		.unit = weft__runs_copy_text(&room->texts, top->part[1]),
		.help = weft__runs_copy_text(&room->texts, top->part[2]),
		.scale = it->scale,
		.type = (enum weft__runs_type)it->kind,
		.is_billable = it->flags & WEFT_ABI_METRIC_BILLABLE,
		.created_unix_ns = it->created_unix_ns,
		.exemplar = exemplar_of(r, &it->exemplar),
		.labels = room->labels,
		.label_count = weft__model_metric_rows_depth(r, row),
	};
	room->labels += counter->label_count;
	struct weft__runs_label *label = room->labels;
	for (; r->rows[row].below; row = r->rows[row].below - 1u)
		*--label =
			(struct weft__runs_label){weft__runs_copy_text(&room->texts, r->texts[row].part[0]),
				weft__runs_copy_text(&room->texts, r->texts[row].part[1])};
}

size_t weft__runs_row_text_bytes(const struct weft__metric_rows *r, uint32_t row)
{
	size_t bytes = 0;
	for (; r->rows[row].below; row = r->rows[row].below - 1u)
		bytes += strlen(r->texts[row].part[0]) + strlen(r->texts[row].part[1]) + 2;
	for (unsigned i = 0; i < 3; i++)
		bytes += strlen(r->texts[row].part[i]) + 1;
	return bytes;
}

/* Where the cells of rows that are histograms go; NULL: of others. */
typedef uint64_t *own_cells[WEFT_ABI_METRIC_ROWS];

static void put_row(struct weft__metric_rows *r, uint32_t row, struct weft__metrics_room *room,
	own_cells own, struct weft__runs_counter *counter)
{
	const struct weft_abi_metric_row *it = &r->rows[row];
	weft__runs_row_describe(r, row, room, counter);
	if (it->kind == WEFT_ABI_METRIC_HISTOGRAM) {
		counter->histogram.cells = own[row] = room->cells;
		counter->histogram.cell_count = weft__model_metric_cells(it) - 1;
		counter->histogram.first_exponent = it->first_exponent;
		room->cells += counter->histogram.cell_count;
	}
}

/* Takes the cell at a distance of the first. */
static void put_value(
	struct weft__runs_counter *counter, uint64_t *cells, uint32_t cell, uint64_t value)
{
	struct weft__runs_histogram *histogram = &counter->histogram;
	if (!cells && cell == 0) {
		counter->integer = (int64_t)value;
		counter->real = (double)counter->integer;
	} else if (cells && cell < histogram->cell_count) {
		cells[cell] = value;
		histogram->count += value;
	} else if (cells && cell == histogram->cell_count) {
		histogram->sum = value;
	}
}

static void put_values(
	struct weft__metric_rows *r, uint32_t cell, own_cells own, struct weft__runs_counter *counter)
{
	weft__model_metric_rows_sum(r, cell);
	for (uint32_t row = 0; row < r->count; row++)
		if (r->texts[row].part[0])
			put_value(counter++, own[row], cell, r->values[row]);
}

/* Counts what the list needs; texts are at most so many bytes. */
static void measure(const struct weft__metric_rows *r, size_t *ret_rows, size_t *ret_labels,
	size_t *ret_cells, size_t *ret_text)
{
	size_t rows = 0, labels = 0, cells = 0, text = 1;
	for (uint32_t row = 0; row < r->count; row++) {
		if (!r->texts[row].part[0])
			continue;
		rows++;
		labels += weft__model_metric_rows_depth(r, row);
		cells += weft__model_metric_cells(&r->rows[row]) - 1;
		text += weft__runs_row_text_bytes(r, row);
	}
	*ret_rows = rows;
	*ret_labels = labels;
	*ret_cells = cells;
	*ret_text = text;
}

static int list_rows(struct weft__metric_rows *r, struct weft__runs_counters *ret_counters)
{
	size_t rows, labels, cells, text;
	own_cells own = {0};
	measure(r, &rows, &labels, &cells, &text);
	struct weft__metrics_room room = {calloc(labels + 1, sizeof(*room.labels)),
		calloc(cells + 1, sizeof(*room.cells)), calloc(1, text)};
	struct weft__runs_counters counters = {.list = calloc(rows + 1, sizeof(*counters.list)),
		.count = rows,
		.owned = {room.labels, room.cells, room.texts}};
	if (!counters.list || !room.labels || !room.cells || !room.texts) {
		weft__runs_counters_finish(&counters);
		return ENOMEM;
	}
	struct weft__runs_counter *counter = counters.list;
	for (uint32_t row = 0; row < r->count; row++)
		if (r->texts[row].part[0])
			put_row(r, row, &room, own, counter++);
	const uint32_t most = weft__model_metric_rows_most_cells(r);
	for (uint32_t cell = 0; cell < most; cell++)
		put_values(r, cell, own, counters.list);
	*ret_counters = counters;
	return 0;
}

static int errno_of(int error)
{
	return error == WEFT_ERROR_MEMORY ? ENOMEM : error ? ENOENT : 0;
}

int weft__runs_rows_check(const void *memory, struct weft__metric_rows **ret_rows)
{
	return errno_of(weft__model_metric_rows_check(memory, ret_rows));
}

/* Frees the rows, if there are any. */
static int list_and_free(
	int error, struct weft__metric_rows *r, struct weft__runs_counters *ret_counters)
{
	if (!error) {
		error = list_rows(r, ret_counters);
		free(r);
	}
	return error;
}

int weft__runs_metrics_parse(const void *memory, struct weft__runs_counters *ret_counters)
{
	struct weft__metric_rows *r = NULL;
	int error = weft__runs_rows_check(memory, &r);
	return list_and_free(error, r, ret_counters);
}

int weft__runs_metrics_parse_packed(
	const void *bytes, size_t size, struct weft__runs_counters *ret_counters)
{
	struct weft__metric_rows *r = NULL;
	int error = errno_of(weft__model_metric_rows_check_packed(bytes, size, &r));
	return list_and_free(error, r, ret_counters);
}
