/* SPDX-License-Identifier: ISC
 *
 * JSON values as OpenTelemetry and Zipkin write them.
 */
#ifndef WEFT_FORMAT_SPANS_VALUE_H
#define WEFT_FORMAT_SPANS_VALUE_H

#include "format/chrome/json.h"

/* Reads the next element of an array that weft__format_json_read() has found; *at is 0 at first.
 * False: there are no more. */
bool weft__format_spans_next(
	const struct weft__json_value *array, size_t *at, struct weft__json_value *ret_element);

/* The member with that key; false if there is none. */
bool weft__format_spans_find(
	const struct weft__json_value *object, const char *key, struct weft__json_value *ret_value);

bool weft__format_spans_is(struct weft_slice text, const char *other);

/* A number without a sign, which may be in quotes. False if it is none. */
bool weft__format_spans_number(const struct weft__json_value *value, uint64_t *ret_number);

/* An id of up to 32 hexadecimal digits, or of 16: words[1] has the last 16 digits. False if it is
 * none. */
bool weft__format_spans_id(const struct weft__json_value *value, uint64_t ret_words[2]);

#endif
