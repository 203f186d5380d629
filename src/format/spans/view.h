/* SPDX-License-Identifier: ISC
 *
 * The members of a span's object, in OTLP's JSON or Zipkin's.
 */
#ifndef WEFT_FORMAT_SPANS_VIEW_H
#define WEFT_FORMAT_SPANS_VIEW_H

#include "format/spans/value.h"

struct weft__span_view {
	uint64_t trace[2], id, parent; /* 0: none */
	uint64_t start_ns, end_ns;     /* end 0: none */
	bool has_start;
	bool is_shared; /* Zipkin: the server's side of a span with the same id */
	bool has_failed;
	struct weft__json_value name, message, kind; /* texts, or of type null */
	struct weft__json_value attributes;          /* OTLP: an array; Zipkin: an object */
	struct weft__json_value events, links;       /* arrays, or of type null */
	struct weft__json_value endpoint;            /* Zipkin's localEndpoint */
};

/* Fills it; what the object does not have is 0 or null. */
void weft__format_spans_view(
	const struct weft__json_value *object, bool is_zipkin, struct weft__span_view *ret_view);

/* An event's time and name. False if it has no time. */
bool weft__format_spans_event(const struct weft__json_value *event, bool is_zipkin,
	uint64_t *ret_ns, struct weft__json_value *ret_name);

/* The span that a link leads to. False if it is none. */
bool weft__format_spans_link(
	const struct weft__json_value *link, uint64_t ret_trace[2], uint64_t *ret_id);

#endif
