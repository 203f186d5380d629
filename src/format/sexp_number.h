/* SPDX-License-Identifier: ISC
 *
 * Numbers of the sexp format: exact, never through a double.
 */
#ifndef WEFT_FORMAT_SEXP_NUMBER_H
#define WEFT_FORMAT_SEXP_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/event.h>

/* Decimal seconds ("1413637708.834171", "1e-05") as ns; what is finer is dropped. False if it is
 * no such number, negative, or more than 64 bits hold. */
bool weft__sexp_seconds(struct weft_slice text, uint64_t *ret_ns);

/* False if it is no whole number, or more than 64 bits hold. */
bool weft__sexp_signed(struct weft_slice text, int64_t *ret_number);
bool weft__sexp_unsigned(struct weft_slice text, uint64_t *ret_number);

#endif
