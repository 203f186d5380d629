/* SPDX-License-Identifier: ISC
 *
 * Spans as JSON of Zipkin, version 2. A message is a list of them.
 */
#ifndef WEFT_OTLP_ZIPKIN_H
#define WEFT_OTLP_ZIPKIN_H

#include "otlp/span.h"

/* Writes a span, which is an element of the open message's list. */
void weft__otlp_write_zipkin(struct weft__otlp_writer *writer, const struct weft__otlp_plan *plan,
	const struct weft__otlp_span *span);

#endif
