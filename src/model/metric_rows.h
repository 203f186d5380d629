/* SPDX-License-Identifier: ISC
 *
 * The rows of a program's metrics (abi/metric_abi.h), checked, with their sums: in a copy of its
 * memory, or in a trace. They may be damaged: such rows, and those below them, are left out.
 */
#ifndef WEFT_MODEL_METRIC_ROWS_H
#define WEFT_MODEL_METRIC_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "abi/metric_abi.h"

/* The texts of a row. */
struct weft__metric_text {
	const char *part[3];
};

struct weft__metric_rows {
	const struct weft_abi_metric_row *rows;
	const char *text;
	const unsigned char *cells;
	uint64_t born_unix_ns, born_monotonic_ns;
	uint32_t count;
	uint32_t text_bytes, cell_count, shard_count, shard_bytes;
	uint32_t cells_used; /* by all rows */
	/* part[0] is NULL: a row that is left out, as are those below it. */
	struct weft__metric_text texts[WEFT_ABI_METRIC_ROWS];
	/* With those of the rows below. */
	uint64_t values[WEFT_ABI_METRIC_ROWS];
};

/* Checks the rows in a copy of a hosted program's memory, of WEFT_ABI_METRICS_BYTES, or in so many
 * packed bytes, aligned to 8; both stay in use. 0, WEFT_ERROR_MEMORY, or WEFT_ERROR_FORMAT: they
 * are no metrics. The caller frees the rows. */
int weft__model_metric_rows_check(const void *memory, struct weft__metric_rows **ret_rows);
int weft__model_metric_rows_check_packed(
	const void *bytes, size_t size, struct weft__metric_rows **ret_rows);

/* Puts into `values` the cells at a distance from each row's first one, which has the sum of those
 * of all shards and of the rows below it. 0: the row has fewer. */
void weft__model_metric_rows_sum(struct weft__metric_rows *r, uint32_t cell);

/* The rows above a row, and the last one of these, which has the metric's name. */
uint32_t weft__model_metric_rows_depth(const struct weft__metric_rows *r, uint32_t row);
uint32_t weft__model_metric_rows_top(const struct weft__metric_rows *r, uint32_t row);

/* The cells of a row: of a histogram, one for each size, and one for the sum of the values. */
uint32_t weft__model_metric_cells(const struct weft_abi_metric_row *row);

/* The most cells that one row has. */
uint32_t weft__model_metric_rows_most_cells(const struct weft__metric_rows *r);

/* The largest value that a histogram's cell counts, which is not its last one. */
double weft__model_metric_limit(unsigned first_exponent, uint32_t cell);

#endif
