/* SPDX-License-Identifier: ISC
 *
 * Numbers of the sexp format: exact, never through a double.
 */
#ifndef WEFT_FORMAT_MIRAGE_SEXP_NUMBER_H
#define WEFT_FORMAT_MIRAGE_SEXP_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/event.h>

/* Converts decimal seconds ("1413637708.834171", "1e-05") to ns; finer digits are dropped. False if
 * the text is not such a number, is negative, or overflows 64 bits. */
bool weft__format_sexp_seconds(struct weft_slice text, uint64_t *ret_ns);

/* The same for the time of an event, which may be negative: it is then in two's complement. False
 * also for times more than nine years before the clock's zero. */
bool weft__format_sexp_time(struct weft_slice text, uint64_t *ret_ns);

/* Convert a whole number. False if the text is not one or overflows 64 bits. */
bool weft__format_sexp_signed(struct weft_slice text, int64_t *ret_number);
bool weft__format_sexp_unsigned(struct weft_slice text, uint64_t *ret_number);

#endif
