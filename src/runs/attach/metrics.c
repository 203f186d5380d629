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

#include "runs/attach/region.h"

static bool is_ours(const struct weft_abi_metrics *header)
{
	return memcmp(header->magic, WEFT_ABI_METRICS_MAGIC, sizeof(header->magic)) == 0 &&
		   header->version == WEFT_ABI_METRICS_VERSION;
}

/* All parts of a hosted program's memory have the same sizes. */
static bool is_valid(const struct weft_abi_metrics *header)
{
	const uint32_t rows = sizeof(*header), row = sizeof(struct weft_abi_metric_row);
	return is_ours(header) && header->row_count == WEFT_ABI_METRIC_ROWS &&
		   header->text_bytes == WEFT_ABI_METRIC_TEXT &&
		   header->cell_count == WEFT_ABI_METRIC_CELLS &&
		   header->shard_count == WEFT_ABI_METRIC_SHARDS && header->rows_offset == rows &&
		   header->text_offset == rows + WEFT_ABI_METRIC_ROWS * row &&
		   header->cells_offset == header->text_offset + WEFT_ABI_METRIC_TEXT &&
		   header->shard_bytes == WEFT_ABI_METRIC_SHARD_BYTES;
}

/* Those of a packed copy have the sizes that are used. */
static bool is_valid_packed(const struct weft_abi_metrics *header, size_t size)
{
	const uint32_t rows = sizeof(*header), row = sizeof(struct weft_abi_metric_row);
	return is_ours(header) && header->row_count <= WEFT_ABI_METRIC_ROWS &&
		   header->text_bytes <= WEFT_ABI_METRIC_TEXT && header->text_bytes % 8 == 0 &&
		   header->cell_count <= WEFT_ABI_METRIC_CELLS && header->shard_count == 1 &&
		   header->rows_offset == rows && header->text_offset == rows + header->row_count * row &&
		   header->cells_offset == header->text_offset + header->text_bytes &&
		   header->shard_bytes == 8 * header->cell_count &&
		   size >= header->cells_offset + header->shard_bytes;
}

/* ---- Copies ---- */

static uint32_t cells_of(const struct weft_abi_metric_row *row)
{
	return row->kind == WEFT_ABI_METRIC_HISTOGRAM
			   ? WEFT_ABI_METRIC_CELLS_OF(row->first_exponent, row->last_exponent) + 1
			   : 1;
}

/* Rows that are damaged count as well, but never beyond the cells that there are. */
uint32_t weft__runs_metrics_cells_used(const void *memory)
{
	const struct weft_abi_metrics *header = memory;
	const struct weft_abi_metric_row *row = (const void *)(header + 1);
	uint32_t used = 0;
	for (uint32_t i = 0; i < header->rows_used && i < WEFT_ABI_METRIC_ROWS; i++) {
		const uint32_t cells = cells_of(&row[i]);
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

/* ---- Rows ---- */

/* The text at *at, which is moved behind its NUL; NULL if it has none. */
static const char *take_text(const struct weft__metrics_reading *r, uint32_t *at)
{
	const char *text = r->text + *at;
	if (*at >= r->text_bytes)
		return NULL;
	const size_t size = strnlen(text, r->text_bytes - *at);
	*at += (uint32_t)size + 1;
	return *at <= r->text_bytes && size <= WEFT_ABI_METRIC_TEXT_MAX ? text : NULL;
}

static bool is_like(const struct weft_abi_metric_row *row, const struct weft_abi_metric_row *above)
{
	return row->kind == above->kind && row->scale == above->scale &&
		   row->first_exponent == above->first_exponent &&
		   row->last_exponent == above->last_exponent;
}

/* No two rows of an honest program share a cell. Together they then have at most as many as there
 * are, which bounds what is read. */
static bool check_row(struct weft__metrics_reading *r, uint32_t row)
{
	const struct weft_abi_metric_row *it = &r->rows[row];
	const unsigned above = it->below, texts = above ? 2 : 3;
	uint32_t at = it->text;
	if (!it->is_there || it->kind == WEFT_ABI_METRIC_NONE || it->kind >= WEFT_ABI_METRIC_KINDS ||
		it->first_exponent >= it->last_exponent || it->last_exponent > 63 ||
		it->cell > r->cell_count || cells_of(it) > r->cell_count - it->cell || above > row ||
		(above && (!r->texts[above - 1].part[0] || !is_like(it, &r->rows[above - 1]))))
		return false;
	if (above && weft__runs_row_depth(r, above - 1) >= WEFT_ABI_METRIC_DEPTH_MAX)
		return false;
	if (cells_of(it) > r->cell_count - r->cells_used)
		return false;
	r->cells_used += cells_of(it);
	for (unsigned i = 0; i < texts; i++)
		if (!(r->texts[row].part[i] = take_text(r, &at)))
			return false;
	return r->texts[row].part[0][0];
}

static void check_rows(struct weft__metrics_reading *r)
{
	for (uint32_t row = 0; row < r->count; row++)
		if (!check_row(r, row))
			r->texts[row].part[0] = NULL;
}

static uint64_t sum_of(const struct weft__metrics_reading *r, uint32_t cell)
{
	uint64_t sum = 0;
	for (uint32_t shard = 0; shard < r->shard_count; shard++) {
		uint64_t value;
		memcpy(&value, r->cells + (size_t)shard * r->shard_bytes + 8 * (size_t)cell, sizeof(value));
		sum += value;
	}
	return sum;
}

/* Sums for all rows their cells at a distance from the first one. What a row has is a part of what
 * the one above it has, which comes before it. */
static void sum_rows(struct weft__metrics_reading *r, uint32_t cell)
{
	for (uint32_t row = 0; row < r->count; row++)
		r->values[row] = r->texts[row].part[0] && cell < cells_of(&r->rows[row])
							 ? sum_of(r, r->rows[row].cell + cell)
							 : 0;
	for (uint32_t row = r->count; row-- > 0;)
		if (r->texts[row].part[0] && r->rows[row].below)
			r->values[r->rows[row].below - 1] += r->values[row];
}

/* ---- The list ---- */

char *weft__runs_copy_text(char **texts, const char *text)
{
	const size_t size = strlen(text) + 1;
	char *copy = memcpy(*texts, text, size);
	*texts += size;
	return copy;
}

uint32_t weft__runs_row_depth(const struct weft__metrics_reading *r, uint32_t row)
{
	uint32_t depth = 0;
	for (; r->rows[row].below; row = r->rows[row].below - 1u)
		depth++;
	return depth;
}

static uint32_t top_of_row(const struct weft__metrics_reading *r, uint32_t row)
{
	while (r->rows[row].below)
		row = r->rows[row].below - 1u;
	return row;
}

static struct weft__runs_exemplar exemplar_of(
	const struct weft__metrics_reading *r, const struct weft_abi_exemplar *it)
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

void weft__runs_row_describe(const struct weft__metrics_reading *r, uint32_t row,
	struct weft__metrics_room *room, struct weft__runs_counter *counter)
{
	const struct weft_abi_metric_row *it = &r->rows[row];
	const struct weft__metrics_text *top = &r->texts[top_of_row(r, row)];
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
		.label_count = weft__runs_row_depth(r, row),
	};
	room->labels += counter->label_count;
	struct weft__runs_label *label = room->labels;
	for (; r->rows[row].below; row = r->rows[row].below - 1u)
		*--label =
			(struct weft__runs_label){weft__runs_copy_text(&room->texts, r->texts[row].part[0]),
				weft__runs_copy_text(&room->texts, r->texts[row].part[1])};
}

size_t weft__runs_row_text_bytes(const struct weft__metrics_reading *r, uint32_t row)
{
	size_t bytes = 0;
	for (; r->rows[row].below; row = r->rows[row].below - 1u)
		bytes += strlen(r->texts[row].part[0]) + strlen(r->texts[row].part[1]) + 2;
	for (unsigned i = 0; i < 3; i++)
		bytes += strlen(r->texts[row].part[i]) + 1;
	return bytes;
}

static void put_row(struct weft__metrics_reading *r, uint32_t row, struct weft__metrics_room *room,
	struct weft__runs_counter *counter)
{
	const struct weft_abi_metric_row *it = &r->rows[row];
	weft__runs_row_describe(r, row, room, counter);
	if (it->kind == WEFT_ABI_METRIC_HISTOGRAM) {
		counter->histogram.cells = r->own_cells[row] = room->cells;
		counter->histogram.cell_count = cells_of(it) - 1;
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
	struct weft__metrics_reading *r, uint32_t cell, struct weft__runs_counter *counter)
{
	sum_rows(r, cell);
	for (uint32_t row = 0; row < r->count; row++)
		if (r->texts[row].part[0])
			put_value(counter++, r->own_cells[row], cell, r->values[row]);
}

/* Counts what the list needs; texts are at most so many bytes. */
static void measure(const struct weft__metrics_reading *r, size_t *ret_rows, size_t *ret_labels,
	size_t *ret_cells, size_t *ret_text)
{
	size_t rows = 0, labels = 0, cells = 0, text = 1;
	for (uint32_t row = 0; row < r->count; row++) {
		if (!r->texts[row].part[0])
			continue;
		rows++;
		labels += weft__runs_row_depth(r, row);
		cells += cells_of(&r->rows[row]) - 1;
		text += weft__runs_row_text_bytes(r, row);
	}
	*ret_rows = rows;
	*ret_labels = labels;
	*ret_cells = cells;
	*ret_text = text;
}

static uint32_t most_cells(const struct weft__metrics_reading *r)
{
	uint32_t most = 0;
	for (uint32_t row = 0; row < r->count; row++)
		if (r->texts[row].part[0] && cells_of(&r->rows[row]) > most)
			most = cells_of(&r->rows[row]);
	return most;
}

static int list_rows(struct weft__metrics_reading *r, struct weft__runs_counters *ret_counters)
{
	size_t rows, labels, cells, text;
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
			put_row(r, row, &room, counter++);
	const uint32_t most = most_cells(r);
	for (uint32_t cell = 0; cell < most; cell++)
		put_values(r, cell, counters.list);
	*ret_counters = counters;
	return 0;
}

/* The header is valid. */
static int begin(const void *memory, struct weft__metrics_reading **ret_reading)
{
	const unsigned char *bytes = memory;
	const struct weft_abi_metrics *header = memory;
	if (header->rows_used > header->row_count)
		return ENOENT;
	struct weft__metrics_reading *r = calloc(1, sizeof(*r));
	if (!r)
		return ENOMEM;
	r->rows = (const void *)(bytes + header->rows_offset);
	r->text = (const char *)bytes + header->text_offset;
	r->cells = bytes + header->cells_offset;
	r->count = header->rows_used;
	r->born_unix_ns = header->born_unix_ns;
	r->born_monotonic_ns = header->born_monotonic_ns;
	r->text_bytes = header->text_bytes;
	r->cell_count = header->cell_count;
	r->shard_count = header->shard_count;
	r->shard_bytes = header->shard_bytes;
	check_rows(r);
	*ret_reading = r;
	return 0;
}

int weft__runs_reading_begin(const void *memory, struct weft__metrics_reading **ret_reading)
{
	return is_valid(memory) ? begin(memory, ret_reading) : ENOENT;
}

static int begin_packed(const void *bytes, size_t size, struct weft__metrics_reading **ret_reading)
{
	return size >= sizeof(struct weft_abi_metrics) && is_valid_packed(bytes, size)
			   ? begin(bytes, ret_reading)
			   : ENOENT;
}

/* Frees the reading, if there is one. */
static int list_and_free(
	int error, struct weft__metrics_reading *r, struct weft__runs_counters *ret_counters)
{
	if (!error) {
		error = list_rows(r, ret_counters);
		free(r);
	}
	return error;
}

int weft__runs_metrics_parse(const void *memory, struct weft__runs_counters *ret_counters)
{
	struct weft__metrics_reading *r = NULL;
	int error = weft__runs_reading_begin(memory, &r);
	return list_and_free(error, r, ret_counters);
}

int weft__runs_metrics_parse_packed(
	const void *bytes, size_t size, struct weft__runs_counters *ret_counters)
{
	struct weft__metrics_reading *r = NULL;
	int error = begin_packed(bytes, size, &r);
	return list_and_free(error, r, ret_counters);
}
