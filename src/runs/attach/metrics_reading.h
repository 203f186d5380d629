/* SPDX-License-Identifier: ISC
 *
 * The rows in a copy of a process's metrics, checked: for lists of levels (metrics.c) and of
 * children (children.c).
 */
#ifndef WEFT_RUNS_METRICS_READING_H
#define WEFT_RUNS_METRICS_READING_H

#include "abi/metric_abi.h"
#include "runs/attach/counters.h"

/* The texts of a row. */
struct weft__metrics_text {
	const char *part[3];
};

struct weft__metrics_reading {
	const struct weft_abi_metric_row *rows;
	const char *text;
	const unsigned char *cells;
	uint64_t born_unix_ns, born_monotonic_ns;
	uint32_t count;
	uint32_t text_bytes, cell_count, shard_count, shard_bytes;
	uint32_t cells_used; /* by all rows */
	/* part[0] is NULL: a row that is left out, as are those below it. */
	struct weft__metrics_text texts[WEFT_ABI_METRIC_ROWS];
	/* With those of the rows below. */
	uint64_t values[WEFT_ABI_METRIC_ROWS];
	uint64_t *own_cells[WEFT_ABI_METRIC_ROWS]; /* in the list, of a histogram */
};

/* Memory that a list needs beside its counters: what is free of it. */
struct weft__metrics_room {
	struct weft__runs_label *labels;
	uint64_t *cells;
	char *texts;
};

/* Reads the memory, or so many packed bytes, which stay in use. 0 or an errno; the caller frees the
 * reading. */
int weft__runs_reading_begin(const void *memory, struct weft__metrics_reading **ret_reading);

uint32_t weft__runs_row_depth(const struct weft__metrics_reading *r, uint32_t row);

/* The bytes that row_describe() takes for texts. */
size_t weft__runs_row_text_bytes(const struct weft__metrics_reading *r, uint32_t row);

/* Fills all of a counter but its values. */
void weft__runs_row_describe(const struct weft__metrics_reading *r, uint32_t row,
	struct weft__metrics_room *room, struct weft__runs_counter *counter);

/* Copies a text to *texts, which is moved behind its NUL. */
char *weft__runs_copy_text(char **texts, const char *text);

#endif
