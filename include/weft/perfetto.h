/* SPDX-License-Identifier: ISC
 *
 * Writes a model as a trace of Perfetto, protobuf, for ui.perfetto.dev and trace_processor.
 *
 * Tasks are slices on asynchronous tracks of their processes, activations are slices of threads,
 * edges are flows, counters are counter tracks. Nothing here does I/O.
 */
#ifndef WEFT_PERFETTO_H
#define WEFT_PERFETTO_H

#include <stddef.h>

#include <weft/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Receives the bytes. */
struct weft_perfetto_sink {
	/* Whole packets. Returns 0, or a negative error, which ends the export. */
	int (*append)(void *context, const void *bytes, size_t size);
	void *context;
};

/* Writes everything. 0, WEFT_ERROR_MEMORY, or an error of the sink. */
int weft_perfetto_write(const struct weft_model *model, const struct weft_perfetto_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
