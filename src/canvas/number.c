/* SPDX-License-Identifier: ISC
 *
 * Writes numbers with two decimals: a hundredth of a pixel is invisible, and files stay small.
 */
#include "canvas/number.h"

#include <math.h>

/* Coordinates are limited to this, far outside of any picture. */
#define FARTHEST 1e9

void weft__canvas_add_number(struct weft_text *text, double number)
{
	if (!(number > -FARTHEST))
		number = -FARTHEST; /* also for NaN */
	if (number > FARTHEST)
		number = FARTHEST;
	int64_t hundredths = (int64_t)floor(number * 100 + 0.5);
	if (hundredths < 0) {
		weft_text_add(text, "-", 1);
		hundredths = -hundredths;
	}
	weft_text_add_u64(text, (uint64_t)hundredths / 100);
	unsigned rest = (unsigned)(hundredths % 100);
	char decimals[3] = {'.', (char)('0' + rest / 10), (char)('0' + rest % 10)};
	if (rest)
		weft_text_add(text, decimals, rest % 10 ? 3 : 2);
}

void weft__canvas_add_color(struct weft_text *text, uint32_t color)
{
	char code[7] = {'#'};
	for (unsigned i = 0; i < 6; i++)
		code[1 + i] = "0123456789abcdef"[color >> (28 - 4 * i) & 15];
	weft_text_add(text, code, sizeof(code));
}
