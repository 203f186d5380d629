/* SPDX-License-Identifier: ISC
 *
 * See metric_rows.h.
 */
#include "model/metric_rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

/* ---- Headers ---- */

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

/* ---- Rows ---- */

uint32_t weft__model_metric_cells(const struct weft_abi_metric_row *row)
{
	return row->kind == WEFT_ABI_METRIC_HISTOGRAM
			   ? WEFT_ABI_METRIC_CELLS_OF(row->first_exponent, row->last_exponent) + 1
			   : 1;
}

uint32_t weft__model_metric_rows_depth(const struct weft__metric_rows *r, uint32_t row)
{
	uint32_t depth = 0;
	for (; r->rows[row].below; row = r->rows[row].below - 1u)
		depth++;
	return depth;
}

uint32_t weft__model_metric_rows_top(const struct weft__metric_rows *r, uint32_t row)
{
	while (r->rows[row].below)
		row = r->rows[row].below - 1u;
	return row;
}

/* The text at *at, which is moved behind its NUL; NULL if it has none. */
static const char *take_text(const struct weft__metric_rows *r, uint32_t *at)
{
	const char *text = r->text + *at;
	const char *end = *at < r->text_bytes ? memchr(text, 0, r->text_bytes - *at) : NULL;
	if (!end)
		return NULL;
	*at += (uint32_t)(end - text) + 1;
	return end - text <= WEFT_ABI_METRIC_TEXT_MAX ? text : NULL;
}

static bool is_like(const struct weft_abi_metric_row *row, const struct weft_abi_metric_row *above)
{
	return row->kind == above->kind && row->scale == above->scale &&
		   row->first_exponent == above->first_exponent &&
		   row->last_exponent == above->last_exponent;
}

/* No two rows of an honest program share a cell. Together they then have at most as many as there
 * are, which bounds what is read. */
static bool check_row(struct weft__metric_rows *r, uint32_t row)
{
	const struct weft_abi_metric_row *it = &r->rows[row];
	const unsigned above = it->below, texts = above ? 2 : 3;
	uint32_t at = it->text;
	if (!it->is_there || it->kind == WEFT_ABI_METRIC_NONE || it->kind >= WEFT_ABI_METRIC_KINDS ||
		it->first_exponent >= it->last_exponent || it->last_exponent > 63 ||
		it->cell > r->cell_count || weft__model_metric_cells(it) > r->cell_count - it->cell ||
		above > row ||
		(above && (!r->texts[above - 1].part[0] || !is_like(it, &r->rows[above - 1]))))
		return false;
	if (above && weft__model_metric_rows_depth(r, above - 1) >= WEFT_ABI_METRIC_DEPTH_MAX)
		return false;
	if (weft__model_metric_cells(it) > r->cell_count - r->cells_used)
		return false;
	r->cells_used += weft__model_metric_cells(it);
	for (unsigned i = 0; i < texts; i++)
		if (!(r->texts[row].part[i] = take_text(r, &at)))
			return false;
	return r->texts[row].part[0][0];
}

static void check_rows(struct weft__metric_rows *r)
{
	for (uint32_t row = 0; row < r->count; row++)
		if (!check_row(r, row))
			r->texts[row].part[0] = NULL;
}

/* ---- Sums ---- */

static uint64_t sum_of(const struct weft__metric_rows *r, uint32_t cell)
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
void weft__model_metric_rows_sum(struct weft__metric_rows *r, uint32_t cell)
{
	for (uint32_t row = 0; row < r->count; row++)
		r->values[row] = r->texts[row].part[0] && cell < weft__model_metric_cells(&r->rows[row])
							 ? sum_of(r, r->rows[row].cell + cell)
							 : 0;
	for (uint32_t row = r->count; row-- > 0;)
		if (r->texts[row].part[0] && r->rows[row].below)
			r->values[r->rows[row].below - 1] += r->values[row];
}

uint32_t weft__model_metric_rows_most_cells(const struct weft__metric_rows *r)
{
	uint32_t most = 0;
	for (uint32_t row = 0; row < r->count; row++)
		if (r->texts[row].part[0] && weft__model_metric_cells(&r->rows[row]) > most)
			most = weft__model_metric_cells(&r->rows[row]);
	return most;
}

/* 2^(eighth/8), the eight bounds between a power of two and the next one. */
double weft__model_metric_limit(unsigned first_exponent, uint32_t cell)
{
	static const double eighths[8] = {1, 1.0905077326652577, 1.189207115002721, 1.2968395546510096,
		1.4142135623730951, 1.5422108254079407, 1.681792830507429, 1.8340080864093424};
	return (double)(1ull << (first_exponent + cell / 8)) * eighths[cell % 8];
}

/* ---- Opening ---- */

/* The header is valid. */
static int begin(const void *memory, struct weft__metric_rows **ret_rows)
{
	const unsigned char *bytes = memory;
	const struct weft_abi_metrics *header = memory;
	if (header->rows_used > header->row_count)
		return WEFT_ERROR_FORMAT;
	struct weft__metric_rows *r = calloc(1, sizeof(*r));
	if (!r)
		return WEFT_ERROR_MEMORY;
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
	*ret_rows = r;
	return 0;
}

int weft__model_metric_rows_check(const void *memory, struct weft__metric_rows **ret_rows)
{
	return is_valid(memory) ? begin(memory, ret_rows) : WEFT_ERROR_FORMAT;
}

int weft__model_metric_rows_check_packed(
	const void *bytes, size_t size, struct weft__metric_rows **ret_rows)
{
	return size >= sizeof(struct weft_abi_metrics) && is_valid_packed(bytes, size)
			   ? begin(bytes, ret_rows)
			   : WEFT_ERROR_FORMAT;
}
