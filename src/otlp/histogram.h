/* SPDX-License-Identifier: ISC
 *
 * A histogram's data point.
 */
#ifndef WEFT_OTLP_HISTOGRAM_H
#define WEFT_OTLP_HISTOGRAM_H

#include <stdbool.h>

#include <weft/otlp.h>

#include "otlp/encoder.h"

/* True if OTLP's exponential histogram has the same cells: otherwise it needs explicit bounds. */
bool weft__otlp_is_exponential(const struct weft_otlp_metric *metric);

/* The count, the sum and the cells. */
int weft__otlp_write_exponential(
	struct weft__otlp_encoder *encoder, const struct weft_otlp_metric *metric);
int weft__otlp_write_histogram(
	struct weft__otlp_encoder *encoder, const struct weft_otlp_metric *metric);

#endif
