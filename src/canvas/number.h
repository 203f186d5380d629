/* SPDX-License-Identifier: ISC
 *
 * Writes numbers and colours in picture files.
 */
#ifndef WEFT_CANVAS_NUMBER_H
#define WEFT_CANVAS_NUMBER_H

#include <weft/text.h>

/* Appends at most two decimals, no exponent, never "-0"; independent of the locale. */
void weft__canvas_add_number(struct weft_text *text, double number);

/* Appends "#1b1f24", without alpha. */
void weft__canvas_add_color(struct weft_text *text, uint32_t color);

#endif
