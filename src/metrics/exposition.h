/* SPDX-License-Identifier: ISC
 *
 * Counters in the two text formats that Prometheus reads: its own, version 0.0.4, and OpenMetrics
 * 1.0. No program, not even a hostile one, can make a reader refuse the whole text: series that
 * would not be valid are left out and counted.
 *
 * The sum over all series of a metric is its total (metrics/levels.h).
 */
#ifndef WEFT_METRICS_EXPOSITION_H
#define WEFT_METRICS_EXPOSITION_H

#include "metrics/value.h"

#define WEFT__METRICS_TEXT_TYPE        "text/plain; version=0.0.4; charset=utf-8"
#define WEFT__METRICS_OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Called for each series that is left out. */
typedef void weft__metrics_left_out(const struct weft__metrics_sample *sample, const char *why);

struct weft__metrics_exposition {
	bool is_openmetrics;
	bool counts_left_out; /* in a metric of its own, weft_metrics_left_out */
	size_t depth;         /* labels of a series at most; what lies below is in its value */
	weft__metrics_left_out *left_out; /* or NULL */
};

/* Writes the whole text. `text->error` is set without memory. */
void weft__metrics_expose(const struct weft__metrics_exposition *exposition,
	const struct weft__metrics_sample *samples, size_t count, struct weft_text *text);

/* True if a client's Accept header, or NULL, asks for OpenMetrics rather than for text. */
bool weft__metrics_wants_openmetrics(const char *accept);

#endif
