/* SPDX-License-Identifier: ISC
 *
 * The metrics of a process as counters with types and labels (counters.h).
 */
#ifndef WEFT_RUNS_METRICS_H
#define WEFT_RUNS_METRICS_H

#include <sys/types.h>

#include <weft/text.h>

#include "abi/metric_abi.h"
#include "runs/attach/counters.h"

/* The header, rows and texts, behind which the cells are. */
#define WEFT__RUNS_METRICS_HEAD_BYTES                                                              \
	(sizeof(struct weft_abi_metrics) + WEFT_ABI_METRIC_ROWS * sizeof(struct weft_abi_metric_row) + \
		WEFT_ABI_METRIC_TEXT)

/* Copies the metrics in a file to memory of WEFT_ABI_METRICS_BYTES: of the cells, only those that
 * rows use; the others are left as they are. 0 or an errno; ENOENT: the file is too short. */
int weft__runs_metrics_copy(int fd, void *memory);

/* The number of cells of each shard that a copy has, from the first on. */
uint32_t weft__runs_metrics_cells_used(const void *memory);

/* Reads the metrics in a copy of the memory, of WEFT_ABI_METRICS_BYTES, aligned to 64 bytes: the
 * totals of each level, in the order in which they were made. 0 or an errno; ENOENT: it has none.
 * The caller calls weft__runs_counters_finish() if it is 0. */
int weft__runs_metrics_parse(const void *memory, struct weft__runs_counters *ret_counters);

/* The same of a packed copy, aligned to 8 bytes. */
int weft__runs_metrics_parse_packed(
	const void *bytes, size_t size, struct weft__runs_counters *ret_counters);

/* Opens the memory in which a process has its metrics, for reading. -1 with errno; ENOENT: it has
 * none of its own. */
int weft__runs_metrics_open(pid_t pid);

/* The same; the memory may be its parent's, and may say that the metrics are elsewhere. */
int weft__runs_metrics_find(pid_t pid);

/* Packs the metrics in a file, as abi/metric_abi.h says. 0 or an errno; ENOENT: it has none. The
 * caller finishes the text. */
int weft__runs_metrics_pack(int fd, struct weft_text *ret_packed);

/* Reads the children in two copies of their memory, of so many bytes, and one of the metrics'. The
 * labels of each are those of its level, those of the children above it, and its own. As above. */
int weft__runs_children_parse(const void *metrics, const void *first, const void *second,
	size_t bytes, struct weft__runs_counters *ret_counters);

#endif
