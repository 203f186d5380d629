/* SPDX-License-Identifier: ISC
 *
 * See histograms.h. A trace has the numbers of values of each size; buckets are those sizes that
 * occurred.
 */
#include "model/histograms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/error.h>
#include <weft/side_tables.h>
#include <weft/text.h>

#include "base/array.h"
#include "base/unit.h"
#include "model/metric_rows.h"
#include "model/side_tables.h"

struct histograms {
	struct weft__strings *strings;
	struct weft_histogram *list;
	uint32_t count;
	size_t capacity;
	struct weft_bucket *buckets;
	uint32_t bucket_count;
	size_t bucket_capacity;
};

/* ---- Names ---- */

static int intern(struct histograms *h, const char *text, uint32_t *ret_string)
{
	return weft__strings_intern(h->strings, text, strlen(text), ret_string);
}

/* The labels of the rows from the widest level down to this one: {"pool":"eu","customer":"acme"} */
static void add_labels(struct weft_text *text, const struct weft__metric_rows *r, uint32_t row)
{
	uint32_t path[WEFT_ABI_METRIC_DEPTH_MAX + 1], depth = 0;
	for (; r->rows[row].below; row = r->rows[row].below - 1u)
		path[depth++] = row;
	weft_text_add_string(text, "{");
	while (depth-- > 0) {
		const struct weft__metric_text *label = &r->texts[path[depth]];
		weft_text_add_json(text, label->part[0], strlen(label->part[0]));
		weft_text_add_string(text, ":");
		weft_text_add_json(text, label->part[1], strlen(label->part[1]));
		weft_text_add_string(text, depth ? "," : "");
	}
	weft_text_add(text, "}", 2); /* with the NUL */
}

static int name_it(struct histograms *h, const struct weft__metric_rows *r, uint32_t row,
	const char *unit, struct weft_histogram *histogram)
{
	struct weft_text labels = {0};
	add_labels(&labels, r, row);
	int error = labels.error ? WEFT_ERROR_MEMORY : intern(h, labels.bytes, &histogram->labels);
	weft_text_finish(&labels);
	if (!error)
		error = intern(h, r->texts[weft__model_metric_rows_top(r, row)].part[0], &histogram->name);
	return error ? error : intern(h, unit, &histogram->unit);
}

/* ---- Values ---- */

static int add_bucket(struct histograms *h, double up_to, uint64_t count)
{
	const struct weft__column column = {&h->buckets, sizeof(*h->buckets)};
	int error = weft__columns_reserve(&column, 1, &h->bucket_capacity, h->bucket_count + (size_t)1);
	if (!error)
		h->buckets[h->bucket_count++] = (struct weft_bucket){up_to, count};
	return error;
}

/* Takes the values of a row, of which `cells` has those of all sizes, and their sum. */
static int add_values(struct histograms *h, const struct weft_abi_metric_row *row, int scale,
	const uint64_t *cells, struct weft_histogram *histogram)
{
	const uint32_t count = weft__model_metric_cells(row) - 1;
	int error = 0;
	histogram->first_bucket = h->bucket_count;
	for (uint32_t i = 0; i < count && !error; i++) {
		const double limit =
			i + 1 < count
				? weft__unit_scaled(weft__model_metric_limit(row->first_exponent, i), scale)
				: (double)INFINITY;
		if (cells[i])
			error = add_bucket(h, limit, cells[i]);
		histogram->values += cells[i];
	}
	histogram->bucket_count = h->bucket_count - histogram->first_bucket;
	histogram->sum = weft__unit_scaled((double)cells[count], scale);
	return error;
}

static int add_row(struct histograms *h, const struct weft__metric_rows *r, uint32_t row,
	uint32_t buffer, const uint64_t *cells)
{
	const struct weft__column column = {&h->list, sizeof(*h->list)};
	const char *given = r->texts[weft__model_metric_rows_top(r, row)].part[1];
	const struct weft__unit unit = weft__unit_base(given, r->rows[row].scale);
	struct weft_histogram histogram = {.buffer = buffer};
	int error = weft__columns_reserve(&column, 1, &h->capacity, h->count + (size_t)1);
	if (!error)
		error = name_it(h, r, row, unit.name, &histogram);
	if (!error)
		error = add_values(h, &r->rows[row], unit.scale, cells, &histogram);
	if (!error)
		h->list[h->count++] = histogram;
	return error;
}

/* ---- Buffers ---- */

/* The cells of all rows, one row after the other, each in so many of them. */
static uint64_t *read_cells(struct weft__metric_rows *r, uint32_t most)
{
	uint64_t *cells = calloc((size_t)r->count * most + 1, sizeof(*cells));
	for (uint32_t cell = 0; cells && cell < most; cell++) {
		weft__model_metric_rows_sum(r, cell);
		for (uint32_t row = 0; row < r->count; row++)
			cells[(size_t)row * most + cell] = r->values[row];
	}
	return cells;
}

static int add_rows(struct histograms *h, struct weft__metric_rows *r, uint32_t buffer)
{
	const uint32_t most = weft__model_metric_rows_most_cells(r);
	uint64_t *cells = read_cells(r, most);
	int error = cells ? 0 : WEFT_ERROR_MEMORY;
	for (uint32_t row = 0; row < r->count && !error; row++)
		if (r->texts[row].part[0] && r->rows[row].kind == WEFT_ABI_METRIC_HISTOGRAM)
			error = add_row(h, r, row, buffer, cells + (size_t)row * most);
	free(cells);
	return error;
}

/* Metrics that are damaged are left out. */
static int add_buffer(struct histograms *h, const struct weft_trace_buffer *of, uint32_t buffer)
{
	const struct weft__side_table *table =
		weft__model_side_table_find(of, WEFT_SIDE_TABLE_METRICS, 8);
	struct weft__metric_rows *r;
	if (!table || table->row_bytes != 8)
		return 0;
	int error = weft__model_metric_rows_check_packed(table->rows, 8 * (size_t)table->count, &r);
	if (error)
		return error == WEFT_ERROR_MEMORY ? error : 0;
	error = add_rows(h, r, buffer);
	free(r);
	return error;
}

int weft__model_histograms_read(const struct weft_trace_description *description,
	struct weft__strings *strings, struct weft_model *model)
{
	struct histograms h = {.strings = strings};
	int error = 0;
	for (uint32_t i = 0; i < description->buffer_count && !error; i++)
		error = add_buffer(&h, &description->buffers[i], i);
	model->histograms = h.list;
	model->histogram_count = h.count;
	model->buckets = h.buckets;
	model->bucket_count = h.bucket_count;
	return error;
}
