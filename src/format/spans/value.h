/* SPDX-License-Identifier: ISC
 *
 * JSON values as OpenTelemetry and Zipkin write them.
 */
#ifndef WEFT_FORMAT_SPANS_VALUE_H
#define WEFT_FORMAT_SPANS_VALUE_H

#include "format/json/json.h"

/* A number without a sign, which may be in quotes. False if it is none. */
bool weft__format_spans_number(const struct weft__json_value *value, uint64_t *ret_number);

/* An id of up to 32 hexadecimal digits, or of 16: words[1] has the last 16 digits. False if it is
 * none. */
bool weft__format_spans_id(const struct weft__json_value *value, uint64_t ret_words[2]);

#endif
