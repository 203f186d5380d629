/* SPDX-License-Identifier: ISC
 *
 * The metrics that programs had at their end, for OpenTelemetry.
 */
#ifndef WEFT_APPS_EXPORT_OTLP_METRICS_H
#define WEFT_APPS_EXPORT_OTLP_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include <weft/otlp.h>

/* The list refers to all of the rest. */
struct otlp_metrics {
	struct weft_otlp_metric *list;
	size_t count;
	struct otlp_metrics_buffer *buffers;
	size_t buffer_count;
};

/* Reads those of all buffers of a trace whose decoder has ended. False without memory; the caller
 * calls finish in any case. */
bool otlp_metrics_read(const struct weft_trace_description *trace, const struct weft_model *model,
	struct otlp_metrics *ret_metrics);
void otlp_metrics_finish(struct otlp_metrics *metrics);

#endif
