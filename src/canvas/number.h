/* SPDX-License-Identifier: ISC
 *
 * Numbers and colours as pictures write them.
 */
#ifndef WEFT_CANVAS_NUMBER_H
#define WEFT_CANVAS_NUMBER_H

#include <weft/text.h>

/* Two decimals at most, no exponent, never "-0": the same in every locale. */
void weft__add_number(struct weft_text *text, double number);

/* "#1b1f24", without alpha. */
void weft__add_color(struct weft_text *text, uint32_t color);

#endif
