/* SPDX-License-Identifier: ISC
 *
 * Real numbers as text, with a point in every locale. libc writes and reads the decimal separator
 * of the process's locale, which GTK sets to the user's: JSON, links and pictures must not depend
 * on it.
 */
#ifndef WEFT_BASE_NUMBER_H
#define WEFT_BASE_NUMBER_H

#include <stddef.h>

/* Enough for any double with 8 digits after the point. */
#define WEFT__NUMBER_BYTES 328

/* As printf's "%.*f", with `decimals` digits after the point. Returns `text`. */
const char *weft__number_fixed(double number, int decimals, char text[WEFT__NUMBER_BYTES]);

/* As printf's "%.*g", with up to `digits` significant digits. Returns `text`. */
const char *weft__number_general(double number, int digits, char text[WEFT__NUMBER_BYTES]);

/* The number at the start of `text`, 0 if there is none; `ret_end` is the first character after
 * it. */
double weft__number_parse(const char *text, const char **ret_end);

#endif
