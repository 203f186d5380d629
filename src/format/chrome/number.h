/* SPDX-License-Identifier: ISC
 *
 * Numbers of Chrome's traces. Times are decimal microseconds, mostly with a fraction, and become
 * nanoseconds digit by digit, never through floating point.
 */
#ifndef WEFT_FORMAT_CHROME_NUMBER_H
#define WEFT_FORMAT_CHROME_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/event.h>

/* Times are limited to this, on both sides of zero: far beyond any trace, and sums do not
 * overflow. */
#define WEFT__CHROME_TIME_MAX ((int64_t)1 << 61)

/* Decimal us as ns: fractions of a nanosecond are rounded once. False if it is no number. */
bool weft__format_chrome_time(struct weft_slice text, int64_t *ret_ns);

struct weft__chrome_number {
	bool is_real; /* it has a fraction or an exponent, or is too large for an integer */
	int64_t integer;
	double real;
};

bool weft__format_chrome_number(struct weft_slice text, struct weft__chrome_number *ret_number);
/* Makes the number a counter event's change or value. */
void weft__format_chrome_put_number(
	const struct weft__chrome_number *number, struct weft_event *event);

/* An id: decimal, or hexadecimal behind 0x. False if it is anything else. */
bool weft__format_chrome_id(struct weft_slice text, uint64_t *ret_id);

#endif
