/* SPDX-License-Identifier: ISC
 *
 * Rows of a process's metrics as counters: for lists of levels (metrics.c) and of children
 * (children.c).
 */
#ifndef WEFT_RUNS_METRICS_READING_H
#define WEFT_RUNS_METRICS_READING_H

#include "model/metric_rows.h"
#include "runs/attach/counters.h"

/* Memory that a list needs beside its counters: what is free of it. */
struct weft__metrics_room {
	struct weft__runs_label *labels;
	uint64_t *cells;
	char *texts;
};

/* Checks the rows in a copy of the memory. 0 or an errno; ENOENT: it has none. */
int weft__runs_rows_check(const void *memory, struct weft__metric_rows **ret_rows);

/* The bytes that row_describe() takes for texts. */
size_t weft__runs_row_text_bytes(const struct weft__metric_rows *r, uint32_t row);

/* Fills all of a counter but its values. */
void weft__runs_row_describe(const struct weft__metric_rows *r, uint32_t row,
	struct weft__metrics_room *room, struct weft__runs_counter *counter);

/* Copies a text to *texts, which is moved behind its NUL. */
char *weft__runs_copy_text(char **texts, const char *text);

#endif
